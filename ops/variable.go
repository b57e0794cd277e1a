package ops

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

var errRank0 = errors.New("the logits need a dimension for the classes")

func errRate(rate float64) error {
	return fmt.Errorf("the rate %v must be at least 0 and below 1", rate)
}

// variableOf returns the variable that x is or embeds, nil if there is none.
func variableOf(x trackable.VariableLike) (v *trackable.Variable) {
	if v, ok := x.(*trackable.Variable); ok || x == nil {
		return v
	}
	if r := reflect.ValueOf(x); r.Kind() == reflect.Pointer && r.IsNil() {
		return nil
	}
	return x.AsVariable()
}

// ReadVariable returns v's value at this point: later updates don't change it.
// Ops that are given the variable itself as an input read it too, more cheaply.
func ReadVariable(s *Scope, v trackable.VariableLike) *Value {
	if !s.alive() {
		return s.failed()
	}
	return s.Emit1("ReadVariableOp", nil, s.handleOf(v))
}

// Assign sets v, a variable or a struct that embeds one, to x, which must have
// v's type and a shape that v takes.
func Assign(s *Scope, v trackable.VariableLike, x Input) {
	if !s.alive() {
		return
	}
	target := variableOf(v)
	if target == nil || !s.IsTracing() {
		s.assign("AssignVariableOp", v, x, graph.Bool("validate_shape", true))
		return
	}
	// TensorFlow validates a value's shape by that of the variable's last value. So a
	// variable that takes several shapes declares them in the graph.
	want := shapeOf(target)
	if !want.Known() && want.HasRank() && !narrower(s.shapeOf(x), want) {
		if _, weak, err := s.peek(x); weak && err == nil {
			x = ConstOf(s, target.DType(), x)
		}
		x = s.Emit1("EnsureShape", graph.Attrs{graph.Shape("shape", want.Anonymous())}, x)
	}
	s.assign("AssignVariableOp", v, x, graph.Bool("validate_shape", want.Known()))
}

// narrower reports whether all shapes that match got also match want.
func narrower(got, want graph.PartialShape) bool {
	if !want.HasRank() {
		return true
	}
	if got.Rank() != want.Rank() || !got.HasRank() {
		return false
	}
	for i := range want.Rank() {
		if d := want.Dim(i); d >= 0 && got.Dim(i) != d {
			return false
		}
	}
	return true
}

// AssignAdd adds x to v.
func AssignAdd(s *Scope, v trackable.VariableLike, x Input) { s.assign("AssignAddVariableOp", v, x) }

// AssignSub subtracts x from v.
func AssignSub(s *Scope, v trackable.VariableLike, x Input) { s.assign("AssignSubVariableOp", v, x) }

// ScatterAdd adds rows to those rows of v that indices name. A row that is named
// more than once gets them all.
func ScatterAdd(s *Scope, v trackable.VariableLike, indices, rows Input) {
	s.scatter("ResourceScatterAdd", v, indices, rows)
}

// ScatterUpdate sets those rows of v that indices name.
func ScatterUpdate(s *Scope, v trackable.VariableLike, indices, rows Input) {
	s.scatter("ResourceScatterUpdate", v, indices, rows)
}

func (s *Scope) scatter(op string, v trackable.VariableLike, indices, rows Input) {
	if s.alive() {
		s.Emit0(op, nil, s.handleOf(v), Const(s, indices), rows)
	}
}

func (s *Scope) assign(op string, v trackable.VariableLike, x Input, attrs ...graph.Attr) {
	if !s.alive() {
		return
	}
	if v := variableOf(v); v != nil {
		if d := v.DType(); d != tensor.Invalid {
			if _, weak, err := s.peek(x); weak && err == nil {
				x = ConstOf(s, d, x)
			}
		}
	}
	s.Emit0(op, attrs, s.handleOf(v), x)
}

// Handle returns v's handle, as the ops that read and write variables take it
// when they are emitted by name.
func Handle(s *Scope, v trackable.VariableLike) *Value {
	h := s.handleOf(v)
	if h == nil {
		return s.Fail("VarHandleOp", errors.New("the variable is nil"))
	}
	return h
}
