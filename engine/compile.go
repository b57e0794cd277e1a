package engine

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/tensor"
)

// CompileOptions say how a function becomes a plan.
type CompileOptions struct {
	// Kernels run the ops.
	Kernels *KernelSet
	// Shapes are the shape rules. Default: shape.All().
	Shapes *shape.Rules
	// Passes rewrite the function before it is compiled, in this order. Default:
	// [DefaultPasses]; an empty list that isn't nil means none.
	Passes []Pass
	// MaxInstances is how many instances for the shapes of calls a plan keeps
	// whose arguments have sizes that aren't known. Default: 8; a negative number
	// means none.
	MaxInstances int
}

// Compile makes f ready to run. Ops without a kernel are a *[MissingError] that
// lists all of them. f is not changed.
func Compile(f *graph.Function, o *CompileOptions) (*Plan, error) {
	if o == nil || o.Kernels == nil {
		return nil, errors.New("engine: CompileOptions.Kernels is nil")
	}
	c, callee := newCompiler(*o), graph.Callee{Function: f}
	p, err := c.compile(callee)
	if err == nil {
		p.specials = newSpecials(c, callee, p)
	}
	return p, err
}

// compiler compiles a function and those that it calls, each once.
type compiler struct {
	opts CompileOptions

	mu    sync.Mutex
	plans map[*graph.Function][]*lazyPlan
}

func newCompiler(o CompileOptions) *compiler {
	if o.Shapes == nil {
		o.Shapes = shape.All()
	}
	if o.Passes == nil {
		o.Passes = DefaultPasses()
	}
	return &compiler{opts: o, plans: map[*graph.Function][]*lazyPlan{}}
}

// lazyPlan is a function that is compiled when it is first needed, so that a
// function may call itself.
type lazyPlan struct {
	callee graph.Callee
	c      *compiler
	once   sync.Once
	plan   *Plan
	err    error
}

