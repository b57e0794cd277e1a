package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// Masking sets a mask on its output: a time step whose features all equal MaskValue
// is ignored by the layers after it, and its features are set to 0.
type Masking struct {
	base.Layer
	// MaskValue is the value of time steps to ignore. Default: 0.
	MaskValue float64
}

// Call sets the ignored time steps of x to 0.
func (m *Masking) Call(s *ops.Scope, x ops.Input) *ops.Value { return m.Run(s, m, x, nil) }

// Compute sets the ignored time steps of x to 0.
func (m *Masking) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return ops.Mul(s, x, ops.Cast(s, ops.ExpandDims(s, m.used(s, x), -1), x.DType()))
}

// ComputeMask returns a bool for each time step, false for those to ignore.
func (m *Masking) ComputeMask(s *ops.Scope, c *base.Invocation, _ []*ops.Value) []*ops.Value {
	return []*ops.Value{m.used(s, c.Inputs[0])}
}

func (m *Masking) used(s *ops.Scope, x *ops.Value) *ops.Value {
	return ops.Any(s, ops.NotEqual(s, x, ops.ConstOf(s, x.DType(), m.MaskValue)), -1)
}
