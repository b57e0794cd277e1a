package run

import "github.com/cairnml/cairn/graph"

// unsupported.go checks by these functions that all ops of a call have kernels, before the call is
// compiled.

// part is the nodes of a function that run when it is called.
type part struct {
	function *graph.Function
	nodes    []*graph.Node
}

// reach lists the nodes that run if f is called: its own nodes that results or
// control results need, then those of the functions that these call, each once.
func reach(f *graph.Function) []part {
	seen := map[*graph.Function]bool{f: true}
	var out []part
	for queue := []*graph.Function{f}; len(queue) > 0; queue = queue[1:] {
		p := part{queue[0], live(queue[0])}
		out = append(out, p)
		call := func(c graph.Callee) {
			if c.Function != nil && !seen[c.Function] {
				seen[c.Function] = true
				queue = append(queue, c.Function)
			}
		}
		for _, n := range p.nodes {
			for _, a := range n.Attrs {
				switch v := a.Value().(type) {
				case graph.Callee:
					call(v)
				case []graph.Callee:
					for _, c := range v {
						call(c)
					}
				}
			}
			call(graph.Callee{Function: p.function.Graph.Library.Lookup(n.Op)})
		}
	}
	return out
}

// live lists the nodes of f that results or control results need, in the order
// of the graph.
func live(f *graph.Function) []*graph.Node {
	seen := map[*graph.Node]bool{}
	var stack []*graph.Node
	for _, r := range f.Results {
		stack = append(stack, r.Output.Node)
	}
	for _, c := range f.Control {
		stack = append(stack, c.Node)
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n == nil || seen[n] {
			continue
		}
		seen[n] = true
		for _, in := range n.In {
			stack = append(stack, in.Node)
		}
		stack = append(stack, n.Control...)
	}
	var out []*graph.Node
	for _, n := range f.Graph.Nodes() {
		if seen[n] && !n.IsArg() {
			out = append(out, n)
		}
	}
	return out
}
