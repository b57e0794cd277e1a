package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// DefaultPasses returns the passes that plans are compiled with, in their
// order. None changes a bit of a result.
func DefaultPasses() []Pass {
	return []Pass{
		{Name: "inlining", Run: inlineCalls},
		{Name: "identity chains", Run: skipIdentities},
		{Name: "constant folding", Run: foldConstants},
		{Name: "no-ops", Run: skipNoOps},
		{Name: "common subexpressions", Run: shareEqual},
		{Name: "variable updates", Run: fuseUpdates},
		{Name: "convolutions", Run: fuseConvolutions},
		{Name: "elementwise chains", Run: fuseChains},
	}
}

// inlineCalls puts the bodies of called functions in the place of the calls, so
// that the other passes see through them.
func inlineCalls(u *Unit) error {
	f, err := u.Function.Inline(&graph.InlineOptions{Stays: hasBranches})
	if err != nil || f == u.Function {
		return err
	}
	u.Function = f
	return u.Options.Shapes.InferFunction(f)
}

// rewire makes every input and result of f what replaced says it is now.
func rewire(f *graph.Function, replaced map[graph.Output]graph.Output) {
	if len(replaced) == 0 {
		return
	}
	last := func(o graph.Output) graph.Output {
		end := o
		for next, ok := replaced[end]; ok; next, ok = replaced[end] {
			end = next
		}
		for o != end { // the way is short for who comes next
			o, replaced[o] = replaced[o], end
		}
		return end
	}
	for _, n := range f.Graph.Nodes() {
		for i, in := range n.In {
			n.In[i] = last(in)
		}
	}
	for i, r := range f.Results {
		f.Results[i].Output = last(r.Output)
	}
}

// free reports whether n may be left out, shared or computed beforehand: it has
// no effect, waits for nothing, and handles no references.
func free(n *graph.Node) bool {
	if n.IsArg() || len(n.Control) > 0 || len(n.Out) == 0 || !n.Effect().Pure() {
		return false
	}
	switch n.Op {
	case "Placeholder", "PlaceholderV2":
		return false
	}
	for _, o := range n.Out {
		if o.Ref || o.DType == tensor.Resource {
			return false
		}
	}
	for _, in := range n.In {
		if in.Fact().Ref {
			return false
		}
	}
	return true
}

// skipIdentities lets the users of an Identity take what it passes on.
func skipIdentities(u *Unit) error {
	replaced := map[graph.Output]graph.Output{}
	for _, n := range u.Function.Graph.Nodes() {
		switch n.Op {
		case "Identity", "StopGradient", "PreventGradient", "Snapshot", "IdentityN":
		default:
			continue
		}
		if !free(n) || len(n.In) != len(n.Out) {
			continue
		}
		for i, in := range n.In {
			replaced[n.Output(i)] = in
		}
	}
	rewire(u.Function, replaced)
	return nil
}

const (
	maxFolded = 1 << 16 // most bytes of a constant that folding makes
	maxFolds  = 1 << 14 // most nodes that one function's folding runs
)

// foldConstants computes what depends on constants alone, where the results are
// small. What fails is left to fail when it runs.
func foldConstants(u *Unit) error {
	f := u.Function
	values := map[graph.Output]*tensor.Tensor{}
	replaced := map[graph.Output]graph.Output{}
	env := &Env{MaxOutput: maxFolded}
	var call Call
	for _, n := range slices.Clone(f.Graph.Nodes()) {
		if v, ok := constantOf(n); ok {
			values[n.Output(0)] = v
			continue
		}
		if len(values) > maxFolds || !free(n) || !isData(n.Out) {
			continue
		}
		for i, in := range n.In {
			if o, ok := replaced[in]; ok {
				n.In[i] = o
			}
		}
		results := known(n)
		if results == nil {
			results = compute(&call, env, u, n, values)
		}
		if len(results) == 1 { // in its place, so that the order of the nodes stays
			n.Op, n.In, n.Def = "Const", nil, graph.LookupOp("Const")
			n.Attrs, n.Out = constAttrs(results[0]), []graph.Fact{graph.FactOf(results[0])}
			values[n.Output(0)] = results[0]
			continue
		}
		for i, t := range results {
			c := &graph.Node{
				Name: f.Graph.UniqueName(n.Name + "/folded"), Op: "Const", Def: graph.LookupOp("Const"), Site: n.Site,
				Attrs: constAttrs(t), Out: []graph.Fact{graph.FactOf(t)},
			}
			if err := f.Graph.Add(c); err != nil {
				return err
			}
			values[n.Output(i)], values[c.Output(0)] = t, t
			replaced[n.Output(i)] = c.Output(0)
		}
	}
	rewire(f, replaced)
	return nil
}

