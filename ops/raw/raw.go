// Package raw has a function for each op that has a kernel, with the op's own
// name, inputs and attributes. [Emit] runs the others: a user's ops, and those whose
// names can't be exported in Go. Package ops is easier to use: it has shorter names,
// axes are integers, and functions make several ops.
//
//	y := raw.Cumprod(s, x, ops.Const(s, 0), &raw.CumprodOptions{Reverse: true})
//
// Attributes that follow from the inputs are left out. Those without a default
// are parameters, the others fields of the options, whose zero values mean the
// defaults. If the default isn't the zero value, the field is an [Opt].
package raw

//go:generate go run gen.go

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// Emit runs the op called name and returns its outputs; nil after a failure, which
// the scope keeps. See [ops.Scope.Emit] and its relatives Emit0, Emit1 and EmitN,
// which never return nil.
func Emit(s *ops.Scope, name string, attrs graph.Attrs, inputs ...ops.Input) []*ops.Value {
	return s.Emit(name, attrs, inputs...)
}

// Opt is an attribute whose default isn't its type's zero value. The zero Opt
// means the default, [Set] makes another.
type Opt[T any] struct {
	v   T
	set bool
}

// Set returns v as the value of an attribute.
func Set[T any](v T) Opt[T] { return Opt[T]{v, true} }
