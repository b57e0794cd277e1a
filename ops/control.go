package ops

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Values is the type of arguments and results of the functions of control flow:
// one value, or any number of them.
type Values interface{ *Value | []*Value }

// flat returns the values of x.
func flat[T Values](x T) []*Value {
	switch x := any(x).(type) {
	case *Value:
		return []*Value{x}
	case []*Value:
		return x
	}
	return nil
}

// shaped returns the values as a T. If T is *Value and v doesn't have exactly one value, the result is a
// failed value.
func shaped[T Values](s *Scope, v []*Value) (out T) {
	switch out := any(&out).(type) {
	case **Value:
		*out = s.failed()
		if len(v) == 1 {
			*out = v[0]
		}
	case *[]*Value:
		*out = v
	}
	return out
}

// body is a branch or a loop's body without its Go types.
type body func(s *Scope, in []*Value) []*Value

func bodyOf[T Values](f func(s *Scope) T) body {
	return func(s *Scope, _ []*Value) []*Value { return flat(f(s)) }
}

// If calls then or otherwise, and returns its results. It calls then if cond, one element of any
// rank, is true or not zero. Eagerly only that function is called. While a function is traced,
// both are called if cond isn't known yet. They may use any value from outside, must return as
// many values of the same types, and become branches of an op If.
//
//	y := ops.If(s, ops.Greater(s, x, 0),
//		func(s *ops.Scope) *ops.Value { return ops.Sqrt(s, x) },
//		func(s *ops.Scope) *ops.Value { return ops.ZerosLike(s, x) })
//
// Each function has to use the scope that it receives. Functions that are called for their
// side effects alone return no values: their type is func(*Scope) []*Value, and they return
// nil.
func If[T Values](s *Scope, cond Input, then, otherwise func(s *Scope) T) T {
	if then == nil || otherwise == nil {
		s.Fail("If", errors.New("needs two functions"))
	}
	c := Const(s, cond)
	if !s.alive() {
		return shaped[T](s, nil)
	}
	if t := c.Fact().Value; t != nil {
		yes, err := truth(t)
		switch {
		case err != nil:
			s.fail("If", nil, err, c)
			return shaped[T](s, nil)
		case yes:
			return inline(s, "If", then)
		}
		return inline(s, "If", otherwise)
	}
	return shaped[T](s, s.traceIf(c, bodyOf(then), bodyOf(otherwise)))
}

// Case calls the branch at index, an integer scalar, and returns its results.
// An index out of range means the last branch. The rules are those of [If].
func Case[T Values](s *Scope, index Input, branches ...func(s *Scope) T) T {
	if len(branches) == 0 {
		s.Fail("Case", errors.New("needs at least one branch"))
	}
	list := make([]body, len(branches))
	for i, f := range branches {
		if f == nil {
			s.Fail("Case", fmt.Errorf("branch %d is nil", i))
		}
		list[i] = bodyOf(f)
	}
	v := Const(s, index)
	if !s.alive() {
		return shaped[T](s, nil)
	}
	if !v.DType().IsInteger() {
		s.fail("Case", nil, fmt.Errorf("the index is %v, not an integer", v.DType()), v)
		return shaped[T](s, nil)
	}
	if v.Fact().Value != nil {
		i, ok := v.Fact().Int()
		if !ok {
			s.fail("Case", nil, errors.New("the index must be a scalar"), v)
			return shaped[T](s, nil)
		}
		if i < 0 || i >= int64(len(branches)) {
			i = int64(len(branches)) - 1
		}
		return inline(s, "Case", branches[i])
	}
	if v.DType() != tensor.Int32 {
		v = Cast(s, v, tensor.Int32)
	}
	return shaped[T](s, s.traceCase(v, list))
}

// WhileOptions are the options of [While].
type WhileOptions struct {
	// MaxIterations ends the loop after so many rounds. Default: 0, no limit.
	MaxIterations int
}

