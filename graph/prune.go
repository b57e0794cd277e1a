package graph

import (
	"container/heap"
	"fmt"
	"strings"
)

// Prune returns the part of g that computes fetches from feeds and runs
// targets, as a function. Its arguments replace the feeds, which may be outputs
// of any nodes. Its results are the fetches, its control results the targets. g
// is not changed, and the nodes of the function are copies that keep their
// names. A feed that is also a fetch passes through.
//
// A cycle that no feed breaks is an error that names its nodes.
func Prune(g *Graph, feeds, fetches []Output, targets []*Node) (*Function, error) {
	fn := NewFunction("pruned")
	fn.Graph.Library, fn.Graph.Versions = g.Library, g.Versions
	args := map[Output]Output{}
	for i, f := range feeds {
		if err := check(g, f.Node, f.Index); err != nil {
			return nil, fmt.Errorf("feed %d: %w", i, err)
		}
		if _, twice := args[f]; twice {
			return nil, fmt.Errorf("feed %d: %v is fed twice", i, f)
		}
		fact := f.Fact().WithoutValue()
		fact.Ref = false
		name := strings.ReplaceAll(f.String(), ":", "_") + "/feed"
		arg, err := fn.AddArg(fn.Graph.UniqueName(name), fact)
		if err != nil {
			return nil, err
		}
		args[f] = arg
	}
	roots := append([]*Node(nil), targets...)
	for i, f := range fetches {
		if err := check(g, f.Node, f.Index); err != nil {
			return nil, fmt.Errorf("fetch %d: %w", i, err)
		}
		if _, fed := args[f]; !fed {
			roots = append(roots, f.Node)
		}
	}
	for i, n := range targets {
		if err := check(g, n, 0); err != nil {
			return nil, fmt.Errorf("target %d: %w", i, err)
		}
	}
	nodes, err := orderOf(roots, func(o Output) bool { _, fed := args[o]; return fed })
	if err != nil {
		return nil, err
	}
	copies := make(map[*Node]*Node, len(nodes))
	for _, n := range nodes {
		c := n.clone()
		for i, in := range n.In {
			if arg, fed := args[in]; fed {
				c.In[i] = arg
			} else {
				c.In[i] = Output{copies[in.Node], in.Index}
			}
		}
		for _, ctl := range n.Control {
			if k := copies[ctl]; k != nil {
				c.Control = append(c.Control, k)
			}
		}
		if err := fn.Graph.Add(c); err != nil {
			return nil, err
		}
		copies[n] = c
	}
	for _, f := range fetches {
		out, fed := args[f]
		if !fed {
			out = Output{copies[f.Node], f.Index}
		}
		fn.AddResult(f.String(), out)
	}
	for _, n := range targets {
		fn.Control = append(fn.Control, ControlResult{n.Name, copies[n]})
	}
	return fn, nil
}

func check(g *Graph, n *Node, index int) error {
	switch {
	case n == nil:
		return fmt.Errorf("the node is nil")
	case n.graph != g:
		return fmt.Errorf("node %q is not in the graph", n.Name)
	case index < 0 || n.Out != nil && index >= len(n.Out):
		return fmt.Errorf("node %q (%s) has no output %d", n.Name, n.Op, index)
	}
	return nil
}

