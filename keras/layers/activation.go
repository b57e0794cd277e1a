package layers

import (
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// Activation applies an activation to its input.
type Activation struct {
	base.Layer
	// Activation is the function. It is required.
	Activation activations.Activation
}

// PassesMask marks a layer whose output has the mask of its input.
func (a *Activation) PassesMask() {}

// MapsElements allows ragged inputs: each element is computed independently, or each
// innermost row.
func (a *Activation) MapsElements() (string, error) {
	if a.Activation == activations.Softmax || a.Activation == activations.LogSoftmax {
		return "rows", nil
	}
	return "elements", nil
}

// Call returns the activation of x.
func (a *Activation) Call(s *ops.Scope, x ops.Input) *ops.Value { return a.Run(s, a, x, nil) }

// Compute returns the activation of x.
func (a *Activation) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return activate(s, a.Activation, x)
}
