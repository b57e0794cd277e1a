package raise

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/graph"
)

// frame is a loop: the nodes between its Enter and Exit nodes.
type frame struct {
	name   string
	parent *frame
	depth  int
	nodes  []*graph.Node // those of control flow
}

// frames finds the loops, and which one each node is in. A node is in the
// innermost loop that any of its inputs is in.
func (r *raiser) frames() (list []*frame, of map[*graph.Node]*frame) {
	type key struct {
		parent *frame
		name   string
	}
	byName := map[key]*frame{}
	of = map[*graph.Node]*frame{}
	leaves := func(n *graph.Node) *frame {
		f := of[n]
		if f != nil && kindOf(n.Op) == "Exit" {
			return f.parent
		}
		return f
	}
	for _, n := range r.order() {
		var f *frame
		deeper := func(m *graph.Node) {
			if g := leaves(m); g != nil && (f == nil || g.depth > f.depth) {
				f = g
			}
		}
		for _, in := range n.In {
			deeper(in.Node)
		}
		for _, c := range n.Control {
			deeper(c)
		}
		kind := kindOf(n.Op)
		if kind == "Enter" {
			k := key{f, n.Attrs.String("frame_name", "")}
			inner := byName[k]
			if inner == nil {
				inner = &frame{name: k.name, parent: f, depth: 1}
				if f != nil {
					inner.depth = f.depth + 1
				}
				byName[k] = inner
				list = append(list, inner)
			}
			f = inner
		}
		if f != nil {
			of[n] = f
			if kind != "" {
				f.nodes = append(f.nodes, n)
			}
		}
	}
	return list, of
}

// loops raises all loops, the innermost first.
func (r *raiser) loops() {
	list, of := r.frames()
	slices.SortStableFunc(list, func(a, b *frame) int { return b.depth - a.depth })
	raised := map[*frame]bool{}
	for _, f := range list {
		if err := r.loop(f, of); err != nil {
			for _, n := range f.nodes {
				r.problem(n, "the loop %q can't be made a While: %w", f.name, err)
			}
			continue
		}
		raised[f] = true
	}
	for n, f := range of {
		if raised[f] && n.Op == trigger {
			r.moved[n] = true
		}
	}
}

// variable is a loop variable with the nodes that it passes through.
type variable struct {
	enter, merge, next *graph.Node
	turn               *graph.Node // its Switch; nil if there is none
	exits              []*graph.Node
}

// loopGate lets values into the functions of a loop.
type loopGate struct {
	place map[graph.Output]int // Merge and Switch outputs to variables
	enter map[*graph.Node]bool
	gates map[*graph.Node]bool
}

func (g *loopGate) enters(o graph.Output) (graph.Output, int, bool) {
	if i, ok := g.place[o]; ok {
		return graph.Output{}, i, true
	}
	if g.enter[o.Node] {
		return o.Node.In[0], 0, true
	}
	return graph.Output{}, 0, false
}

func (g *loopGate) isGate(n *graph.Node) bool { return g.gates[n] || g.enter[n] }

// shape sorts the nodes of a loop's control flow.
func (f *frame) shape() (vars []*variable, cond *graph.Node, err error) {
	byMerge := map[*graph.Node]*variable{}
	byTurn := map[*graph.Node]*variable{}
	for _, n := range f.nodes {
		switch kindOf(n.Op) {
		case "LoopCond":
			if cond != nil {
				return nil, nil, fmt.Errorf("it has two conditions, %q and %q", cond.Name, n.Name)
			}
			cond = n
		case "Merge":
			if len(n.In) != 2 {
				continue
			}
			enter, next := n.In[0].Node, n.In[1].Node
			if kindOf(enter.Op) == "NextIteration" {
				enter, next = next, enter
			}
			if kindOf(next.Op) != "NextIteration" {
				continue // of a conditional
			}
			if kindOf(enter.Op) != "Enter" || len(next.In) != 1 || len(enter.In) != 1 {
				return nil, nil, fmt.Errorf("node %q joins no value that enters the loop", n.Name)
			}
			v := &variable{enter: enter, merge: n, next: next}
			byMerge[n] = v
			vars = append(vars, v)
		}
	}
	if cond == nil || len(cond.In) != 1 {
		return nil, nil, fmt.Errorf("it has no condition")
	}
	for _, n := range f.nodes {
		if kindOf(n.Op) != "Switch" || len(n.In) != 2 || n.In[1].Node != cond {
			continue
		}
		v := byMerge[n.In[0].Node]
		if v == nil || v.turn != nil {
			return nil, nil, fmt.Errorf("node %q takes no variable of the loop", n.Name)
		}
		v.turn = n
		byTurn[n] = v
	}
	for _, n := range f.nodes {
		if kindOf(n.Op) != "Exit" || len(n.In) != 1 {
			continue
		}
		v := byTurn[n.In[0].Node]
		if v == nil || n.In[0].Index != 0 {
			return nil, nil, fmt.Errorf("node %q returns no variable of the loop", n.Name)
		}
		v.exits = append(v.exits, n)
	}
	return vars, cond, nil
}

