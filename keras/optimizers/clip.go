package optimizers

import (
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
)

// limits are the limits of a step's gradients; nil for none.
type limits struct{ value, norm, global *float64 }

// limits returns the limits that apply. The new layouts use one only: the first positive one of
// ClipNorm, GlobalClipNorm and ClipValue.
func (o *Base) limits() limits {
	if o.isLegacy() {
		return limits{o.ClipValue, o.ClipNorm, o.GlobalClipNorm}
	}
	positive := func(x *float64) bool { return x != nil && *x > 0 }
	switch {
	case positive(o.ClipNorm):
		return limits{norm: o.ClipNorm}
	case positive(o.GlobalClipNorm):
		return limits{global: o.GlobalClipNorm}
	case positive(o.ClipValue):
		return limits{value: o.ClipValue}
	}
	return limits{}
}

// clip limits the gradients by the options, in tf_keras's order. used is the number of variables
// with a gradient; the others are left out of the result. With no limit g is returned unchanged.
func (o *Base) clip(s *ops.Scope, g grad.Gradients, used int) grad.Gradients {
	l := o.limits()
	if l == (limits{}) {
		return g
	}
	out := make(grad.Gradients, 0, used)
	for _, p := range g {
		if p.Grad == nil {
			continue
		}
		p.Grad = onValues(s, p.Grad, func(g *ops.Value) *ops.Value { return l.clipOne(s, g) })
		out = append(out, p)
	}
	if l.global != nil {
		sums := make([]*ops.Value, len(out))
		for i, p := range out {
			sums[i] = ops.L2Loss(s, valuesOf(p.Grad))
		}
		norm := ops.Sqrt(s, ops.Mul(s, ops.AddN(s, sums), 2))
		scale := ops.Mul(s, ops.Minimum(s, ops.Div(s, 1, norm), 1 / *l.global), *l.global)
		// A norm that isn't finite makes all gradients NaN.
		scale = ops.Add(s, scale, ops.Sub(s, norm, norm))
		for i, p := range out {
			out[i].Grad = onValues(s, p.Grad, func(g *ops.Value) *ops.Value { return ops.Mul(s, g, scale) })
		}
	}
	return out
}

// clipOne limits one gradient's values. Slices of one row aren't added up before, as in tf_keras.
func (l limits) clipOne(s *ops.Scope, g *ops.Value) *ops.Value {
	if l.value != nil {
		g = ops.Clip(s, g, -*l.value, *l.value)
	}
	if l.norm != nil {
		norm := ops.Sqrt(s, ops.Sum(s, ops.Square(s, g)))
		g = ops.Div(s, ops.Mul(s, g, *l.norm), ops.Maximum(s, norm, *l.norm))
	}
	return g
}