// While calls body with the loop's variables, and then with the results of the
// last call, as long as cond returns true for them. It returns their final values. body
// returns as many values of the same types. A traced loop is an op While. The
// known part of a variable's shape has to hold in every round; to find it, the
// functions may be traced more than once.
//
//	// the first power of two above n
//	p := ops.While(s, ops.Const(s, 1),
//		func(s *ops.Scope, p *ops.Value) *ops.Value { return ops.LessEqual(s, p, n) },
//		func(s *ops.Scope, p *ops.Value) *ops.Value { return ops.Mul(s, p, 2) })
func While[T Values](s *Scope, vars T, cond func(s *Scope, vars T) *Value, body func(s *Scope, vars T) T, o ...*WhileOptions) T {
	if cond == nil || body == nil {
		s.Fail("While", errors.New("needs a condition and a body"))
	}
	var limit int
	for _, o := range o {
		if o != nil {
			limit = o.MaxIterations
		}
	}
	if limit < 0 {
		s.Fail("While", fmt.Errorf("MaxIterations is %d; 0 means no limit", limit))
	}
	init := make([]*Value, 0, len(flat(vars)))
	for _, v := range flat(vars) {
		init = append(init, Const(s, v))
	}
	if !s.alive() {
		return shaped[T](s, nil)
	}
	if s.IsTracing() {
		return shaped[T](s, s.traceWhile(init, limit,
			func(s *Scope, in []*Value) []*Value { return []*Value{cond(s, shaped[T](s, in))} },
			func(s *Scope, in []*Value) []*Value { return flat(body(s, shaped[T](s, in))) }))
	}
	for i := 0; limit == 0 || i < limit; i++ {
		c := cond(s, shaped[T](s, init))
		if !s.boolCondition(c) {
			return shaped[T](s, nil)
		}
		if c = Const(s, c); !s.alive() {
			return shaped[T](s, nil)
		}
		more, err := truth(c.data.Tensor)
		if err != nil {
			s.fail("While", nil, err, c)
			return shaped[T](s, nil)
		}
		if !more {
			break
		}
		next := flat(body(s, shaped[T](s, init)))
		if !s.alive() {
			return shaped[T](s, nil)
		}
		if err := sameVariables(init, next); err != nil {
			s.fail("While", nil, err)
			return shaped[T](s, nil)
		}
		init = next
	}
	return shaped[T](s, init)
}

// inline returns the results of f on the scope itself.
func inline[T Values](s *Scope, op string, f func(s *Scope) T) T {
	out := f(s)
	for i, v := range flat(out) {
		if v == nil && s.alive() {
			s.fail(op, nil, fmt.Errorf("value %d that the branch returns %w", i, errNilResult))
		}
	}
	if !s.alive() {
		return shaped[T](s, nil)
	}
	return out
}

// sameVariables returns an error unless next can be the loop's variables of the
// next round: as many values, of the same types.
func sameVariables(vars, next []*Value) error {
	if len(vars) != len(next) {
		return fmt.Errorf("the body returns %d values for %d variables", len(next), len(vars))
	}
	for i, v := range next {
		if v == nil {
			return fmt.Errorf("value %d that the body returns is nil", i)
		}
		if v.failed() && v.step != nil && v.step.err != nil {
			return fmt.Errorf("value %d that the body returns failed: %w", i, v.step.err)
		}
		if d := vars[i].DType(); v.DType() != d {
			return fmt.Errorf("the body returns a %v for variable %d, which is %v; ops.Cast converts", v.DType(), i, d)
		}
	}
	return nil
}

func notCondition(d tensor.DType) error {
	return fmt.Errorf("the condition must be a bool or a number, not %v", d)
}

// truth reports whether t, a condition, holds.
func truth(t *tensor.Tensor) (bool, error) {
	switch {
	case t == nil:
		return false, errors.New("the condition has no value")
	case t.Len() != 1:
		return false, notOne(t.DType(), t.Shape())
	case t.DType() == tensor.Bool:
		return tensor.Values[bool](t)[0], nil
	}
	x, err := t.Float64s()
	if err != nil {
		return false, notCondition(t.DType())
	}
	return x[0] != 0, nil
}

func notOne(d tensor.DType, s tensor.Shape) error {
	return fmt.Errorf("the condition must be one element, not %v%v; ops.All and ops.Any join several", d, s)
}

// attrParallel has TensorFlow's default for loops. It must stay, because the bytes of
// SavedModels contain it.
var attrParallel = graph.Int("parallel_iterations", 10)
