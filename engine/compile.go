package engine

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cairnml/cairn/engine/internal/analysis"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/tensor"
)

// CompileOptions are the options of [Compile].
type CompileOptions struct {
	// Kernels run the ops. It must not be nil.
	Kernels *KernelSet
	// Shapes are the shape rules. Default: shape.All().
	Shapes *shape.Rules
	// Passes rewrite the function before it is compiled, in this order. Default:
	// [passes.Default]. With an empty list that isn't nil, no pass runs.
	Passes []passes.Pass
	// MaxSpecializations is the largest number of specializations for shapes of
	// calls that a plan keeps if shapes of its arguments are not known. Default: 8;
	// a negative number means none.
	MaxSpecializations int
	// Invariants stores values that depend on constants and variables alone.
	// Plans of functions over the same variables share one. Default: a separate
	// store with ConstantsOnly set, as suits functions that write their
	// variables in each call.
	Invariants *Invariants
}

// Compile makes f ready to run. Ops without a kernel are a *[MissingError] that
// lists all of f's. A function that f calls is compiled when a call first needs
// it, which then returns that function's error. f is not changed.
func Compile(f *graph.Function, o *CompileOptions) (*Plan, error) {
	if o == nil || o.Kernels == nil {
		return nil, errors.New("engine: CompileOptions.Kernels is nil")
	}
	c, callee := newCompiler(*o), graph.Callee{Function: f}
	p, err := c.compile(callee)
	if err == nil {
		p.specializations = newSpecializations(c, callee, p)
	}
	return p, err
}

// compiler compiles a function and those that it calls, each once.
type compiler struct {
	opts CompileOptions

	mu      sync.Mutex
	plans   map[*graph.Function][]*lazyPlan
	effects graph.Effects
}

func newCompiler(o CompileOptions) *compiler {
	if o.Shapes == nil {
		o.Shapes = shape.All()
	}
	if o.Passes == nil {
		o.Passes = passes.Default()
	}
	if o.Invariants == nil {
		o.Invariants = &Invariants{ConstantsOnly: true}
	}
	return &compiler{opts: o, plans: map[*graph.Function][]*lazyPlan{}}
}

// lazyPlan is a function that is compiled when it is first needed, so that a
// function may call itself.
type lazyPlan struct {
	callee graph.Callee
	args   []graph.Fact // the facts of the arguments; nil means those of the function
	c      *compiler
	once   sync.Once
	plan   *Plan
	err    error
}

// maxVariants is the number of kinds of arguments for which a function is
// compiled, because a recursive function could ask for another kind each time.
// Further calls use the plan for any arguments.
const maxVariants = 8

// Compile implements [Functions].
func (c *compiler) Compile(f graph.Callee, args []graph.Fact) (Function, error) {
	if f.Function == nil {
		return nil, fmt.Errorf("the function %q is not known", f.Name)
	}
	if err := checkTypes(f.Function, args); err != nil {
		return nil, err
	}
	if !tellsMore(f.Function, args) {
		args = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if args != nil && len(c.plans[f.Function]) >= maxVariants {
		args = nil
	}
	for _, l := range c.plans[f.Function] {
		if l.callee.Equal(f) && (l.args == nil) == (args == nil) && graph.Alike(l.args, args) {
			return l, nil
		}
	}
	l := &lazyPlan{callee: f, args: args, c: c}
	c.plans[f.Function] = append(c.plans[f.Function], l)
	return l, nil
}

// checkTypes returns an error if the known element types of args differ from
// those of f's arguments.
func checkTypes(f *graph.Function, args []graph.Fact) error {
	if len(args) != len(f.Args) {
		return nil // the call reports it
	}
	for i, a := range f.Args {
		want, got := a.Out[0].DType, args[i].DType
		if want != got && want != tensor.Invalid && got != tensor.Invalid {
			return fmt.Errorf("the function %s takes %v as argument %q (got %v)", f.Name, want, a.Name, got)
		}
	}
	return nil
}

// tellsMore reports whether args are facts of f's arguments that contain more
// than the facts in f.
func tellsMore(f *graph.Function, args []graph.Fact) bool {
	if len(args) != len(f.Args) {
		return false
	}
	more := false
	for i, a := range f.Args {
		if args[i].DType != a.Out[0].DType || args[i].Ref != a.Out[0].Ref {
			return false
		}
		more = more || !graph.Alike(args[i:i+1], a.Out)
	}
	return more
}

func (l *lazyPlan) get() (*Plan, error) {
	l.once.Do(func() {
		if l.args != nil {
			l.plan, l.err = l.c.compileWith(l.callee, func(f *graph.Function) {
				for i, a := range f.Args {
					a.Out[0] = l.args[i]
				}
			})
		}
		// A branch that is never taken may contradict its arguments.
		if l.args == nil || l.err != nil {
			l.plan, l.err = l.c.compile(l.callee)
		}
	})
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

// Needs reports whether f uses its argument i, and true if that is unknown. The
// zero Value may replace an argument that f does not use.
func Needs(f Function, i int) bool {
	if p, _ := planOf(f); p != nil && i < len(p.args) {
		return !p.args[i].last
	}
	return true
}

// branch is a function that a node names more than once. Each occurrence has
// separate states.
type branch struct {
	*lazyPlan
	at int // the index among the equal functions of the node
}

// Call implements [Function].
func (b *branch) Call(c *Call, args, into []Value) ([]Value, error) {
	p, err := b.get()
	if err != nil {
		return nil, err
	}
	return p.callAs(b.at, c, args, into)
}

// planOf returns the plan of f and its index among the equal functions of its
// node. p is nil if f has no plan.
func planOf(f Function) (p *Plan, at int) {
	switch f := f.(type) {
	case *lazyPlan:
		p, _ = f.get()
	case *branch:
		p, _ = f.get()
		at = f.at
	}
	return p, at
}

// eagerFunctions compile the functions that an eager call of an op refers to.
type eagerFunctions struct{ kernels *KernelSet }

// Compile implements [Functions].
func (e eagerFunctions) Compile(f graph.Callee, args []graph.Fact) (Function, error) {
	return newCompiler(CompileOptions{Kernels: e.kernels}).Compile(f, args)
}

func (c *compiler) compile(callee graph.Callee) (*Plan, error) {
	return c.compileWith(callee, func(*graph.Function) {})
}

// compileWith compiles a function; know adds facts to the arguments
// of the copy.
func (c *compiler) compileWith(callee graph.Callee, know func(*graph.Function)) (*Plan, error) {
	f, err := callee.Function.Clone()
	if err != nil {
		return nil, err
	}
	f.Graph.KeepEffects(&c.effects)
	if err := f.Instantiate(callee.Attrs); err != nil {
		return nil, err
	}
	know(f)
	if err := c.opts.Shapes.InferFunction(f); err != nil {
		return nil, err
	}
	u := &passes.Unit{Function: f, Kernels: &passKernels{set: c.opts.Kernels}, Shapes: c.opts.Shapes, ConstantsOnly: c.opts.Invariants.ConstantsOnly}
	list := c.opts.Passes
	if analysis.HasBranches(f) {
		list = nil
	}
	for _, pass := range list {
		if err := pass.Run(u); err != nil {
			return nil, fmt.Errorf("pass %s over function %s: %w", pass.Name, f.Name, err)
		}
	}
	f = u.Function
	if f, err = f.Clone(); err != nil { // dead nodes go, order is made
		return nil, err
	}
	p, err := c.build(f)
	if err == nil {
		p.of = callee.Function
		p.whole = p.of.Attrs.Bool("_noinline") || c.effects.Recursive(p.of)
	}
	return p, err
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
