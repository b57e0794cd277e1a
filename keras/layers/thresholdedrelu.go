package layers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// ThresholdedReLU computes x for elements above Theta and 0 for others.
type ThresholdedReLU struct {
	base.Layer
	// Theta is the threshold, 0 or more. Default: 1.
	Theta *float64 `keras:",single,default=1.0"`
}

// PassesMask marks a layer whose output has the mask of its input.
func (t *ThresholdedReLU) PassesMask() {}

// MapsElements allows ragged inputs: each element is computed independently.
func (t *ThresholdedReLU) MapsElements() (string, error) { return "elements", nil }

// Call returns the activation of x.
func (t *ThresholdedReLU) Call(s *ops.Scope, x ops.Input) *ops.Value { return t.Run(s, t, x, nil) }

// Compute returns the activation of x.
func (t *ThresholdedReLU) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if !(*t.Theta >= 0) {
		return s.Fail("ThresholdedReLU", fmt.Errorf("the threshold is %v, want 0 or more", *t.Theta))
	}
	return ops.Mul(s, x, ops.Cast(s, ops.Greater(s, x, float64(float32(*t.Theta))), x.DType()))
}
