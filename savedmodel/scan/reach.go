package scan

import (
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/savedmodel"
)

// reach records what causes each node to run, such as a signature.
type reach struct {
	by  map[*graph.Node]string // "signature NAME", "function PATH", "loading" or bySaver
	all string                 // the cause for every node; "" if by has them

	entered map[*graph.Function]bool // functions whose roots were walked from
}

// bySaver is the cause of nodes that only saving and restoring run. Their accesses to files are Notes.
const bySaver = "the saver"

func (r *reach) of(n *graph.Node) string {
	switch {
	case r == nil:
		return ""
	case r.all != "":
		return r.all
	}
	return r.by[n]
}

// reachOf walks from signatures, from the ops that run at loading, from the
// functions of the objects, and from the saver. A node belongs to the first
// walk that reaches it.
func reachOf(g *savedmodel.MetaGraph, gr *graph.Graph) *reach {
	r := &reach{by: map[*graph.Node]string{}, entered: map[*graph.Function]bool{}}
	for _, s := range g.Signatures {
		var fetches []*graph.Node
		feeds := map[graph.Output]bool{}
		for _, t := range plain(s.Inputs) {
			if o, err := gr.Find(t.Tensor); err == nil {
				feeds[o] = true
			}
		}
		for _, t := range plain(s.Outputs) {
			if o, err := gr.Find(t.Tensor); err == nil {
				fetches = append(fetches, o.Node)
			}
		}
		r.walk("signature "+s.Name, fetches, feeds)
	}
	named := func(names ...string) (out []*graph.Node) {
		for _, name := range names {
			if o, err := gr.Find(name); name != "" && err == nil {
				out = append(out, o.Node)
			}
		}
		return out
	}
	if names, err := g.InitOps(); err == nil { // a fault in them keeps the model from loading
		r.walk("loading", named(names...), nil)
	}
	if gr.Library != nil {
		paths := g.Paths()
		for _, o := range g.Objects {
			if o.Function == nil {
				continue
			}
			for _, c := range o.Function.Concrete {
				if f := gr.Library.Lookup(c.Name); f != nil {
					r.walk("function "+paths[o.ID], r.enter(f), nil)
				}
			}
		}
	}
	save, restore := g.SaverOps()
	r.walk(bySaver, named(save, restore), nil)
	return r
}

// enter returns the nodes of a function that its results and its effects need, or none if a walk has begun with them
// already.
func (r *reach) enter(f *graph.Function) []*graph.Node {
	if f == nil || r.entered[f] {
		return nil
	}
	r.entered[f] = true
	var out []*graph.Node
	for _, x := range f.Results {
		out = append(out, x.Output.Node)
	}
	for _, c := range f.Control {
		out = append(out, c.Node)
	}
	return out
}

// walk marks the nodes that these nodes need, up to the fed outputs.
func (r *reach) walk(who string, from []*graph.Node, fed map[graph.Output]bool) {
	stack := slices.Clone(from)
	seen := map[*graph.Node]bool{}
	push := func(f *graph.Function) { stack = append(stack, r.enter(f)...) }
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n == nil || seen[n] || r.by[n] != "" {
			continue
		}
		seen[n] = true
		r.by[n] = who
		for _, in := range n.In {
			if !fed[in] {
				stack = append(stack, in.Node)
			}
		}
		stack = append(stack, n.Control...)
		for _, a := range n.Attrs {
			switch v := a.Value().(type) {
			case graph.Callee:
				push(v.Function)
			case []graph.Callee:
				for _, c := range v {
					push(c.Function)
				}
			}
		}
		if lib := n.Graph().Library; lib != nil {
			push(lib.Lookup(n.Op))
		}
	}
}

// plain lists the tensors of a signature, composites taken apart.
func plain(list []savedmodel.TensorInfo) []savedmodel.TensorInfo {
	var out []savedmodel.TensorInfo
	for _, t := range list {
		if t.Parts != nil {
			out = append(out, plain(t.Parts)...)
			continue
		}
		out = append(out, t)
	}
	return out
}

// callGraph records which function calls which, by name.
type callGraph struct {
	names []string            // of all functions, in the file's order
	out   map[string][]string // the functions that each calls
}

func (c *callGraph) add(f *graph.Function) {
	if c.out == nil {
		c.out = map[string][]string{}
	}
	c.names = append(c.names, f.Name)
	var called []string
	for _, x := range f.Graph.Callees() {
		called = append(called, x.Name)
	}
	c.out[f.Name] = called
}

// loops returns a way around each ring of calls, without recursion: a file may
// chain a million functions.
func (c *callGraph) loops() [][]string {
	const fresh, open, done = 0, 1, 2
	state := map[string]int{}
	at := map[string]int{} // the indices of open functions on the stack
	var out [][]string
	for _, root := range c.names {
		if state[root] != fresh {
			continue
		}
		type frame struct {
			name string
			next int
		}
		stack := []frame{{name: root}}
		state[root], at[root] = open, 0
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			list := c.out[top.name]
			if top.next == len(list) {
				state[top.name] = done
				stack = stack[:len(stack)-1]
				continue
			}
			to := list[top.next]
			top.next++
			switch state[to] {
			case fresh:
				state[to], at[to] = open, len(stack)
				stack = append(stack, frame{name: to})
			case open:
				const shown = 8
				var loop []string
				way := stack[at[to]:]
				for _, f := range way[:min(len(way), shown)] {
					loop = append(loop, f.name)
				}
				if len(way) > shown {
					loop = append(loop, "…")
				}
				out = append(out, append(loop, to))
			}
		}
	}
	return out
}

// dataCycle returns some nodes that need each other, besides the loops of
// TensorFlow 1, which go through NextIteration.
func dataCycle(nodes []*graph.Node) []string {
	pending := map[*graph.Node]int{}
	users := map[*graph.Node][]*graph.Node{}
	count := func(n, from *graph.Node) {
		if from.Op == "NextIteration" || from.Op == "RefNextIteration" {
			return
		}
		pending[n]++
		users[from] = append(users[from], n)
	}
	var ready []*graph.Node
	for _, n := range nodes {
		for _, in := range n.In {
			count(n, in.Node)
		}
		for _, c := range n.Control {
			count(n, c)
		}
		if pending[n] == 0 {
			ready = append(ready, n)
		}
	}
	done := 0
	for ; len(ready) > 0; done++ {
		n := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, u := range users[n] {
			if pending[u]--; pending[u] == 0 {
				ready = append(ready, u)
			}
		}
	}
	if done == len(nodes) {
		return nil
	}
	// A node that waits for one in a cycle waits forever too: ring follows the
	// inputs to the cycle.
	at := slices.IndexFunc(nodes, func(n *graph.Node) bool { return pending[n] > 0 })
	return ring(nodes[at], pending)
}

// ring goes from a node that waits to one it waits for, until one comes again.
func ring(n *graph.Node, pending map[*graph.Node]int) []string {
	seen := map[*graph.Node]int{}
	var way []*graph.Node
	for {
		if i, again := seen[n]; again {
			var names []string
			for _, x := range way[i:] {
				if names = append(names, x.Name); len(names) == 8 {
					break
				}
			}
			return names
		}
		seen[n] = len(way)
		way = append(way, n)
		next := n
		for _, in := range n.In {
			if pending[in.Node] > 0 {
				next = in.Node
				break
			}
		}
		if next == n {
			for _, c := range n.Control {
				if pending[c] > 0 {
					next = c
					break
				}
			}
		}
		n = next
	}
}
