package ops

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/callers"
	"github.com/cairnml/cairn/tensor"
)

// OpError is a failure of an op.
type OpError struct {
	Op     string      // TensorFlow's op name
	Attrs  graph.Attrs // the attributes
	Inputs []InputSpec // types and shapes of the inputs
	Site   string      // the program's line of the call, "file.go:12"
	Err    error       // the cause
}

// InputSpec is the type and shape of an input.
type InputSpec struct {
	DType tensor.DType
	Shape tensor.Shape
}

// String returns "float32[2,3]".
func (i InputSpec) String() string {
	if i.DType == tensor.Invalid {
		return "?"
	}
	return i.DType.String() + i.Shape.String()
}

// Error returns "file.go:12: MatMul(float32[2,4], float32[3,2]): cause".
func (e *OpError) Error() string {
	var b strings.Builder
	if e.Site != "" {
		b.WriteString(e.Site)
		b.WriteString(": ")
	}
	b.WriteString(e.Op)
	if len(e.Inputs) > 0 {
		b.WriteByte('(')
		for i, in := range e.Inputs {
			if i > 0 {
				b.WriteString(", ")
			}
			if i == 8 {
				fmt.Fprintf(&b, "… %d more", len(e.Inputs)-i)
				break
			}
			b.WriteString(in.String())
		}
		b.WriteByte(')')
	}
	b.WriteString(": ")
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap returns the cause.
func (e *OpError) Unwrap() error { return e.Err }

// fail makes err, as an [OpError] of op, the scope's error if it has none. ins are the
// inputs that the error describes; nil ones are unknown.
func (s *Scope) fail(op string, attrs graph.Attrs, err error, ins ...*Value) {
	if s.step.err != nil {
		return
	}
	if err == nil {
		err = errors.New("the operation failed without an error")
	}
	e := &OpError{Op: op, Attrs: attrs, Err: err, Site: callers.Site()}
	for _, v := range ins {
		spec := InputSpec{}
		if v != nil {
			spec = InputSpec{v.DType(), v.Shape()}
			if v.IsHandle() {
				spec.Shape = v.Variable().Shape()
			}
		}
		e.Inputs = append(e.Inputs, spec)
	}
	s.step.err = e
}

// failed returns a value without data, the result of an op that failed.
func (s *Scope) failed() *Value { return &Value{step: s.step} }