// loop makes one loop a While.
func (r *raiser) loop(f *frame, of map[*graph.Node]*frame) error {
	vars, cond, err := f.shape()
	if err != nil {
		return err
	}
	l := r.newLift(func(n *graph.Node) bool { return of[n] == f })
	l.conds = true
	gate := &loopGate{place: map[graph.Output]int{}, enter: map[*graph.Node]bool{}, gates: map[*graph.Node]bool{cond: true}}
	for _, n := range f.nodes {
		if kindOf(n.Op) == "Enter" && len(n.In) == 1 {
			gate.enter[n] = true
			for _, c := range n.Control {
				l.wait(r.node(c))
			}
		}
	}
	for i, v := range vars {
		// Each variable is a separate input, even if two have the same first
		// value.
		l.inputs = append(l.inputs, r.current(v.enter.In[0]))
		for _, n := range []*graph.Node{v.merge, v.next, v.turn} {
			if n != nil {
				gate.gates[n] = true
			}
		}
		gate.place[v.merge.Output(0)] = i
		if v.turn != nil {
			gate.place[v.turn.Output(1)] = i
		}
	}
	test, err := l.collect(gate, []graph.Output{cond.In[0]})
	if err != nil {
		return err
	}
	var results []graph.Output
	var effects []*graph.Node
	for _, v := range vars {
		results = append(results, v.next.In[0])
		for _, c := range v.next.Control {
			// A round isn't over before these ran.
			if c = r.node(c); of[c] == f && !gate.isGate(c) && !slices.Contains(effects, c) {
				effects = append(effects, c)
			}
		}
	}
	round, err := l.collect(gate, results, effects...)
	if err != nil {
		return err
	}
	if err := noEffectTwice(test, round); err != nil {
		return err
	}
	condFn, err := l.function(r.prefix+cond.Name+"_cond", test, -1)
	if err != nil {
		return err
	}
	bodyFn, err := l.function(r.prefix+cond.Name+"_body", round, len(vars))
	if err != nil {
		return err
	}
	r.inner(condFn)
	r.inner(bodyFn)
	facts := l.types()
	w, err := l.add("While", cond.Name+"/While", slices.Clone(l.inputs), facts, graph.Attrs{
		graph.Types("T", graph.ArgTypes(facts)...), graph.Func("cond", condFn), graph.Func("body", bodyFn),
		graph.Shapes("output_shapes"), graph.Int("parallel_iterations", 1),
	})
	if err != nil {
		return err
	}
	if f.parent != nil {
		of[w] = f.parent
	}
	for i, v := range vars {
		for _, x := range v.exits {
			r.out[x.Output(0)] = w.Output(i)
			r.nodes[x] = w
			// Signatures name the value by the Exit: it becomes a node with the same output.
			become(x, "Identity", graph.Attrs{graph.Type("T", facts[i].DType)}, w.Output(i))
		}
	}
	return nil
}

// inner raises the conditionals in a function that a loop has become.
func (r *raiser) inner(f *graph.Function) {
	if !has(f.Graph) {
		return
	}
	raiseIn(f, r.problems)
}

// noEffectTwice refuses a loop in which condition and body share an op with
// effects: in two functions it would run twice.
func noEffectTwice(a, b *body) error {
	in := map[*graph.Node]bool{}
	for _, n := range a.nodes {
		in[n] = true
	}
	for _, n := range b.nodes {
		if in[n] && n.Effect()&(graph.Writes|graph.Random|graph.Files|graph.Network|graph.Code) != 0 && !copied(n) {
			return fmt.Errorf("node %q (%s) has an effect and is used by the condition and the body", n.Name, n.Op)
		}
	}
	return nil
}
