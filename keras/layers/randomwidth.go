package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// RandomWidth is [RandomHeight] for the width of images.
type RandomWidth RandomHeight

// BuildLayer makes the generator.
func (r *RandomWidth) BuildLayer(s *ops.Scope, in base.Shapes) error {
	return (*RandomHeight)(r).BuildLayer(s, in)
}

// Call changes the width of x in a training scope.
func (r *RandomWidth) Call(s *ops.Scope, x ops.Input) *ops.Value { return r.Run(s, r, x, nil) }

// Compute changes the width of x in a training scope.
func (r *RandomWidth) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return (*RandomHeight)(r).change(s, "RandomWidth", x, func(_, w **ops.Value) **ops.Value { return w })
}
