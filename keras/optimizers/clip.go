package optimizers

import (
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
)

// clip limits the gradients as the options say, in Keras' order.
func (o *Base) clip(s *ops.Scope, g grad.Gradients, used int) grad.Gradients {
	if o.ClipValue <= 0 && o.ClipNorm <= 0 && o.GlobalClipNorm <= 0 {
		return g
	}
	out := make(grad.Gradients, 0, used)
	for _, p := range g {
		if p.Grad == nil {
			continue
		}
		p.Grad = onValues(s, p.Grad, func(g *ops.Value) *ops.Value { return o.clipOne(s, g) })
		out = append(out, p)
	}
	if o.GlobalClipNorm > 0 {
		sums := make([]*ops.Value, len(out))
		for i, p := range out {
			sums[i] = ops.L2Loss(s, valuesOf(p.Grad))
		}
		norm := ops.Sqrt(s, ops.Mul(s, ops.AddN(s, sums), 2))
		scale := ops.Mul(s, ops.Minimum(s, ops.Div(s, 1, norm), 1/o.GlobalClipNorm), o.GlobalClipNorm)
		for i, p := range out {
			out[i].Grad = onValues(s, p.Grad, func(g *ops.Value) *ops.Value { return ops.Mul(s, g, scale) })
		}
	}
	return out
}

// clipOne limits one gradient's values. Of slices these are as they come, several
// of one row not yet added up.
func (o *Base) clipOne(s *ops.Scope, g *ops.Value) *ops.Value {
	if o.ClipValue > 0 {
		g = ops.Clip(s, g, -o.ClipValue, o.ClipValue)
	}
	if o.ClipNorm > 0 {
		norm := ops.Sqrt(s, ops.Sum(s, ops.Square(s, g)))
		g = ops.Div(s, ops.Mul(s, g, o.ClipNorm), ops.Maximum(s, norm, o.ClipNorm))
	}
	return g
}
