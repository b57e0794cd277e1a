package layers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// ReLU computes x above Threshold, at most MaxValue, and NegativeSlope times x - Threshold
// for other x.
type ReLU struct {
	base.Layer
	// MaxValue is the largest output, 0 or more. Default: none.
	MaxValue *float64 `keras:",single"`
	// NegativeSlope is the slope below Threshold, 0 or more. Default: 0.
	NegativeSlope float64 `keras:",single"`
	// Threshold is the input below which NegativeSlope holds, 0 or more. Default: 0.
	Threshold float64 `keras:",single"`
}

// PassesMask marks a layer whose output has the mask of its input.
func (r *ReLU) PassesMask() {}

// MapsElements allows ragged inputs: each element is computed independently.
func (r *ReLU) MapsElements() (string, error) { return "elements", nil }

// Call returns the activation of x.
func (r *ReLU) Call(s *ops.Scope, x ops.Input) *ops.Value { return r.Run(s, r, x, nil) }

// Compute returns the activation of x, by the ops that tf_keras's backend.relu chooses.
func (r *ReLU) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	slope, threshold := float64(float32(r.NegativeSlope)), float64(float32(r.Threshold))
	if !(slope >= 0) || !(threshold >= 0) || r.MaxValue != nil && !(*r.MaxValue >= 0) {
		return s.Fail("ReLU", fmt.Errorf("MaxValue, NegativeSlope and Threshold must be 0 or more"))
	}
	if slope != 0 && r.MaxValue == nil && threshold == 0 {
		return ops.LeakyRelu(s, x, slope)
	}
	var y *ops.Value
	switch {
	case threshold != 0:
		y = ops.Mul(s, x, ops.Cast(s, ops.Greater(s, x, threshold), x.DType()))
	case r.MaxValue != nil && *r.MaxValue == 6:
		y = ops.Relu6(s, x)
	default:
		y = ops.Relu(s, x)
	}
	if r.MaxValue != nil && !(threshold == 0 && *r.MaxValue == 6) {
		y = ops.Clip(s, y, ops.ConstOf(s, x.DType(), 0.0), ops.ConstOf(s, x.DType(), float64(float32(*r.MaxValue))))
	}
	if slope == 0 {
		return y
	}
	below := ops.Neg(s, x)
	if threshold != 0 {
		below = ops.Add(s, below, threshold)
	}
	return ops.Sub(s, y, ops.Mul(s, ops.Relu(s, below), slope))
}
