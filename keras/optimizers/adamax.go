package optimizers

import (
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// Adamax is tf_keras.optimizers.legacy.Adamax: [Adam] with a decaying maximum of the
// gradients in place of the second moment:
//
//	m += (g-m) * (1-Beta1)
//	v = max(Beta2*v, |g|)
//	variable -= rate / (1-Beta1^t) * m / (v+Epsilon)
//
// Its slots are m and v.
type Adamax struct {
	Base
	// Beta1 is the decay of the first moments. Default of NewAdamax: 0.9.
	Beta1 float64 `keras:"beta_1"`
	// Beta2 is the decay of the largest gradients. Default of NewAdamax: 0.999.
	Beta2 float64 `keras:"beta_2"`
	// Epsilon keeps the divisor from 0. Default of NewAdamax: 1e-7.
	Epsilon float64
}

// NewAdamax returns the optimizer with a learning rate, 0.001 in Keras, and Keras's other
// defaults.
func NewAdamax(rate float64) *Adamax {
	a := &Adamax{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-7}
	a.Init(a, rate)
	return a
}

// Hypers lists the hyperparameters of the legacy layout.
func (a *Adamax) Hypers() []Hyper { return []Hyper{{"beta_1", a.Beta1}, {"beta_2", a.Beta2}} }

// SlotKinds lists the kinds of slots.
func (a *Adamax) SlotKinds() []SlotKind {
	return []SlotKind{
		{Name: "m", List: "_m", Tag: "m"},
		{Name: "v", List: "_u", Tag: "u", joined: true},
	}
}

// UpdateStep changes a variable by its gradient.
func (a *Adamax) UpdateStep(s *ops.Scope, u *Update) {
	m, v := u.slots[0], u.slots[1]
	b1 := u.hyper(numFirst, "beta_1", a.Beta1)
	power := u.power(numFirstPower, b1)
	if u.isLegacy {
		ops.ApplyAdaMax(s, u.Variable, m, v, power, u.rate(), b1, u.hyper(numSecond, "beta_2", a.Beta2), u.number(numEpsilon, a.Epsilon), u.Gradient)
		return
	}
	ops.AssignAdd(s, m, ops.Mul(s, ops.Sub(s, u.Gradient, m), 1-a.Beta1))
	ops.Assign(s, v, ops.Maximum(s, ops.Mul(s, v, a.Beta2), ops.Abs(s, u.Gradient)))
	a.move(s, u, m, v, power)
}

// move takes the step of the new family and of Keras 3.
func (a *Adamax) move(s *ops.Scope, u *Update, m, v *trackable.Variable, power ops.Input) {
	divisor := ops.Mul(s, ops.Sub(s, 1, power), ops.Add(s, v, a.Epsilon))
	ops.AssignSub(s, u.Variable, ops.Div(s, ops.Mul(s, u.rate(), m), divisor))
}

// UpdateRows changes a variable by a gradient of slices. In the new layout all rows
// change, in the legacy layout those of the slices alone.
func (a *Adamax) UpdateRows(s *ops.Scope, u *Update, x ops.IndexedSlices) {
	x = summed(s, x)
	m, v := u.slots[0], u.slots[1]
	b1, b2 := u.hyper(numFirst, "beta_1", a.Beta1), u.hyper(numSecond, "beta_2", a.Beta2)
	power := u.power(numFirstPower, b1)
	if u.isLegacy { // only the rows change
		mRows := ops.Add(s, ops.Mul(s, ops.Gather(s, m, x.Indices), b1), ops.Mul(s, x.Values, ops.Sub(s, 1, b1)))
		vRows := ops.Maximum(s, ops.Mul(s, ops.Gather(s, v, x.Indices), b2), ops.Abs(s, x.Values))
		ops.ScatterUpdate(s, m, x.Indices, mRows)
		ops.ScatterUpdate(s, v, x.Indices, vRows)
		rate := ops.Div(s, ops.Neg(s, u.rate()), ops.Sub(s, 1, power))
		ops.ScatterAdd(s, u.Variable, x.Indices, ops.Mul(s, rate, ops.Div(s, mRows, ops.Add(s, vRows, a.Epsilon))))
		return
	}
	decayRows(s, u, x, m, b1, a.Beta1, x.Values)
	ops.Assign(s, v, ops.Mul(s, v, a.Beta2))
	rows := ops.Gather(s, v, x.Indices)
	ops.ScatterAdd(s, v, x.Indices, ops.Sub(s, ops.Maximum(s, rows, ops.Abs(s, x.Values)), rows))
	a.move(s, u, m, v, power)
}
