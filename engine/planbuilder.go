package engine

import (
	"slices"

	"github.com/cairnml/cairn/engine/internal/analysis"
	"github.com/cairnml/cairn/graph"
)

// planBuilder is a plan that is being made.
type planBuilder struct {
	*compiler
	function  *graph.Function
	plan      *Plan
	hoisted   *hoisted
	invariant *analysis.Invariance
	nodes     []*graph.Node // in the order in which they run, those of handles first
	handles   int           // the number of nodes that make handles, which are the first ones of nodes
	slots     map[graph.Output]int32
	uses      map[graph.Output]int // steps and results that need it
	formulas  map[graph.Output]formula
	roots     map[graph.Output]int // by handle or constant
	missing   missingOps
}

// build makes the plan of a function whose nodes are in topological order.
func (c *compiler) build(f *graph.Function) (*Plan, error) {
	l := &planBuilder{
		compiler: c, function: f, plan: &Plan{name: f.Name, arenas: &arenas}, hoisted: &hoisted{store: c.opts.Invariants},
		invariant: analysis.InvarianceOf(f, !c.opts.Invariants.ConstantsOnly),
		slots:     map[graph.Output]int32{}, uses: map[graph.Output]int{},
		formulas: map[graph.Output]formula{}, roots: map[graph.Output]int{},
	}
	p := l.plan
	if analysis.HasBranches(f) {
		p.branches, l.invariant = &branches{}, &analysis.Invariance{}
		for _, r := range f.Results {
			p.names = append(p.names, r.Output.String())
		}
	}
	l.order()
	l.count()
	for i, a := range f.Args {
		o := a.Output(0)
		p.args = append(p.args, arg{slot: l.slot(o), last: l.uses[o] == 0, fact: a.Out[0], name: f.Args[i].Name})
	}
	for i, n := range l.nodes {
		if i == l.handles {
			l.hoisted.before = len(p.steps)
		}
		if err := l.add(n); err != nil {
			return nil, err
		}
	}
	if err := l.missing.err(); err != nil {
		return nil, err
	}
	for _, r := range f.Results {
		p.results = append(p.results, result{slot: l.slot(r.Output)})
	}
	done := make([]bool, len(p.preset))
	if len(l.hoisted.outs)+len(l.hoisted.forms) > 0 {
		p.hoisted = l.hoisted
		p.hoisted.countPlaces()
		for _, o := range l.hoisted.outs {
			done[o.slot] = true // stored values are never released
		}
	}
	l.wait()
	p.freeAtLastUse(done)
	if !slices.ContainsFunc(p.args, func(a arg) bool { return a.open() }) {
		p.arenas = &idleArenas{home: true}
	}
	return p, nil
}

// order moves the nodes that make handles to the front, because invariant
// values depend on them.
func (l *planBuilder) order() {
	var rest []*graph.Node
	for _, n := range l.function.Graph.Nodes() {
		switch {
		case n.IsArg() || n.Op == "NoOp" && l.plan.branches == nil: // the order is all that a NoOp is there for
		case l.invariant.KindOf(n) == analysis.Handle:
			l.nodes = append(l.nodes, n)
		default:
			rest = append(rest, n)
		}
	}
	l.handles = len(l.nodes)
	l.nodes = append(l.nodes, rest...)
}

// count counts the uses of each output by steps of the plan and by results.
func (l *planBuilder) count() {
	for _, r := range l.function.Results {
		l.uses[r.Output]++
	}
	for _, n := range l.nodes {
		for _, in := range n.In {
			// Invariant values need the handles of their variables, and nothing
			// else.
			if l.invariant.KindOf(n) != analysis.Computed || l.invariant.KindOf(in.Node) == analysis.Handle {
				l.uses[in]++
			}
		}
	}
}

func (l *planBuilder) slot(o graph.Output) int32 {
	s, ok := l.slots[o]
	if !ok {
		s = int32(len(l.plan.preset))
		l.slots[o] = s
		l.plan.preset = append(l.plan.preset, Value{})
	}
	return s
}

// add makes a node a constant, a step, or a hoisted value.
func (l *planBuilder) add(n *graph.Node) error {
	if v, ok := analysis.ConstantOf(n); ok && (l.plan.branches == nil || len(n.Control) == 0) {
		l.plan.preset[l.slot(n.Output(0))] = Value{Tensor: v}
		return nil
	}
	kind := l.invariant.KindOf(n)
	if kind == analysis.Read && l.uses[n.Output(0)] == 0 {
		return nil // the computation of invariant values reads its variable
	}
	st, err := l.step(n, kind == analysis.Computed)
	if err != nil || st == nil {
		return err
	}
	if kind != analysis.Computed {
		l.plan.steps = append(l.plan.steps, *st)
		return nil
	}
	l.hoisted.steps = append(l.hoisted.steps, *st)
	for i := range n.Out {
		o := n.Output(i)
		if f := l.formula(o); l.uses[o] > 0 {
			l.hoisted.outs = append(l.hoisted.outs, hoistedValue{l.slot(o), f})
		}
	}
	return nil
}