// Clone returns a copy of the function that shares no node with it. Nodes that
// no result and no control result needs are left out, but arguments are kept.
func (fn *Function) Clone() (*Function, error) {
	out := NewFunction(fn.Name)
	out.Graph.Library, out.Graph.Versions, out.Graph.effects = fn.Graph.Library, fn.Graph.Versions, fn.Graph.effects
	out.Attrs, out.ArgAttrs, out.Extra = fn.Attrs, fn.ArgAttrs, fn.Extra
	copies := make(map[*Node]*Node, fn.Graph.Len())
	add := func(n *Node) error {
		c := n.clone()
		for i, in := range n.In {
			c.In[i] = Output{copies[in.Node], in.Index}
		}
		for _, ctl := range n.Control {
			c.Control = append(c.Control, copies[ctl])
		}
		copies[n] = c
		return out.Graph.Add(c)
	}
	for _, a := range fn.Args {
		if err := add(a); err != nil {
			return nil, err
		}
		out.Args = append(out.Args, copies[a])
	}
	var roots []*Node
	for _, r := range fn.Results {
		roots = append(roots, r.Output.Node)
	}
	for _, c := range fn.Control {
		roots = append(roots, c.Node)
	}
	nodes, err := orderOf(roots, func(Output) bool { return false })
	if err != nil {
		return nil, fmt.Errorf("function %s: %w", fn.Name, err)
	}
	for _, n := range nodes {
		if copies[n] != nil {
			continue
		}
		if err := add(n); err != nil {
			return nil, err
		}
	}
	for _, r := range fn.Results {
		out.Results = append(out.Results, Result{r.Name, Output{copies[r.Output.Node], r.Output.Index}})
	}
	for _, c := range fn.Control {
		out.Control = append(out.Control, ControlResult{c.Name, copies[c.Node]})
	}
	return out, nil
}

// orderOf returns the nodes that roots need, each after its inputs, and
// otherwise in the order of the graph, so that stateful ops stay in program
// order. fed reports whether an output is fed instead of computed.
func orderOf(roots []*Node, fed func(Output) bool) ([]*Node, error) {
	pending := map[*Node]int{}   // inputs that are not ordered yet
	users := map[*Node][]*Node{} // the nodes that come after it
	stack := append([]*Node(nil), roots...)
	var all []*Node
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n == nil {
			return nil, fmt.Errorf("graph: an input leads to no node")
		}
		if _, seen := pending[n]; seen {
			continue
		}
		pending[n] = 0
		all = append(all, n)
		need := func(m *Node) {
			pending[n]++
			users[m] = append(users[m], n)
			stack = append(stack, m)
		}
		for _, in := range n.In {
			if !fed(in) {
				need(in.Node)
			}
		}
		for _, c := range n.Control {
			if !fed(Output{c, 0}) || !isPlaceholder(c) { // the value of a fed placeholder is available from the beginning
				need(c)
			}
		}
	}
	var ready nodeHeap
	for _, n := range all {
		if pending[n] == 0 {
			ready = append(ready, n)
		}
	}
	heap.Init(&ready)
	out := make([]*Node, 0, len(all))
	for len(ready) > 0 {
		n := heap.Pop(&ready).(*Node)
		out = append(out, n)
		for _, u := range users[n] {
			if pending[u]--; pending[u] == 0 {
				heap.Push(&ready, u)
			}
		}
	}
	if len(out) < len(all) {
		return nil, cycleOf(all, pending)
	}
	return out, nil
}

func isPlaceholder(n *Node) bool { return n.Op == "Placeholder" || n.Op == "PlaceholderV2" }

// CycleError lists nodes that depend on each other.
type CycleError struct{ Nodes []string }

// Error names the nodes.
func (e *CycleError) Error() string {
	return "graph: these nodes need each other: " + strings.Join(e.Nodes, ", ")
}

func cycleOf(all []*Node, pending map[*Node]int) error {
	e := &CycleError{}
	for _, n := range all {
		if pending[n] > 0 {
			if e.Nodes = append(e.Nodes, n.Name); len(e.Nodes) == 8 {
				break
			}
		}
	}
	return e
}

// nodeHeap is a heap whose first node is the earliest in the graph.
type nodeHeap []*Node

func (h nodeHeap) Len() int           { return len(h) }
func (h nodeHeap) Less(i, j int) bool { return h[i].index < h[j].index }
func (h nodeHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *nodeHeap) Push(x any)        { *h = append(*h, x.(*Node)) }
func (h *nodeHeap) Pop() any {
	old := *h
	n := old[len(old)-1]
	*h = old[:len(old)-1]
	return n
}
