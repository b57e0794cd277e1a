package passes

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// rewire replaces the inputs of all nodes and the results of f by the values in
// the map. A replacement may itself be replaced.
func rewire(f *graph.Function, replaced map[graph.Output]graph.Output) {
	if len(replaced) == 0 {
		return
	}
	last := func(o graph.Output) graph.Output {
		end := o
		for next, ok := replaced[end]; ok; next, ok = replaced[end] {
			end = next
		}
		for o != end { // shortens the chain for later lookups
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

// removable reports whether a pass may remove n, share it or compute it in advance:
// n is pure, waits for no other node, and uses no references.
func removable(n *graph.Node) bool {
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
