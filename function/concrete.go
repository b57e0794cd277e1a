package function

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// Concrete is a traced function together with what it captures.
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
		s.Fail("Apply", fmt.Errorf("the function %s takes %d arguments, not %d", c.Function.Name, c.NumArgs(), len(in)))
		return nil
	}
	args := append(slices.Clone(in), ops.CapturedInputs(s, c.Captures)...)
	return s.EmitN(len(c.Function.Results), callOp(c.Function), callAttrs(c.Function), args...)
}
