package ops

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Map calls f with each slice of xs along the first dimension and stacks its results along a new first
// dimension. Of several values f gets the slices at the same index. Traced it is a loop over lists. f
// may be traced more than once.
//
//	norms := ops.Map(s, rows, func(s *ops.Scope, row *ops.Value) *ops.Value { return ops.Norm(s, row) })
func Map[X, Y Values](s *Scope, xs X, f func(s *Scope, x X) Y) Y {
	if f == nil {
		s.Fail("Map", errors.New("needs a function"))
		return shaped[Y](s, nil)
	}
	_, out := s.loopOver("Map", nil, flat(xs), &loopKind{}, func(s *Scope, _, x []*Value) (_, out []*Value) {
		return nil, flat(f(s, shaped[X](s, x)))
	})
	return shaped[Y](s, out)
}

// Scan calls f with each slice of xs along the first dimension and with f's last result, at first initial. It returns
// all results of f, stacked along a new first dimension. f returns as many values as initial has, of the same types and
// shapes. Traced it is a loop over lists. f may be traced more than once.
//
//	sums := ops.Scan(s, ops.Const(s, 0.0), x, func(s *ops.Scope, sum, x *ops.Value) *ops.Value { return ops.Add(s, sum, x) })
func Scan[A, X Values](s *Scope, initial A, xs X, f func(s *Scope, acc A, x X) A) A {
	if f == nil {
		s.Fail("Scan", errors.New("needs a function"))
		return shaped[A](s, nil)
	}
	_, out := s.loopOver("Scan", constants(s, flat(initial)), flat(xs), &loopKind{scan: true}, func(s *Scope, acc, x []*Value) (_, out []*Value) {
		next := flat(f(s, shaped[A](s, acc), shaped[X](s, x)))
		return next, next
	})
	return shaped[A](s, out)
}

// LoopOptions are the options of [Loop].
type LoopOptions struct {
	// Unroll repeats the ops of the function for each slice in a trace, which needs to know
	// the number of slices. Default: a trace has a loop.
	Unroll bool
}

// Loop calls f with each slice of xs along the first dimension, and with the state that f
// returned before, at first initial. It returns the last state, and the further values
// that f returns, stacked along a new first dimension. The state keeps its number of
// values, their types and shapes. Traced it is a loop over lists, in which f may be traced
// more than once; memory and time are in proportion to the number of slices, also those
// of the gradient.
//
//	last, sums := ops.Loop(s, []*ops.Value{zero}, []*ops.Value{x},
//		func(s *ops.Scope, state, x []*ops.Value) (next, out []*ops.Value) {
//			sum := ops.Add(s, state[0], x[0])
//			return []*ops.Value{sum}, []*ops.Value{sum}
//		})
func Loop(s *Scope, initial, xs []*Value, f func(s *Scope, state, x []*Value) (next, out []*Value), o ...*LoopOptions) (end, outs []*Value) {
	if f == nil {
		s.Fail("Loop", errors.New("needs a function"))
		return nil, nil
	}
	kind := &loopKind{unroll: last(o).Unroll}
	return s.loopOver("Loop", append([]*Value{}, constants(s, initial)...), xs, kind, f)
}

// loopKind contains the differences between the loops over slices.
type loopKind struct {
	scan   bool // the outputs are the state
	unroll bool // also in a trace
}

// constants returns the values of xs on the scope.
func constants(s *Scope, xs []*Value) []*Value {
	out := make([]*Value, len(xs))
	for i, x := range xs {
		out[i] = Const(s, x)
	}
	return out
}

// dim0 returns the number of slices of x, negative if it isn't known.
func dim0(x *Value) int {
	if s := x.Fact().Shape; s.Rank() > 0 {
		return s.Dim(0)
	}
	return -1
}

// element is a loop's function of the slices at one index; acc is the state that it
// returned for the slices before, nothing in a Map.
type element func(s *Scope, acc, x []*Value) (next, out []*Value)

