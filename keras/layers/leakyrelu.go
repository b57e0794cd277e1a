package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// LeakyReLU computes x for positive elements and Alpha·x for others.
type LeakyReLU struct {
	base.Layer
	// Alpha is the slope of negative inputs. Default: 0.3.
	Alpha *float64 `keras:",single,default=0.3"`
}

// PassesMask marks a layer whose output has the mask of its input.
func (l *LeakyReLU) PassesMask() {}

// MapsElements allows ragged inputs: each element is computed independently.
func (l *LeakyReLU) MapsElements() (string, error) { return "elements", nil }

// Call returns the activation of x.
func (l *LeakyReLU) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

// Compute returns the activation of x.
func (l *LeakyReLU) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if *l.Alpha == 0 {
		return ops.Relu(s, x)
	}
	return ops.LeakyRelu(s, x, float64(float32(*l.Alpha)))
}
