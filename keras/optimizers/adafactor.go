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
// It has the new layout; the legacy family knows no Adafactor. Keras' option
// relative_step is not here, since rho is the same with it and without. Files of
// tf_keras are equal up to rounding, not byte for byte: TensorFlow's Rsqrt of vectors
// refines an estimate that each processor has of its own, and its means add in
// another order.
type Adafactor struct {
	Base
	// Beta2Decay says how the decay of the second moments grows with the steps.
	// Default of NewAdafactor: -0.8.
	Beta2Decay float64
	// Epsilon1 is added to the squares. Default of NewAdafactor: 1e-30.
	Epsilon1 float64
	// Epsilon2 is the least size of a variable that a step is in proportion to.
	// Default of NewAdafactor: 0.001.
	Epsilon2 float64
	// ClipThreshold is how large a step may be, before alpha. Default of
	// NewAdafactor: 1.
	ClipThreshold float64
}

// NewAdafactor makes an Adafactor with a learning rate (Keras' default is 0.001)
// and Keras' other defaults.
func NewAdafactor(rate float64) *Adafactor {
	a := &Adafactor{Beta2Decay: -0.8, Epsilon1: 1e-30, Epsilon2: 1e-3, ClipThreshold: 1}
	a.init("Adafactor", rate, a)
	a.layout.Store(int32(NewLayout))
	return a
}

func (a *Adafactor) hypers() []hyper { return nil }

func (a *Adafactor) slots() []slotKind {
	return []slotKind{
		{name: "r", list: "_r", tag: "r", legacy: true, new: true, shape: func(s tensor.Shape) (tensor.Shape, bool) {
			if len(s) < 2 {
				return nil, false
			}
			return s[:len(s)-1], true
		}},
		{name: "c", list: "_c", tag: "c", standIn: "r", legacy: true, new: true, joined: true, shape: func(s tensor.Shape) (tensor.Shape, bool) {
			if len(s) < 2 {
				return nil, false
			}
			return append(s[:len(s)-2].Clone(), s[len(s)-1]), true
		}},
		{name: "v", list: "_v", tag: "v", legacy: true, new: true, joined: true},
	}
}

func (a *Adafactor) update(s *ops.Scope, u *update) {
	rms := func(x ops.Input) *ops.Value { return ops.Sqrt(s, ops.Mean(s, ops.Square(s, x))) }
	r, c, v := u.slots[0], u.slots[1], u.slots[2]
	root := ops.Rsqrt(s, u.localStep())
	rho := ops.Minimum(s, u.rate(), root)
	alpha := ops.Mul(s, ops.Maximum(s, ops.ConstOf(s, u.dtype, float64(float32(a.Epsilon2))), rms(u.v)), rho)
	squares := ops.Add(s, ops.Square(s, u.grad), a.Epsilon1)
	beta := ops.Sub(s, 1, ops.Pow(s, u.localStep(), a.Beta2Decay))
	mean := func(old ops.Input, x *ops.Value) *ops.Value {
		return ops.Add(s, ops.Mul(s, beta, old), ops.Mul(s, ops.Sub(s, 1, beta), x))
	}
	if len(u.v.ValueShape()) < 2 { // as when the slots were made
		ops.Assign(s, v, mean(v, squares))
	} else {
		ops.Assign(s, r, mean(r, ops.Mean(s, squares, -1)))
		ops.Assign(s, c, mean(c, ops.Mean(s, squares, -2)))
		rows := ops.Div(s, r, ops.MeanKeep(s, r, -1))
		ops.Assign(s, v, ops.Mul(s, ops.ExpandDims(s, rows, -1), ops.ExpandDims(s, c, -2)))
	}
	step := ops.Mul(s, u.grad, ops.Rsqrt(s, v))
	step = ops.Div(s, step, ops.Maximum(s, 1, ops.Div(s, rms(step), a.ClipThreshold)))
	ops.AssignAdd(s, u.v, ops.Mul(s, ops.Neg(s, alpha), step))
}

// updateRows takes the step of the whole tensor, as tf_keras does.
func (a *Adafactor) updateRows(s *ops.Scope, u *update, x ops.IndexedSlices) {
	u.grad = summed(s, x).Value(s)
	a.update(s, u)
}