// Compile implements [Functions].
func (c *compiler) Compile(f graph.Callee) (Function, error) {
	if f.Function == nil {
		return nil, fmt.Errorf("the function %q is not known", f.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.plans[f.Function] {
		if l.callee.Equal(f) {
			return l, nil
		}
	}
	l := &lazyPlan{callee: f, c: c}
	c.plans[f.Function] = append(c.plans[f.Function], l)
	return l, nil
}

func (l *lazyPlan) get() (*Plan, error) {
	l.once.Do(func() { l.plan, l.err = l.c.compile(l.callee) })
	return l.plan, l.err
}

// Call implements [Function].
func (l *lazyPlan) Call(c *Call, args, into []Value) ([]Value, error) {
	p, err := l.get()
	if err != nil {
		return nil, err
	}
	return p.Call(c, args, into)
}

// eagerFunctions compile the functions that an eager call of an op refers to.
type eagerFunctions struct{ kernels *KernelSet }

// Compile implements [Functions].
func (e eagerFunctions) Compile(f graph.Callee) (Function, error) {
	return newCompiler(CompileOptions{Kernels: e.kernels}).Compile(f)
}

func (c *compiler) compile(callee graph.Callee) (*Plan, error) {
	return c.compileWith(callee, func(*graph.Function) {})
}

// compileWith does what compile does after know has added to what is known of
// the arguments of a copy of the function.
func (c *compiler) compileWith(callee graph.Callee, know func(*graph.Function)) (*Plan, error) {
	f, err := callee.Function.Clone()
	if err != nil {
		return nil, err
	}
	if err := f.Instantiate(callee.Attrs); err != nil {
		return nil, err
	}
	know(f)
	if err := c.opts.Shapes.InferFunction(f); err != nil {
		return nil, err
	}
	u := &Unit{Function: f, Options: &c.opts}
	for _, pass := range c.opts.Passes {
		if err := pass.Run(u); err != nil {
			return nil, fmt.Errorf("pass %s over function %s: %w", pass.Name, f.Name, err)
		}
	}
	f = u.Function
	if f, err = f.Clone(); err != nil { // dead nodes go, order is made
		return nil, err
	}
	return c.lay(f)
}

// lay makes the plan of a function whose nodes stand in order.
func (c *compiler) lay(f *graph.Function) (*Plan, error) {
	p := &Plan{name: f.Name}
	slots := map[graph.Output]int32{}
	slotOf := func(o graph.Output) int32 {
		s, ok := slots[o]
		if !ok {
			s = int32(len(p.preset))
			slots[o] = s
			p.preset = append(p.preset, Value{})
		}
		return s
	}
	uses := map[graph.Output]int{} // ops and results that need it
	for _, n := range f.Graph.Nodes() {
		for _, in := range n.In {
			uses[in]++
		}
	}
	final := map[graph.Output]bool{}
	for _, r := range f.Results {
		uses[r.Output]++
		final[r.Output] = true
	}
	for i, a := range f.Args {
		o := a.Output(0)
		p.args = append(p.args, arg{slot: slotOf(o), last: uses[o] == 0, fact: a.Out[0], name: f.Args[i].Name})
	}
	var missing missingOps
	for _, n := range f.Graph.Nodes() {
		if n.IsArg() || n.Op == "NoOp" { // the order is all that a NoOp is there for
			continue
		}
		if v, ok := constantOf(n); ok {
			p.preset[slotOf(n.Output(0))] = Value{Tensor: v}
			continue
		}
		k := c.opts.Kernels.Lookup(n.Op)
		if k == nil {
			missing.add(f.Name, n)
			continue
		}
		st := step{node: n}
		node := &Node{Op: n.Op, Name: n.Name, Attrs: n.Attrs, Out: n.Out, Functions: c, Key: n.Origin()}
		for i, in := range n.In {
			fact := in.Fact()
			if fact.Ref && !wantsRef(n, i) {
				fact.Ref = false
				st.dref = append(st.dref, int32(i))
			}
			node.In = append(node.In, fact)
			st.in = append(st.in, slotOf(in))
		}
		var err error
		if st.Prepared, err = k.prepare(node); err != nil {
			return nil, &graph.NodeError{Node: n.Name, Op: n.Op, Function: f.Name, Site: n.Site, Err: err}
		}
		for i := range n.Out {
			o := n.Output(i)
			if uses[o] == 0 {
				st.out = append(st.out, -1)
				continue
			}
			st.out = append(st.out, slotOf(o))
		}
		p.steps = append(p.steps, st)
	}
	if err := missing.err(); err != nil {
		return nil, err
	}
	for _, r := range f.Results {
		p.results = append(p.results, slotOf(r.Output))
	}
	p.freeAtLastUse(final, slots)
	if !slices.ContainsFunc(p.args, func(a arg) bool { return a.open() }) {
		p.arenas = new(sync.Pool)
	}
	return p, nil
}

// freeAtLastUse notes for each op which slots nobody needs after it.
func (p *Plan) freeAtLastUse(final map[graph.Output]bool, slots map[graph.Output]int32) {
	done := make([]bool, len(p.preset))
	for o := range final {
		done[slots[o]] = true // results are freed by nobody
	}
	for i := range p.preset {
		if !p.preset[i].IsZero() {
			done[i] = true // constants are the plan's
		}
	}
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
				done[s] = true
				st.free = append(st.free, s)
			}
		}
	}
}

// constantOf returns the value of a Const node.
func constantOf(n *graph.Node) (*tensor.Tensor, bool) {
	if n.Op != "Const" {
		return nil, false
	}
	t := n.Attrs.Tensor("value")
	return t, t != nil
}

// wantsRef reports whether input i of n is taken as a reference.
func wantsRef(n *graph.Node, i int) bool {
	return n.Def != nil && n.Def.InputIsRef(n.Attrs, i)
}

// missingOps collects ops without a kernel.
type missingOps struct {
	byOp  map[string]int
	found []MissingOp
}

func (m *missingOps) add(function string, n *graph.Node) {
	if m.byOp == nil {
		m.byOp = map[string]int{}
	}
	i, ok := m.byOp[n.Op]
	if !ok {
		i = len(m.found)
		m.byOp[n.Op] = i
		m.found = append(m.found, MissingOp{Op: n.Op})
	}
	e := &m.found[i]
	if e.Count++; len(e.Nodes) < 3 {
		e.Nodes = append(e.Nodes, function+"/"+n.Name)
	}
}

func (m *missingOps) err() error {
	if len(m.found) == 0 {
		return nil
	}
	return &MissingError{Ops: m.found}
}
