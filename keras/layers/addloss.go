package layers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// AddLoss adds its input, a scalar, to the losses that are minimized. tf_keras makes one for
// each call of add_loss on a functional model; its class is private (engine/base_layer.py).
type AddLoss struct {
	base.Layer
	// Unconditional marks a loss that doesn't depend on the inputs. It is kept, and does
	// nothing.
	Unconditional bool
}

// KeepsInputTypes marks a layer that casts no inputs.
func (l *AddLoss) KeepsInputTypes() {}

// Call adds x to the losses and returns it.
func (l *AddLoss) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

// Compute adds x to the losses and returns it.
func (l *AddLoss) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if shape := x.Fact().Shape; shape.HasRank() && shape.Rank() > 0 {
		return s.Fail("AddLoss", fmt.Errorf("the loss has the shape %v, want a scalar", shape))
	}
	base.AddLoss(s, x)
	return x
}
