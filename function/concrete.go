package function

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Concrete is a traced function together with its captures.
type Concrete = graph.Concrete

// Apply calls a function with its captures from model code, on the scope s: one
// that was traced, or a function of a loaded SavedModel, whose variables are then
// trained with the rest of the model. It is one op, in a trace and eagerly, and is
// differentiated as one; gradients that the library of a loaded function holds
// are found there. Failures are s's.
func Apply(s *ops.Scope, c *graph.Concrete, in ...ops.Input) []*ops.Value {
	if s.Err() != nil {
		return nil
	}
	if c == nil || c.Function == nil {
		s.Fail("Apply", fmt.Errorf("there is no function"))
		return nil
	}
	if len(in) != c.NumArgs() {
		s.Fail("Apply", fmt.Errorf("the function %s takes %d arguments (got %d)", c.Function.Name, c.NumArgs(), len(in)))
		return nil
	}
	args := make([]ops.Input, 0, len(c.Function.Args))
	for i, x := range in {
		x, err := argument(s, c.Function.Args[i], x)
		if err != nil {
			s.Fail("Apply", fmt.Errorf("the function %s: %w", c.Function.Name, err))
			return nil
		}
		args = append(args, x)
	}
	args = append(args, ops.CapturedInputs(s, c.Captures)...)
	return s.EmitN(len(c.Function.Results), callOp(c.Function), callAttrs(c.Function), args...)
}

// argument returns x as an argument that a function takes: a Go number gets the
// argument's element type. Another type, or a shape that can't be the argument's, is an
// error.
func argument(s *ops.Scope, arg *graph.Node, x ops.Input) (ops.Input, error) {
	want := arg.Out[0]
	switch want.DType {
	case tensor.Invalid, tensor.Resource, tensor.Variant:
		return x, nil
	}
	var v *ops.Value
	switch x.(type) {
	case nil, *ops.Value, *tensor.Tensor, trackable.VariableLike, graph.Capturable:
		v = ops.Const(s, x)
	default:
		v = ops.ConstOf(s, want.DType, x)
	}
	if s.Err() != nil {
		return v, nil
	}
	if got := v.Fact(); got.DType != want.DType || !want.Shape.Compatible(got.Shape) {
		return nil, fmt.Errorf("argument %q is %v%v (got %v%v)", arg.Name, want.DType, want.Shape, got.DType, got.Shape.Anonymous())
	}
	return v, nil
}
