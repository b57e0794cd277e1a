// Package raw emits ops by their names: the way to what package ops has no
// function for. The kernels of the scope decide which names there are; a user's
// own are among them when function.Options.Kernels holds them.
//
//	y := raw.Emit(s, "Cumprod", raw.Attrs{raw.Bool("reverse", true)}, x, ops.Const(s, 0))[0]
package raw

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Attrs are an op's attributes; those that follow from the inputs' types may be
// left out.
type Attrs = graph.Attrs

// Attr is one of them.
type Attr = graph.Attr

// Emit runs the op called name and is its outputs; nil after a failure, which
// sticks to the scope. See [ops.Scope.Emit] and its relatives Emit0, Emit1 and
// EmitN, which never give nil.
func Emit(s *ops.Scope, name string, attrs Attrs, inputs ...ops.Input) []*ops.Value {
	return s.Emit(name, attrs, inputs...)
}

// Int is an integer attribute.
func Int(name string, v int64) Attr { return graph.Int(name, v) }

// Float is a float attribute.
func Float(name string, v float64) Attr { return graph.Float(name, v) }

// Bool is a boolean attribute.
func Bool(name string, v bool) Attr { return graph.Bool(name, v) }

// String is a string attribute.
func String(name, v string) Attr { return graph.String(name, v) }

// Type is an element type attribute.
func Type(name string, v tensor.DType) Attr { return graph.Type(name, v) }

// Shape is a shape attribute.
func Shape(name string, dims ...int) Attr {
	return graph.Shape(name, graph.Whole(tensor.Shape(dims).Clone()))
}

// Ints is a list of integers.
func Ints(name string, v ...int64) Attr { return graph.Ints(name, v...) }

// Types is a list of element types.
func Types(name string, v ...tensor.DType) Attr { return graph.Types(name, v...) }
