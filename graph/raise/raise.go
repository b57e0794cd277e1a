// Package raise turns the control flow of TensorFlow 1 (Switch, Merge, Enter,
// Exit, NextIteration, LoopCond) into calls of functions: If and While.
//
// Loops are raised first, the innermost frames before those around them.
// Conditionals follow in the order of the graph, in the graph itself and in the
// functions that the loops have become. Control flow in another form than that
// of TensorFlow's cond and while_loop stays as it is, and the result has the
// reason.
package raise

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
)

// Problems has the reasons why nodes could not be raised, by the nodes' names.
type Problems map[string]error

// Needed reports whether a graph, or a function of its library, contains
// control flow of TensorFlow 1.
func Needed(g *graph.Graph) bool {
	if has(g) {
		return true
	}
	for _, f := range g.Library.Functions() {
		if has(f.Graph) {
			return true
		}
	}
	return false
}

func has(g *graph.Graph) bool {
	for _, n := range g.Nodes() {
		if Is(n.Op) {
			return true
		}
	}
	return false
}

// Is reports whether an op belongs to the control flow of TensorFlow 1.
func Is(op string) bool { return kindOf(op) != "" || op == trigger }

// trigger is the op that runs once all nodes that it waits for ran or turned out
// not to: those in branches that aren't taken.
const trigger = "ControlTrigger"

// kindOf returns the op without the prefix of those over references; "" for
// others.
func kindOf(op string) string {
	switch op {
	case "Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond":
		return op
	case "RefSwitch", "RefMerge", "RefEnter", "RefExit", "RefNextIteration":
		return op[len("Ref"):]
	}
	return ""
}

// IsLoop reports whether an op is one of TensorFlow 1's loops, which run only
// if they could be raised. Its other control flow can run as it is.
func IsLoop(op string) bool {
	return Is(op) && kindOf(op) != "Switch" && kindOf(op) != "Merge" && op != trigger
}

// Functions raises the control flow of the functions of g's library, in place, and leaves g
// as it is.
func Functions(g *graph.Graph) Problems {
	problems := Problems{}
	for _, f := range g.Library.Functions() {
		if has(f.Graph) {
			raiseIn(f, problems)
		}
	}
	return problems
}

// Graph raises the control flow of g and of its library's functions, in place.
func Graph(g *graph.Graph) Problems {
	problems := Functions(g)
	if has(g) {
		raise(g, problems, "", nil)
	}
	return problems
}

// raiseIn raises the control flow of a function.
func raiseIn(f *graph.Function, problems Problems) {
	var roots []*graph.Output
	for i := range f.Results {
		roots = append(roots, &f.Results[i].Output)
	}
	r := raise(f.Graph, problems, f.Name+"/", roots)
	for i, c := range f.Control {
		f.Control[i].Node = r.node(c.Node)
	}
}

// raiser raises the control flow of one graph.
type raiser struct {
	g        *graph.Graph
	problems Problems
	prefix   string // of names in problems

	out   map[graph.Output]graph.Output // replacements of outputs
	nodes map[*graph.Node]*graph.Node   // replacements of nodes that others wait for
	moved map[*graph.Node]bool          // ControlTriggers that are part of a function now
}

// raise raises the control flow of g. It sets each of roots, outputs that the
// caller holds, to its replacement.
func raise(g *graph.Graph, problems Problems, prefix string, roots []*graph.Output) *raiser {
	r := &raiser{g: g, problems: problems, prefix: prefix, out: map[graph.Output]graph.Output{}, nodes: map[*graph.Node]*graph.Node{}, moved: map[*graph.Node]bool{}}
	r.settle()
	r.rewire(roots)
	r.loops()
	r.rewire(roots)
	r.conds()
	r.rewire(roots)
	for _, n := range g.Nodes() {
		if n.Op == trigger {
			n.Op, n.Def = "NoOp", graph.LookupOp("NoOp")
		}
	}
	return r
}

// current returns the present replacement of an output.
func (r *raiser) current(o graph.Output) graph.Output {
	for {
		next, ok := r.out[o]
		if !ok {
			return o
		}
		o = next
	}
}

func (r *raiser) node(n *graph.Node) *graph.Node {
	for {
		next, ok := r.nodes[n]
		if !ok {
			return n
		}
		n = next
	}
}

// rewire sets all inputs to their replacements.
func (r *raiser) rewire(roots []*graph.Output) {
	if len(r.out)+len(r.nodes) == 0 {
		return
	}
	for _, n := range r.g.Nodes() {
		for i, in := range n.In {
			n.In[i] = r.current(in)
		}
		for i, c := range n.Control {
			n.Control[i] = r.node(c)
		}
	}
	for _, o := range roots {
		*o = r.current(*o)
	}
}

func (r *raiser) problem(n *graph.Node, format string, args ...any) {
	if r.problems == nil {
		return
	}
	if r.problems[r.prefix+n.Name] == nil {
		r.problems[r.prefix+n.Name] = fmt.Errorf(format, args...)
	}
}

// order lists the nodes, each after its inputs. Edges back to the beginning of
// a loop don't count. Nodes on other cycles are left out.
func (r *raiser) order() []*graph.Node {
	nodes := r.g.Nodes()
	pending := make([]int, len(nodes))
	users := make([][]int32, len(nodes))
	for i, n := range nodes {
		need := func(m *graph.Node) {
			if kindOf(m.Op) == "NextIteration" && kindOf(n.Op) == "Merge" {
				return
			}
			pending[i]++
			users[m.Index()] = append(users[m.Index()], int32(i))
		}
		for _, in := range n.In {
			need(in.Node)
		}
		for _, c := range n.Control {
			need(c)
		}
	}
	out := make([]*graph.Node, 0, len(nodes))
	for i := range nodes {
		if pending[i] == 0 {
			out = append(out, nodes[i])
		}
	}
	for at := 0; at < len(out); at++ {
		for _, u := range users[out[at].Index()] {
			if pending[u]--; pending[u] == 0 {
				out = append(out, nodes[u])
			}
		}
	}
	return out
}

// become makes n another op.
func become(n *graph.Node, op string, attrs graph.Attrs, in ...graph.Output) {
	n.Op, n.Def, n.Attrs, n.In, n.Control = op, graph.LookupOp(op), attrs, in, nil
	for i := range n.Out {
		n.Out[i].Ref = false
	}
}
