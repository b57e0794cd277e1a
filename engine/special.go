package engine

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// maxInstances is the default of [CompileOptions.MaxInstances].
const maxInstances = 8

// specials are the instances of a plan whose arguments have sizes that aren't
// known: the same function compiled anew for the shapes that calls have given.
// What is computed from shapes is a constant there, and memory that one call
// used has the sizes that the next one needs.
//
// An instance is made by the second call with the same shapes; the first one
// may be the only one. Beyond the limit the shapes that were longest not asked
// for are forgotten.
type specials struct {
	compiler *compiler
	callee   graph.Callee
	most     int

	list  atomic.Pointer[[]*special] // never changed, only replaced
	clock atomic.Int64
	mu    sync.Mutex // of those who replace the list
}

// special is what is there for arguments of certain shapes.
type special struct {
	shapes []tensor.Shape // by argument; nil of one that is no tensor
	calls  atomic.Int32
	used   atomic.Int64         // the clock when it was last asked for
	plan   atomic.Pointer[Plan] // nil until it is made, and where it can't be
}

// newSpecials returns nil where the plan has nothing to learn from its
// arguments' shapes.
func newSpecials(c *compiler, callee graph.Callee, p *Plan) *specials {
	most := c.opts.MaxInstances
	if most == 0 {
		most = maxInstances
	}
	if most < 0 || !slices.ContainsFunc(p.args, func(a arg) bool { return a.open() }) {
		return nil
	}
	return &specials{compiler: c, callee: callee, most: most}
}

// open reports whether a call tells something of the argument's shape.
func (a *arg) open() bool {
	switch a.fact.DType {
	case tensor.Resource, tensor.Variant:
		return false
	}
	return !a.fact.Shape.Known() && !a.fact.Ref
}

// instance returns the plan to run for these arguments: p itself, or its
// instance for their shapes.
func (p *Plan) instance(args []Value) *Plan {
	sp := p.specials
	if sp == nil {
		return p
	}
	s := sp.find(args)
	if s == nil {
		s = sp.add(args)
	}
	s.used.Store(sp.clock.Add(1))
	if q := s.plan.Load(); q != nil {
		return q
	}
	if s.calls.Add(1) == 2 { // one goroutine's; the others run the general plan meanwhile
		if q, err := sp.compiler.compileFor(sp.callee, s.shapes); err == nil {
			s.plan.Store(q)
			return q
		}
	}
	return p
}

func (sp *specials) find(args []Value) *special {
	list := sp.list.Load()
	if list == nil {
		return nil
	}
	for _, s := range *list {
		if s.fits(args) {
			return s
		}
	}
	return nil
}

func (s *special) fits(args []Value) bool {
	for i, shape := range s.shapes {
		t := args[i].Tensor
		if (t == nil) != (shape == nil) || t != nil && !t.Shape().Equal(shape) {
			return false
		}
	}
	return true
}

func (sp *specials) add(args []Value) *special {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if s := sp.find(args); s != nil {
		return s
	}
	s := &special{shapes: make([]tensor.Shape, len(args))}
	for i, a := range args {
		if a.Tensor != nil {
			s.shapes[i] = append(tensor.Shape{}, a.Tensor.Shape()...)
		}
	}
	var list []*special
	if old := sp.list.Load(); old != nil {
		list = slices.Clone(*old)
	}
	if len(list) >= sp.most {
		oldest := slices.MinFunc(list, func(a, b *special) int { return int(a.used.Load() - b.used.Load()) })
		list = slices.DeleteFunc(list, func(x *special) bool { return x == oldest })
	}
	list = append(list, s)
	s.used.Store(sp.clock.Add(1))
	sp.list.Store(&list)
	return s
}

// compileFor compiles a function for arguments of these shapes, and what it calls
// for what follows from them.
func (c *compiler) compileFor(callee graph.Callee, shapes []tensor.Shape) (*Plan, error) {
	c = newCompiler(c.opts) // what is compiled goes with the instance
	return c.compileWith(callee, func(f *graph.Function) {
		for i, a := range f.Args {
			if s := shapes[i]; s != nil && !a.Out[0].Ref {
				a.Out[0].Shape = graph.Whole(s)
			}
		}
	})
}

// PlanInstance describes an instance of a plan for certain shapes.
type PlanInstance struct {
	Shapes []tensor.Shape // of the arguments; nil of one that is no tensor
	Ops    int            // that a call runs, those of called functions not counted
}

// Instances returns the plan's instances that were made for shapes of calls.
func (p *Plan) Instances() (all []PlanInstance) {
	if p.specials == nil {
		return nil
	}
	if list := p.specials.list.Load(); list != nil {
		for _, s := range *list {
			if q := s.plan.Load(); q != nil {
				all = append(all, PlanInstance{s.shapes, q.Len()})
			}
		}
	}
	return all
}
