package passes

import (
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// turnSequences changes the layouts of recurrences to those of the values
// before and after them, and removes the transpositions and reversals between.
func turnSequences(u *Unit) error {
	r, err := newRewriter(u)
	if err != nil || !r.has(LSTMOp, GRUOp) {
		return err
	}
	replaced := map[graph.Output]graph.Output{}
	for _, n := range r.nodes {
		if n.Op != LSTMOp && n.Op != GRUOp || len(n.Attrs.Strings("layouts")) != 2 || len(n.Attrs.Bools("backwards")) != 2 {
			continue
		}
		layouts, backwards := slices.Clone(n.Attrs.Strings("layouts")), slices.Clone(n.Attrs.Bools("backwards"))
		in, x := slices.Clone(n.In), n.In[0]
		for turns(x.Node, &layouts[0], &backwards[0]) {
			x = x.Node.In[0]
		}
		end := n.Output(0)
		for {
			next := r.only(end)
			if next == nil || r.pinned[next] || next.In[0] != end || !turns(next, &layouts[1], &backwards[1]) {
				break
			}
			end = next.Output(0)
		}
		if x == in[0] && end.Node == n {
			continue
		}
		in[0] = x
		attrs := withoutTypes(n.Attrs).Set(graph.Strings("layouts", layouts...)).Set(graph.Bools("backwards", backwards...))
		if err := r.replace(n, n.Op, attrs, in...); err != nil {
			return err
		}
		if end.Node != n {
			replaced[end] = n.Output(0)
		}
	}
	rewire(r.Function, replaced)
	return r.finish()
}

// turns reports whether n changes nothing of a sequence but the layout or the direction,
// and changes these.
func turns(n *graph.Node, layout *string, backwards *bool) bool {
	if !removable(n) || len(n.Out) != 1 || n.Out[0].DType != tensor.Float32 {
		return false
	}
	switch n.Op {
	case "Transpose":
		order, ok := permutation(n)
		if !ok || !slices.Equal(order, []int64{1, 0, 2}) {
			return false
		}
		if *layout == "tbw" {
			*layout = "btw"
		} else {
			*layout = "tbw"
		}
		return true
	case "ReverseV2":
		axes, ok := n.In[1].Fact().Ints()
		if !ok || len(axes) != 1 {
			return false
		}
		axis, ok := axes[0].Int()
		if axis < 0 {
			axis += 3
		}
		if !ok || axis > 1 || (*layout)[axis] != 't' {
			return false
		}
		*backwards = !*backwards
		return true
	}
	return false
}