// step prepares a node's kernel. isFixed means that the step computes an
// invariant value. step returns nil and notes the op if there is no kernel.
func (l *planBuilder) step(n *graph.Node, isFixed bool) (*step, error) {
	k := l.opts.Kernels.Lookup(n.Op)
	if k == nil && !analysis.IsBranch(n.Op) {
		l.missing.add(l.function.Name, n)
		return nil, nil
	}
	st := &step{node: n}
	node := &Node{Op: n.Op, Name: n.Name, Attrs: n.Attrs, Out: n.Out, Functions: l.compiler, Key: n.Origin(), Path: n.Path()}
	for i, in := range n.In {
		fact := in.Fact()
		if fact.Ref && !analysis.WantsRef(n, i) {
			fact.Ref = false
			if !isFixed {
				st.dref = append(st.dref, int32(i))
			}
		}
		node.In = append(node.In, fact)
		st.in = append(st.in, l.input(in, isFixed))
		if !isFixed && l.invariant.Has(in) {
			node.invariant.add(i)
		}
	}
	var err error
	if analysis.IsBranch(n.Op) {
		st.Prepared = branchStep(node)
	} else if st.Prepared, err = k.prepare(node); err != nil {
		return nil, &graph.NodeError{Node: n.Name, Op: n.Op, Function: l.function.Name, Site: n.Site, Err: err}
	}
	for _, r := range node.packs {
		in := n.In[r.input]
		st.pack = append(st.pack, int32(len(l.hoisted.forms)))
		f := l.formula(in)
		l.hoisted.forms = append(l.hoisted.forms, hoistedForm{l.input(in, true), f.packed(r.key), r.pack})
	}
	node.packs = nil
	for i := range n.Out {
		o := n.Output(i)
		if !isFixed && l.uses[o] == 0 {
			st.out = append(st.out, -1)
			continue
		}
		st.out = append(st.out, l.slot(o))
	}
	return st, nil
}

// input returns the slot of an input. If it is read to compute an invariant
// value (isFixed), the root of its variable fills the slot.
func (l *planBuilder) input(in graph.Output, isFixed bool) int32 {
	if isFixed {
		l.formula(in)
	}
	return l.slot(in)
}

// formula returns the formula of an invariant value.
func (l *planBuilder) formula(o graph.Output) formula {
	if f, ok := l.formulas[o]; ok {
		return f
	}
	n := o.Node
	var f formula
	switch l.invariant.KindOf(n) {
	case analysis.Constant:
		if t, _ := analysis.ConstantOf(n); t.NumBytes() > smallConstant || !t.DType().Fixed() {
			f = rootFormula(l.root(o, root{constant: t}))
		} else {
			f = formulaOf(n, 0, nil)
		}
	case analysis.Read:
		f = rootFormula(l.read(n.In[0], o))
	case analysis.Handle: // a reference, if the value of its variable is wanted
		f = rootFormula(l.read(o, o))
	default:
		f = formulaOf(n, o.Index, l.formula)
	}
	l.formulas[o] = f
	return f
}

// root returns the place of a root among the plan's.
func (l *planBuilder) root(o graph.Output, r root) int {
	i, ok := l.roots[o]
	if !ok {
		i = len(l.hoisted.roots)
		l.roots[o] = i
		l.hoisted.roots = append(l.hoisted.roots, r)
	}
	return i
}

// read returns the root of a handle's variable, whose value replaces o.
func (l *planBuilder) read(handle, o graph.Output) int {
	i := l.root(handle, root{handle: l.slot(handle), node: o.Node})
	r := &l.hoisted.roots[i]
	r.reads = append(r.reads, l.slot(o))
	return i
}

// freeAtLastUse finds the slots that no step needs after each step. It never
// frees a slot that is set in done.
func (p *Plan) freeAtLastUse(done []bool) {
	kept := slices.Clone(done)
	for _, r := range p.results {
		done[r.slot] = true // results are never freed
	}
	for i := range p.preset {
		if !p.preset[i].IsZero() {
			done[i] = true // constants are the plan's
		}
	}
	emptied := make([]bool, len(p.preset))
	for i := len(p.steps) - 1; i >= 0; i-- {
		st := &p.steps[i]
		count := map[int32]int{}
		for _, s := range st.in {
			count[s]++
		}
		for j, s := range st.in {
			if done[s] {
				continue
			}
			// An input that is given twice is owned by neither place.
			if count[s] == 1 {
				st.last.add(j)
			}
		}
		for _, s := range st.in {
			if !done[s] {
				done[s], emptied[s] = true, true
				st.free = append(st.free, s)
			}
		}
	}
	for i := len(p.results) - 1; i >= 0; i-- {
		// The same slot may be two results.
		if r := &p.results[i]; !emptied[r.slot] && !kept[r.slot] && p.preset[r.slot].IsZero() {
			r.last, emptied[r.slot] = true, true
		}
	}
	for s := range p.preset {
		if !emptied[s] && p.preset[s].IsZero() {
			p.rest = append(p.rest, int32(s))
		}
	}
}