func constAttrs(t *tensor.Tensor) graph.Attrs {
	return graph.Attrs{graph.Tensor("value", t), graph.Type("dtype", t.DType())}
}

func isData(facts []graph.Fact) bool {
	return !slices.ContainsFunc(facts, func(f graph.Fact) bool { return f.DType == tensor.Variant || f.DType == tensor.Resource })
}

// known returns the outputs of n, where inference knows them all.
func known(n *graph.Node) []*tensor.Tensor {
	var out []*tensor.Tensor
	for _, f := range n.Out {
		if f.Value == nil || f.Value.NumBytes() > maxFolded {
			return nil
		}
		out = append(out, f.Value)
	}
	return out
}

// compute runs n on constant inputs; nil where it can't.
func compute(c *Call, env *Env, u *Unit, n *graph.Node, values map[graph.Output]*tensor.Tensor) []*tensor.Tensor {
	k := u.Options.Kernels.Lookup(n.Op)
	if k == nil || callsFunctions(n) || n.Def == nil {
		return nil
	}
	node := &Node{Op: n.Op, Name: n.Name, Attrs: n.Attrs, Out: n.Out}
	c.Begin(context.Background(), env)
	for _, in := range n.In {
		v, ok := values[in]
		if !ok {
			return nil
		}
		node.In = append(node.In, in.Fact())
		c.Add(ValueOf(v))
	}
	p, err := k.prepare(node)
	if err != nil || c.Run(p) != nil || len(c.out) != len(n.Out) {
		return nil
	}
	var out []*tensor.Tensor
	for _, v := range c.out {
		if v.Tensor == nil || v.Tensor.NumBytes() > maxFolded {
			return nil
		}
		out = append(out, v.Tensor)
	}
	return out
}

func callsFunctions(n *graph.Node) bool {
	return slices.ContainsFunc(n.Attrs, func(a graph.Attr) bool { return a.Kind == graph.AttrFunc || a.Kind == graph.AttrFuncs })
}

// shareEqual lets nodes that compute the same be one: the same op, attributes
// and inputs, without effects.
func shareEqual(u *Unit) error {
	first := map[string][]*graph.Node{}
	replaced := map[graph.Output]graph.Output{}
	for _, n := range u.Function.Graph.Nodes() {
		for i, in := range n.In {
			if o, ok := replaced[in]; ok {
				n.In[i] = o
			}
		}
		if !free(n) || callsFunctions(n) {
			continue
		}
		var key strings.Builder
		key.WriteString(n.Op)
		for _, in := range n.In {
			key.WriteByte(' ')
			key.WriteString(in.String())
		}
		if v, ok := constantOf(n); ok {
			if v.Len() > 16 || !v.DType().Fixed() {
				continue // large ones are rarely the same
			}
			fmt.Fprint(&key, v.DType(), v.Shape())
			key.Write(v.Bytes())
		}
		at := key.String()
		if k := slices.IndexFunc(first[at], func(o *graph.Node) bool { return slices.EqualFunc(o.Attrs, n.Attrs, graph.Attr.Equal) }); k >= 0 {
			for i := range n.Out {
				replaced[n.Output(i)] = first[at][k].Output(i)
			}
			continue
		}
		first[at] = append(first[at], n)
	}
	rewire(u.Function, replaced)
	return nil
}
