package optimizers

import (
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Adafactor keeps of a matrix' second moments the means of the rows and of the
// columns only, tf_keras.optimizers.Adafactor. With the step t, counted from 1,
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
// It has the new layout; the legacy family has no Adafactor. Files of tf_keras are equal up to rounding, not byte for byte: TensorFlow's Rsqrt of vectors
// refines an estimate that each processor has of its own, and its means add in
// another order.
type Adafactor struct {
	Base
	// Beta2Decay says how the decay of the second moments grows with the steps.
	// Default of NewAdafactor: -0.8.
	Beta2Decay float64 `keras:"beta_2_decay"`
	// Epsilon1 is added to the squares. Default of NewAdafactor: 1e-30.
	Epsilon1 float64 `keras:"epsilon_1"`
	// Epsilon2 is the least size of a variable that a step is in proportion to.
	// Default of NewAdafactor: 0.001.
	Epsilon2 float64 `keras:"epsilon_2"`
	// ClipThreshold is how large a step may be, before alpha. Default of
	// NewAdafactor: 1.
	ClipThreshold float64
	// RelativeStep limits a rate without a Schedule to 1/sqrt(t). It changes no number,
	// since rho is limited in any case. Default of NewAdafactor: true.
	RelativeStep bool
}

// NewAdafactor makes an Adafactor with a learning rate (Keras' default is 0.001)
// and Keras' other defaults.
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

// UpdateStep changes a variable by its gradient.
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

// UpdateRows takes the step of the whole tensor, as tf_keras does.
func (a *Adafactor) UpdateRows(s *ops.Scope, u *Update, x ops.IndexedSlices) {
	u.Gradient = summed(s, x).Value(s)
	a.UpdateStep(s, u)
}
