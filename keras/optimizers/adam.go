package optimizers

import (
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// Adam is tf_keras.optimizers.legacy.Adam:
//
//	alpha = rate * sqrt(1-Beta2^t) / (1-Beta1^t)
//	m += (g-m) * (1-Beta1)
//	v += (g*g-v) * (1-Beta2)
//	variable -= alpha*m / (sqrt(v)+Epsilon)
//
// Its slots are m and v, and vhat with AMSGrad.
type Adam struct {
	Base
	// Beta1 is the decay of the first moments. Default of NewAdam: 0.9.
	Beta1 float64 `keras:"beta_1"`
	// Beta2 is the decay of the second moments. Default of NewAdam: 0.999.
	Beta2 float64 `keras:"beta_2"`
	// Epsilon keeps the divisor from 0. Default of NewAdam: 1e-7, as Keras has it.
	Epsilon float64
	// AMSGrad divides by the largest second moment so far. Default: false.
	AMSGrad bool `keras:"amsgrad"`
}

// NewAdam returns the optimizer with a learning rate, 0.001 in Keras, and Keras's other
// defaults.
func NewAdam(rate float64) *Adam {
	a := &Adam{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-7}
	a.Init(a, rate)
	return a
}

// Hypers lists the hyperparameters of the legacy layout.
func (a *Adam) Hypers() []Hyper { return []Hyper{{"beta_1", a.Beta1}, {"beta_2", a.Beta2}} }

// SlotKinds lists the kinds of slots.
func (a *Adam) SlotKinds() []SlotKind { return adamSlots(a.AMSGrad) }

func adamSlots(amsgrad bool) []SlotKind {
	return []SlotKind{
		{Name: "m", List: "_momentums", Tag: "m"},
		{Name: "v", List: "_velocities", Tag: "v", joined: true},
		{Name: "vhat", List: "_velocity_hats", Tag: "vhat", skipLegacy: !amsgrad, skipNew: !amsgrad},
	}
}

// UpdateStep changes a variable by its gradient.
func (a *Adam) UpdateStep(s *ops.Scope, u *Update) { adamStep(s, u, a.Beta1, a.Beta2, a.Epsilon) }

// adamStep takes the step of Adam and AdamW: by a fused op in the legacy layout, by single ops in the new
// ones, as tf_keras's two families have it.
func adamStep(s *ops.Scope, u *Update, beta1, beta2, epsilon float64) {
	b1, b2 := u.hyper(numFirst, "beta_1", beta1), u.hyper(numSecond, "beta_2", beta2)
	m, v, vhat := u.slots[0], u.slots[1], u.slots[2]
	switch {
	case !u.isLegacy:
		// The new family has no fused op. It computes 1-beta from the options, not
		// from their float32 values, which matters for Beta2.
		ops.AssignAdd(s, m, ops.Mul(s, ops.Sub(s, u.Gradient, m), 1-beta1))
		ops.AssignAdd(s, v, ops.Mul(s, ops.Sub(s, ops.Square(s, u.Gradient), v), 1-beta2))
		if vhat != nil {
			ops.Assign(s, vhat, ops.Maximum(s, vhat, v))
			v = vhat
		}
		ops.AssignSub(s, u.Variable, ops.Div(s, ops.Mul(s, m, u.alpha(b1, b2)), ops.Add(s, ops.Sqrt(s, v), epsilon)))
	case vhat != nil:
		ops.ApplyAdamWithAmsgrad(s, u.Variable, m, v, vhat, u.power(numFirstPower, b1), u.power(numSecondPower, b2), u.rate(), b1, b2, u.number(numEpsilon, epsilon), u.Gradient)
	default:
		ops.ApplyAdam(s, u.Variable, m, v, u.power(numFirstPower, b1), u.power(numSecondPower, b2), u.rate(), b1, b2, u.number(numEpsilon, epsilon), u.Gradient)
	}
}

// UpdateRows changes a variable by a gradient of slices. All rows change, as adamRows says.
func (a *Adam) UpdateRows(s *ops.Scope, u *Update, x ops.IndexedSlices) {
	adamRows(s, u, x, a.Beta1, a.Beta2, a.Epsilon)
}

// adamRows decays all moments, not only those of the rows, and changes all of the variable, as
// tf_keras does for slices.
func adamRows(s *ops.Scope, u *Update, x ops.IndexedSlices, beta1, beta2, epsilon float64) {
	x = summed(s, x)
	b1, b2 := u.hyper(numFirst, "beta_1", beta1), u.hyper(numSecond, "beta_2", beta2)
	m, v, vhat := u.slots[0], u.slots[1], u.slots[2]
	decayRows(s, u, x, m, b1, beta1, x.Values)
	decayRows(s, u, x, v, b2, beta2, ops.Square(s, x.Values))
	if vhat != nil {
		ops.Assign(s, vhat, ops.Maximum(s, vhat, v))
		v = vhat
	}
	ops.AssignSub(s, u.Variable, ops.Div(s, ops.Mul(s, m, u.alpha(b1, b2)), ops.Add(s, ops.Sqrt(s, v), epsilon)))
}

// decayRows decays a mean and adds the rows of x to it. beta is the decay in the layout's
// precision. The new family computes 1-beta from option, the number itself.
func decayRows(s *ops.Scope, u *Update, x ops.IndexedSlices, mean *trackable.Variable, beta ops.Input, option float64, rows *ops.Value) {
	if !u.isLegacy {
		ops.AssignAdd(s, mean, ops.Mul(s, ops.Neg(s, mean), 1-option))
		ops.ScatterAdd(s, mean, x.Indices, ops.Mul(s, rows, 1-option))
		return
	}
	ops.Assign(s, mean, ops.Mul(s, mean, beta))
	ops.ScatterAdd(s, mean, x.Indices, ops.Mul(s, rows, ops.Sub(s, 1, beta)))
}

// alpha returns Adam's learning rate with both corrections.
func (u *Update) alpha(b1, b2 ops.Input) ops.Input {
	if u.known[numAlpha] == nil {
		b1Power, b2Power := u.power(numFirstPower, b1), u.power(numSecondPower, b2)
		root := ops.Sqrt(u.s, ops.Sub(u.s, 1, b2Power))
		u.known[numAlpha] = ops.Div(u.s, ops.Mul(u.s, u.rate(), root), ops.Sub(u.s, 1, b1Power))
	}
	return u.known[numAlpha]
}