// loopOver returns the last state, and the stacked outputs of f for the slices of xs.
func (s *Scope) loopOver(op string, init, xs []*Value, kind *loopKind, f element) (last, outs []*Value) {
	in := constants(s, xs)
	if s.alive() && len(in) == 0 {
		s.fail(op, nil, errors.New("needs at least one value to go over"))
	}
	if !s.alive() {
		return nil, nil
	}
	for i, x := range in {
		if x.Fact().Shape.Rank() == 0 {
			s.fail(op, nil, fmt.Errorf("value %d is a scalar, which has no slices", i), in...)
			return nil, nil
		}
		if n, m := dim0(x), dim0(in[0]); n >= 0 && m >= 0 && n != m {
			s.fail(op, nil, fmt.Errorf("value %d has %d slices, value 0 has %d", i, n, m), in...)
			return nil, nil
		}
	}
	n := dim0(in[0])
	if s.IsTracing() && !kind.unroll {
		return s.traceLoop(op, init, in, kind, f)
	}
	switch {
	case n == 0:
		return init, s.noElements(op, init, in, f)
	case n < 0:
		s.fail(op, nil, errors.New("the number of slices isn't known; a trace that unrolls the loop needs it"), in[0])
		return nil, nil
	}
	slices := make([][]*Value, len(in))
	for i, x := range in {
		slices[i] = Unstack(s, x, n)
	}
	var rows [][]*Value
	acc := init
	for k := range n {
		x := make([]*Value, len(in))
		for i := range in {
			x[i] = slices[i][k]
		}
		next, out := f(s, acc, x)
		if err := s.checkElement(init, next, out); err != nil || !s.alive() {
			s.fail(op, nil, err)
			return nil, nil
		}
		if rows == nil {
			rows = make([][]*Value, len(out))
		}
		if len(out) != len(rows) {
			s.fail(op, nil, fmt.Errorf("the function returns %d values, and returned %d before", len(out), len(rows)))
			return nil, nil
		}
		for i, v := range out {
			rows[i] = append(rows[i], v)
		}
		acc = next
	}
	stacked := make([]*Value, len(rows))
	for i, r := range rows {
		stacked[i] = Stack(s, r)
	}
	return acc, stacked
}

// checkElement returns an error unless a loop's function may return next and out.
func (s *Scope) checkElement(init, next, out []*Value) error {
	if !s.alive() {
		return s.step.err
	}
	if err := sameVariables(init, next); err != nil {
		return err
	}
	for i, v := range next {
		if got, want := v.Fact().Shape, init[i].Fact().Shape; !got.Compatible(want) {
			return fmt.Errorf("the body returns the shape %v for variable %d, which has %v at first; the values keep their shapes", got, i, want)
		}
	}
	for i, v := range out {
		if v == nil {
			return fmt.Errorf("value %d that the function returns is nil", i)
		}
	}
	return nil
}

// elementFacts returns the facts about one slice of each.
func elementFacts(xs []*Value) []graph.Fact {
	facts := make([]graph.Fact, len(xs))
	for i, x := range xs {
		f := x.Fact().WithoutValue()
		if f.Shape.HasRank() {
			f.Shape = graph.ShapeOf(f.Shape.Dims()[1:]...)
		}
		facts[i] = f
	}
	return facts
}

// probe traces f and returns the facts about its outputs for any slices of xs. It returns false
// after a failure.
func (s *Scope) probe(op string, init, xs []*Value, kind *loopKind, f element) ([]graph.Fact, bool) {
	var facts []graph.Fact
	for _, v := range init {
		facts = append(facts, v.Fact().WithoutValue())
	}
	facts = append(facts, elementFacts(xs)...)
	b := s.traceBody(op, facts, func(s *Scope, in []*Value) []*Value {
		next, out := f(s, in[:len(init)], in[len(init):])
		if err := s.checkElement(init, next, out); err != nil {
			s.fail(op, nil, err)
			return nil
		}
		return out
	})
	if b == nil {
		return nil, false
	}
	out := b.fn.ResultFacts()
	for i := range out {
		if kind.scan {
			out[i] = out[i].Relax(loopFact(init[i].Fact()))
		}
		out[i] = loopFact(out[i])
	}
	return out, true
}

