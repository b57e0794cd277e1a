package passes

import (
	"slices"

	"github.com/cairnml/cairn/engine/internal/analysis"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

const (
	maxFolded = 1 << 16  // bytes of the largest constant that folding creates
	maxFolds  = 1 << 14  // constants of a function, found and made, after which folding stops
	maxTries  = 1 << 14  // nodes that are computed or fail, after which folding stops
	maxMade   = 16 << 20 // bytes of the constants that are computed, after which folding stops
)

// foldConstants computes nodes whose inputs are constants, if their outputs are
// small. A node that fails here stays, and fails when the function runs.
func foldConstants(u *Unit) error {
	f := u.Function
	values := map[graph.Output]*tensor.Tensor{}
	replaced := map[graph.Output]graph.Output{}
	tries, made := 0, int64(0)
	for _, n := range slices.Clone(f.Graph.Nodes()) {
		if v, ok := analysis.ConstantOf(n); ok {
			values[n.Output(0)] = v
			continue
		}
		if len(values) > maxFolds || tries > maxTries || made > maxMade || !removable(n) || !isData(n.Out) {
			continue
		}
		for i, in := range n.In {
			if o, ok := replaced[in]; ok {
				n.In[i] = o
			}
		}
		results := known(n)
		if results == nil {
			in := constants(n, values)
			if in == nil {
				continue
			}
			tries++
			results = evaluate(u, n, in)
			for _, t := range results {
				made += int64(t.NumBytes())
			}
		}
		if len(results) == 1 { // rewritten in place, which keeps the order of the nodes
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

// known returns the outputs of n if shape inference knows all of them.
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

// constants returns the inputs of n if it can be computed and all are constants;
// otherwise nil.
func constants(n *graph.Node, values map[graph.Output]*tensor.Tensor) []*tensor.Tensor {
	if analysis.CallsFunctions(n) || n.Def == nil {
		return nil
	}
	in := make([]*tensor.Tensor, len(n.In))
	for i, o := range n.In {
		v, ok := values[o]
		if !ok {
			return nil
		}
		in[i] = v
	}
	return in
}

// evaluate returns the outputs of n if it succeeds and they are small; otherwise nil.
func evaluate(u *Unit, n *graph.Node, in []*tensor.Tensor) []*tensor.Tensor {
	out := u.Kernels.Evaluate(n, in, maxFolded)
	if slices.ContainsFunc(out, func(t *tensor.Tensor) bool { return t.NumBytes() > maxFolded }) {
		return nil
	}
	return out
}
