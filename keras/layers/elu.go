package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// ELU computes x for positive elements and Alpha·(exp(x)-1) for others.
type ELU struct {
	base.Layer
	// Alpha is the factor of negative inputs. Default: 1.
	Alpha *float64 `keras:",single,default=1.0"`
}

// PassesMask marks a layer whose output has the mask of its input.
func (e *ELU) PassesMask() {}

// MapsElements allows ragged inputs: each element is computed independently.
func (e *ELU) MapsElements() (string, error) { return "elements", nil }

// Call returns the activation of x.
func (e *ELU) Call(s *ops.Scope, x ops.Input) *ops.Value { return e.Run(s, e, x, nil) }

// Compute returns the activation of x.
func (e *ELU) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	y := ops.Elu(s, x)
	if *e.Alpha == 1 {
		return y
	}
	return ops.Where(s, ops.Greater(s, x, 0.0), y, ops.Mul(s, y, float64(float32(*e.Alpha))))
}