// loopFact returns the part of f that may hold in every round.
func loopFact(f graph.Fact) graph.Fact {
	f = f.WithoutValue()
	f.Shape = f.Shape.Anonymous()
	if len(f.Handle) > 0 {
		held := make([]graph.Content, len(f.Handle))
		for i, c := range f.Handle {
			held[i] = graph.Content{DType: c.DType, Shape: c.Shape.Anonymous()}
		}
		f.Handle = held
	}
	return f
}

// noElements returns the outputs of a loop without slices: empty tensors of the shapes that f's
// outputs would have.
func (s *Scope) noElements(op string, init, xs []*Value, f element) []*Value {
	facts, ok := s.probe(op, init, xs, &loopKind{}, f)
	if !ok {
		return nil
	}
	out := make([]*Value, len(facts))
	for i, fact := range facts {
		shape, known := fact.Shape.Tensor()
		if !known {
			s.fail(op, nil, fmt.Errorf("there are no slices, and the shape %v of value %d that the function returns depends on them", fact.Shape, i))
			return nil
		}
		out[i] = Zeros(s, fact.DType, append([]int{0}, shape...)...)
	}
	return out
}

// traceLoop traces a While over lists.
func (s *Scope) traceLoop(op string, init, xs []*Value, kind *loopKind, f element) (last, outs []*Value) {
	facts, ok := s.probe(op, init, xs, kind, f)
	if !ok {
		return nil, nil
	}
	n := s.dim(xs[0], 0)
	elems := elementFacts(xs)
	lists := make([]*Value, len(xs))
	for i, x := range xs {
		lists[i] = s.Emit1("TensorListFromTensor", nil, x, s.shapeVector(elems[i].Shape))
	}
	vars := append([]*Value{Const(s, int32(0))}, init...)
	given := make([]*Value, len(facts)) // shapes
	for i, fact := range facts {
		given[i] = s.shapeVector(fact.Shape)
		if !fact.Shape.Known() && kind.scan {
			// Without slices there are no values; the shape is then that of the first one.
			given[i] = Shape(s, init[i])
		}
		vars = append(vars, s.Emit1("TensorListReserve", graph.Attrs{graph.Type("element_dtype", fact.DType)}, given[i], n))
	}
	if !s.alive() {
		return nil, nil
	}
	first := 1 + len(init)
	out := While(s, vars,
		func(s *Scope, v []*Value) *Value { return Less(s, v[0], n) },
		func(s *Scope, v []*Value) []*Value {
			x := make([]*Value, len(lists))
			for i, l := range lists {
				x[i] = s.Emit1("TensorListGetItem", graph.Attrs{graph.Type("element_dtype", elems[i].DType)}, l, v[0], s.shapeVector(elems[i].Shape))
			}
			acc, out := f(s, v[1:first], x)
			if err := s.checkElement(init, acc, out); err != nil {
				s.fail(op, nil, err)
				return nil
			}
			next := append([]*Value{Add(s, v[0], 1)}, acc...)
			for i, g := range out {
				next = append(next, s.Emit1("TensorListSetItem", nil, v[first+i], v[0], g))
			}
			return next
		})
	if !s.alive() {
		return nil, nil
	}
	stacked := make([]*Value, len(facts))
	for i, fact := range facts {
		stacked[i] = s.stackList(out[first+i], fact.DType, given[i], dim0(xs[0]))
	}
	return out[1:first], stacked
}

// stackList returns the tensor of a list's n elements of a type and shape; a
// negative n isn't known.
func (s *Scope) stackList(list *Value, d tensor.DType, elem *Value, n int) *Value {
	attrs := graph.Attrs{graph.Type("element_dtype", d)}
	if n >= 0 {
		attrs = append(attrs, graph.Int("num_elements", int64(n)))
	}
	return s.Emit1("TensorListStack", attrs, list, elem)
}

// shapeVector returns a shape as the ops of lists take it: -1 is an unknown
// size, and alone, as a scalar, an unknown rank.
func (s *Scope) shapeVector(shape graph.PartialShape) *Value {
	if !shape.HasRank() {
		return s.sizes(tensor.Scalar(int32(-1)))
	}
	return s.vec32(shape.Anonymous().Dims()...)
}
