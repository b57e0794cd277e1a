package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/await"
	"github.com/cairnml/cairn/tensor"
)

// longPlan is the number of steps from which compiling takes longer than a call may take after
// its context's end.
const longPlan = 5000

// maxSpecializations is the default of [CompileOptions.MaxSpecializations].
const maxSpecializations = 8

// specializations are the plans of one function for the shapes of its arguments. In
// a specialization, values that depend on shapes are constants, and the memory that
// a call leaves has the sizes that the next call needs.
//
// The second call with the same shapes compiles a specialization, because the first
// call may be the only one with these shapes. The least recently used shapes are
// removed if there are too many.
type specializations struct {
	compiler *compiler
	callee   graph.Callee
	most     int

	list  atomic.Pointer[[]*specialization] // never changed, only replaced
	clock atomic.Int64                      // counts calls
	mu    sync.Mutex                        // held while the list is replaced
}

// specialization is a plan for arguments of certain shapes.
type specialization struct {
	shapes []tensor.Shape // by argument; nil if it is not a tensor
	calls  atomic.Int32
	used   atomic.Int64         // the clock at the last call
	plan   atomic.Pointer[Plan] // nil until it is compiled, and if it can't be
}

// newSpecializations returns nil if all shapes of the arguments are known.
func newSpecializations(c *compiler, callee graph.Callee, p *Plan) *specializations {
	most := c.opts.MaxSpecializations
	if most == 0 {
		most = maxSpecializations
	}
	if most < 0 || !slices.ContainsFunc(p.args, func(a arg) bool { return a.open() }) {
		return nil
	}
	return &specializations{compiler: c, callee: callee, most: most}
}

// open reports whether the shape of the argument is unknown until a call.
func (a *arg) open() bool {
	switch a.fact.DType {
	case tensor.Resource, tensor.Variant:
		return false
	}
	return !a.fact.Shape.Known() && !a.fact.Ref
}

// specialized returns the plan to execute for these arguments: p itself, or its
// specialization for their shapes.
func (p *Plan) specialized(ctx context.Context, args []Value) *Plan {
	sp := p.specializations
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
	if s.calls.Add(1) == 2 { // one goroutine compiles; the others use the general plan meanwhile
		special := func() {
			if q, err := sp.compiler.compileFor(sp.callee, s.shapes); err == nil {
				s.plan.Store(q)
			}
		}
		if len(p.steps) < longPlan || ctx.Done() == nil {
			special()
		} else if await.Do(ctx, special) != nil {
			return p
		}
		if q := s.plan.Load(); q != nil {
			return q
		}
	}
	return p
}

func (sp *specializations) find(args []Value) *specialization {
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

func (s *specialization) fits(args []Value) bool {
	for i, shape := range s.shapes {
		t := args[i].Tensor
		if (t == nil) != (shape == nil) || t != nil && !t.Shape().Equal(shape) {
			return false
		}
	}
	return true
}

func (sp *specializations) add(args []Value) *specialization {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if s := sp.find(args); s != nil {
		return s
	}
	s := &specialization{shapes: make([]tensor.Shape, len(args))}
	for i, a := range args {
		if a.Tensor != nil {
			s.shapes[i] = append(tensor.Shape{}, a.Tensor.Shape()...)
		}
	}
	var list []*specialization
	if old := sp.list.Load(); old != nil {
		list = slices.Clone(*old)
	}
	if len(list) >= sp.most {
		oldest := slices.MinFunc(list, func(a, b *specialization) int { return int(a.used.Load() - b.used.Load()) })
		list = slices.DeleteFunc(list, func(x *specialization) bool { return x == oldest })
	}
	list = append(list, s)
	s.used.Store(sp.clock.Add(1))
	sp.list.Store(&list)
	return s
}

// compileFor compiles a function for arguments of these shapes, and the functions
// that it calls for the shapes that follow from them.
func (c *compiler) compileFor(callee graph.Callee, shapes []tensor.Shape) (*Plan, error) {
	c = newCompiler(c.opts) // its plans end with the specialization
	return c.compileWith(callee, func(f *graph.Function) {
		for i, a := range f.Args {
			if s := shapes[i]; s != nil && !a.Out[0].Ref {
				a.Out[0].Shape = graph.Whole(s)
			}
		}
	})
}

// Specialization describes a plan for certain shapes.
type Specialization struct {
	Shapes []tensor.Shape // of the arguments; nil if one is not a tensor
	Ops    int            // that a call executes, without those of called functions
}

// Specializations returns the specializations of the plan that exist.
func (p *Plan) Specializations() (all []Specialization) {
	if p.specializations == nil {
		return nil
	}
	if list := p.specializations.list.Load(); list != nil {
		for _, s := range *list {
			if q := s.plan.Load(); q != nil {
				all = append(all, Specialization{s.shapes, q.Len()})
			}
		}
	}
	return all
}
