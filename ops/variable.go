package ops

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

var errRank0 = errors.New("the logits need a dimension for the classes")

func errRate(rate float64) error {
	return fmt.Errorf("the rate %v must be at least 0 and below 1", rate)
}

func variableOf(x variableLike) *trackable.Variable {
	if v, ok := x.(*trackable.Variable); ok {
		return v
	}
	defer func() { _ = recover() }() // a nil struct pointer around the variable
	return x.AsVariable()
}

// ReadVariable is v's value at this point: later updates don't change it. Ops
// that are given the variable itself as an input read it too, more cheaply.
func ReadVariable(s *Scope, v *trackable.Variable) *Value {
	if !s.alive() {
		return s.failed()
	}
	return s.Emit1("ReadVariableOp", nil, s.handleOf(v))
}

// Assign sets v to x, which must have v's type and a shape that v takes.
func Assign(s *Scope, v *trackable.Variable, x Input) { s.assign("AssignVariableOp", v, x) }

// AssignAdd adds x to v.
func AssignAdd(s *Scope, v *trackable.Variable, x Input) { s.assign("AssignAddVariableOp", v, x) }

// AssignSub subtracts x from v.
func AssignSub(s *Scope, v *trackable.Variable, x Input) { s.assign("AssignSubVariableOp", v, x) }

func (s *Scope) assign(op string, v *trackable.Variable, x Input) {
	if !s.alive() {
		return
	}
	if v != nil {
		if d := v.DType(); d != tensor.Invalid {
			if _, weak, err := s.peek(x); weak && err == nil {
				x = ConstOf(s, d, x)
			}
		}
	}
	s.Emit0(op, nil, s.handleOf(v), x)
}

// Handle is v's handle, as the ops that read and write variables take it when
// they are emitted by name.
func Handle(s *Scope, v *trackable.Variable) *Value {
	if v == nil {
		return s.Fail("VarHandleOp", errors.New("the variable is nil"))
	}
	return s.handleOf(v)
}
