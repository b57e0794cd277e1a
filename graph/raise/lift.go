package raise

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/graph"
)

// lift moves parts of a graph into functions that take the same inputs.
type lift struct {
	r *raiser
	// inside reports whether a node belongs to the part.
	inside func(*graph.Node) bool
	// inputs are the outer values that the functions take.
	inputs   []graph.Output
	at       map[graph.Output]int // the place of each in inputs
	conds    bool                 // whether conditionals in the part are raised later
	controls []*graph.Node        // outer nodes that nodes inside wait for
	waits    map[*graph.Node]bool // those in controls
}

func (r *raiser) newLift(inside func(*graph.Node) bool) *lift {
	return &lift{r: r, inside: inside, at: map[graph.Output]int{}, waits: map[*graph.Node]bool{}}
}

// input returns the place of an outer value among the inputs.
func (l *lift) input(o graph.Output) int {
	i, ok := l.at[o]
	if !ok {
		i = len(l.inputs)
		l.inputs = append(l.inputs, o)
		l.at[o] = i
	}
	return i
}

func (l *lift) wait(n *graph.Node) {
	if !l.waits[n] {
		l.waits[n] = true
		l.controls = append(l.controls, n)
	}
}

// copied reports whether a node is copied into every function that uses it.
// That is a constant, or a variable, because its name identifies it.
func copied(n *graph.Node) bool {
	if len(n.In)+len(n.Control) > 0 {
		return false
	}
	switch n.Op {
	case "Const", "VariableV2", "Variable":
		return true
	}
	return false
}

// body contains the parts of one function.
type body struct {
	nodes   []*graph.Node
	results []graph.Output
	effects []*graph.Node // those that run although no result needs them
	gate    gate
}

// gate maps outputs to a function's inputs: those of the nodes through which
// values enter.
type gate interface {
	// enters returns the outer value, or the index of the input, that o
	// represents; ok is false if o is computed inside.
	enters(o graph.Output) (outer graph.Output, input int, ok bool)
	// isGate reports whether the node is one that values enter by.
	isGate(n *graph.Node) bool
}

// resolved returns the counterpart of o in the function: an input, or the
// output of a node that is copied into it.
func (l *lift) resolved(g gate, o graph.Output) (at int, node graph.Output, isInput bool) {
	o = l.r.current(o)
	if outer, i, ok := g.enters(o); ok {
		if outer.Node == nil {
			return i, o, true
		}
		if o = l.r.current(outer); copied(o.Node) {
			return 0, o, false
		}
		return l.input(o), o, true
	}
	if !l.inside(o.Node) && !copied(o.Node) {
		return l.input(o), o, true
	}
	return 0, o, false
}

// collect finds the nodes that results need, and effects, nodes inside that run
// besides.
func (l *lift) collect(g gate, results []graph.Output, effects ...*graph.Node) (*body, error) {
	b := &body{results: results, effects: effects, gate: g}
	seen := map[*graph.Node]bool{}
	stack := slices.Clone(effects)
	need := func(o graph.Output) {
		if _, from, isInput := l.resolved(g, o); !isInput {
			stack = append(stack, from.Node)
		}
	}
	for _, o := range results {
		need(o)
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		switch {
		case g.isGate(n):
			return nil, fmt.Errorf("node %q (%s) is used on the wrong side of its branch", n.Name, n.Op)
		case kindOf(n.Op) != "" && !(l.conds && (kindOf(n.Op) == "Switch" || kindOf(n.Op) == "Merge")):
			return nil, fmt.Errorf("node %q (%s) inside of it isn't part of a conditional or loop as TensorFlow makes them", n.Name, n.Op)
		}
		b.nodes = append(b.nodes, n)
		for _, in := range n.In {
			need(in)
		}
		for _, c := range n.Control {
			c = l.r.node(c)
			switch {
			case g.isGate(c):
			case l.inside(c):
				stack = append(stack, c)
			case !copied(c):
				l.wait(c)
			}
		}
	}
	slices.SortFunc(b.nodes, func(a, b *graph.Node) int { return a.Index() - b.Index() })
	return b, nil
}

// function makes the function of a body. If through isn't negative, the inputs
// from that index on are results too, after those of the body.
func (l *lift) function(name string, b *body, through int) (*graph.Function, error) {
	fn := graph.NewFunction(name)
	fn.Graph.Library, fn.Graph.Versions = l.r.g.Library, l.r.g.Versions
	copies := make(map[*graph.Node]*graph.Node, len(b.nodes))
	for _, n := range b.nodes {
		c := &graph.Node{Name: n.Name, Op: n.Op, Def: n.Def, Device: n.Device, Attrs: n.Attrs, Out: slices.Clone(n.Out), Site: n.Site, Extra: n.Extra}
		if err := fn.Graph.Add(c); err != nil {
			return nil, err
		}
		copies[n] = c
	}
	args := make([]graph.Output, len(l.inputs))
	for i, o := range l.inputs {
		f := o.Fact().WithoutValue()
		f.Ref = false
		var err error
		if args[i], err = fn.AddArg(fn.Graph.UniqueName(fmt.Sprintf("raised_arg_%d", i)), f); err != nil {
			return nil, err
		}
	}
	inner := func(o graph.Output) graph.Output {
		i, from, isInput := l.resolved(b.gate, o)
		if isInput {
			return args[i]
		}
		return graph.Output{Node: copies[from.Node], Index: from.Index}
	}
	for _, n := range b.nodes {
		c := copies[n]
		for _, in := range n.In {
			c.In = append(c.In, inner(in))
		}
		for _, ctl := range n.Control {
			if k := copies[l.r.node(ctl)]; k != nil {
				c.Control = append(c.Control, k)
			}
		}
	}
	for _, o := range b.results {
		fn.AddResult("", inner(o))
	}
	for _, n := range b.effects {
		fn.Control = append(fn.Control, graph.ControlResult{Name: n.Name, Node: copies[n]})
	}
	if through >= 0 {
		for _, a := range args[through:] {
			fn.AddResult("", a)
		}
	}
	return fn, nil
}

// types returns the element types of the inputs.
func (l *lift) types() []graph.Fact {
	out := make([]graph.Fact, len(l.inputs))
	for i, o := range l.inputs {
		f := o.Fact()
		out[i] = graph.Fact{DType: f.DType}
	}
	return out
}

// add puts the node that calls the functions into the graph.
func (l *lift) add(op, name string, in []graph.Output, out []graph.Fact, attrs graph.Attrs) (*graph.Node, error) {
	n := &graph.Node{Name: l.r.g.UniqueName(name), Op: op, Def: graph.LookupOp(op), Attrs: attrs, In: in, Control: l.controls, Out: out}
	return n, l.r.g.Add(n)
}
