package optimizers

import (
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Adafactor is tf_keras.optimizers.Adafactor. Of the second moments of a matrix it keeps
// only the means of rows and columns. With the step t, counted from 1,
//
//	rho = min(rate, 1/sqrt(t)), alpha = max(Epsilon2, rms(variable)) * rho
//	beta = 1 - t^Beta2Decay
//	r = beta*r + (1-beta)*mean(g*g+Epsilon1, last axis)
//	c = beta*c + (1-beta)*mean(g*g+Epsilon1, last axis but one)
//	v = r/mean(r) * c                       // of two dimensions or more
//	v = beta*v + (1-beta)*(g*g+Epsilon1)    // of fewer
//	step = g / sqrt(v)
//	variable -= alpha * step / max(1, rms(step)/ClipThreshold)
//
// It has the new layout, because the legacy family has no Adafactor. Steps equal tf_keras's
// up to rounding, not byte for byte: TensorFlow's Rsqrt of vectors refines an estimate that
// depends on the processor, and its means add in another order.
type Adafactor struct {
	Base
	// Beta2Decay is the exponent with which the decay of the second moments grows.
	// Default of NewAdafactor: -0.8.
	Beta2Decay float64 `keras:"beta_2_decay"`
	// Epsilon1 is added to the squares. Default of NewAdafactor: 1e-30.
	Epsilon1 float64 `keras:"epsilon_1"`
	// Epsilon2 is the least root mean square of a variable that a step is in proportion
	// to. Default of NewAdafactor: 0.001.
	Epsilon2 float64 `keras:"epsilon_2"`
	// ClipThreshold is the largest root mean square of a step, before alpha. Default of
	// NewAdafactor: 1.
	ClipThreshold float64
	// RelativeStep limits a rate without a Schedule to 1/sqrt(t). It changes no number,
	// since rho is limited in any case. Default of NewAdafactor: true.
	RelativeStep bool
}

// NewAdafactor returns the optimizer with a learning rate, 0.001 in Keras, and Keras's other
// defaults.
func NewAdafactor(rate float64) *Adafactor {
	a := &Adafactor{Beta2Decay: -0.8, Epsilon1: 1e-30, Epsilon2: 1e-3, ClipThreshold: 1, RelativeStep: true}
	a.Init(a, rate)
	a.newOnly = true
	a.layout.Store(int32(NewLayout))
	return a
}

// SlotKinds lists the kinds of slots.
func (a *Adafactor) SlotKinds() []SlotKind {
	return []SlotKind{
		{Name: "r", List: "_r", Tag: "r", Shape: func(s tensor.Shape) (tensor.Shape, bool) {
			if len(s) < 2 {
				return nil, false
			}
			return s[:len(s)-1], true
		}},
		{Name: "c", List: "_c", Tag: "c", standIn: "r", joined: true, Shape: func(s tensor.Shape) (tensor.Shape, bool) {
			if len(s) < 2 {
				return nil, false
			}
			return append(s[:len(s)-2].Clone(), s[len(s)-1]), true
		}},
		{Name: "v", List: "_v", Tag: "v", joined: true},
	}
}

// UpdateStep changes a variable by its gradient. Adafactor has no UpdateRows: tf_keras makes whole
// tensors of slices.
func (a *Adafactor) UpdateStep(s *ops.Scope, u *Update) {
	rms := func(x ops.Input) *ops.Value { return ops.Sqrt(s, ops.Mean(s, ops.Square(s, x))) }
	r, c, v := u.slots[0], u.slots[1], u.slots[2]
	root := ops.Rsqrt(s, u.localStep())
	rho := ops.Minimum(s, u.rate(), root)
	alpha := ops.Mul(s, ops.Maximum(s, ops.ConstOf(s, u.dtype, float64(float32(a.Epsilon2))), rms(u.Variable)), rho)
	squares := ops.Add(s, ops.Square(s, u.Gradient), a.Epsilon1)
	beta := ops.Sub(s, 1, ops.Pow(s, u.localStep(), a.Beta2Decay))
	mean := func(old ops.Input, x *ops.Value) *ops.Value {
		return ops.Add(s, ops.Mul(s, beta, old), ops.Mul(s, ops.Sub(s, 1, beta), x))
	}
	if len(u.Variable.ValueShape()) < 2 { // as when the slots were made
		ops.Assign(s, v, mean(v, squares))
	} else {
		ops.Assign(s, r, mean(r, ops.Mean(s, squares, -1)))
		ops.Assign(s, c, mean(c, ops.Mean(s, squares, -2)))
		rows := ops.Div(s, r, ops.MeanKeep(s, r, -1))
		ops.Assign(s, v, ops.Mul(s, ops.ExpandDims(s, rows, -1), ops.ExpandDims(s, c, -2)))
	}
	step := ops.Mul(s, u.Gradient, ops.Rsqrt(s, v))
	step = ops.Div(s, step, ops.Maximum(s, 1, ops.Div(s, rms(step), a.ClipThreshold)))
	ops.AssignAdd(s, u.Variable, ops.Mul(s, ops.Neg(s, alpha), step))
}
