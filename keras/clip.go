package keras

import (
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
)

// clip limits the gradients as the options say, in Keras' order.
func (o *OptimizerBase) clip(s *ops.Scope, g grad.Gradients, used int) grad.Gradients {
	if o.ClipValue <= 0 && o.ClipNorm <= 0 && o.GlobalClipNorm <= 0 {
		return g
	}
	out := make(grad.Gradients, 0, used)
	for _, p := range g {
		if p.Grad == nil {
			continue
		}
		if o.ClipValue > 0 {
			p.Grad = ops.Clip(s, p.Grad, -o.ClipValue, o.ClipValue)
		}
		if o.ClipNorm > 0 {
			norm := ops.Sqrt(s, ops.Sum(s, ops.Square(s, p.Grad)))
			p.Grad = ops.Div(s, ops.Mul(s, p.Grad, o.ClipNorm), ops.Maximum(s, norm, o.ClipNorm))
		}
		out = append(out, p)
	}
	if o.GlobalClipNorm > 0 {
		sums := make([]*ops.Value, len(out))
		for i, p := range out {
			sums[i] = ops.L2Loss(s, p.Grad)
		}
		norm := ops.Sqrt(s, ops.Mul(s, ops.AddN(s, sums), 2))
		scale := ops.Mul(s, ops.Minimum(s, ops.Div(s, 1, norm), 1/o.GlobalClipNorm), o.GlobalClipNorm)
		for i := range out {
			out[i].Grad = ops.Mul(s, out[i].Grad, scale)
		}
	}
	return out
}
