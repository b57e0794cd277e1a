package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
)

// ActivityRegularization passes its input on and adds a loss of it: L1 times the sum of
// |x| plus L2 times the sum of x², divided by the batch's size.
type ActivityRegularization struct {
	base.Layer
	// L1 and L2 are the factors. Default: 0.
	L1, L2 float64
}

// PassesMask marks a layer whose output has the mask of its input.
func (a *ActivityRegularization) PassesMask() {}

// ActivityPenalty returns the regularizer of the output.
func (a *ActivityRegularization) ActivityPenalty() regularizers.Regularizer {
	return regularizers.L1L2{L1: a.L1, L2: a.L2}
}

// Call returns x.
func (a *ActivityRegularization) Call(s *ops.Scope, x ops.Input) *ops.Value {
	return a.Run(s, a, x, nil)
}

// Compute returns x.
func (a *ActivityRegularization) Compute(_ *ops.Scope, x *ops.Value) *ops.Value { return x }
