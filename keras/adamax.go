package keras

import "github.com/cairnml/cairn/ops"

// Adamax is Adam with the largest gradient of late in place of the second
// moment, tf_keras.optimizers.legacy.Adamax:
//
//	m += (g-m) * (1-Beta1)
//	v = max(Beta2*v, |g|)
//	variable -= rate / (1-Beta1^t) * m / (v+Epsilon)
//
// Its slots are m and v.
type Adamax struct {
	OptimizerBase
	// Beta1 is the decay of the first moments. Default of NewAdamax: 0.9.
	Beta1 float64
	// Beta2 is the decay of the largest gradients. Default of NewAdamax: 0.999.
	Beta2 float64
	// Epsilon keeps the divisor from 0. Default of NewAdamax: 1e-7.
	Epsilon float64
}

// NewAdamax makes an Adamax with a learning rate (Keras' default is 0.001) and
// Keras' other defaults.
func NewAdamax(rate float64) *Adamax {
	a := &Adamax{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-7}
	a.init("Adamax", rate, a)
	return a
}

func (a *Adamax) hypers() []hyper { return []hyper{{"beta_1", a.Beta1}, {"beta_2", a.Beta2}} }

func (a *Adamax) slots() []slotKind {
	return []slotKind{
		{name: "m", list: "_m", tag: "m", legacy: true, new: true},
		{name: "v", list: "_u", tag: "u", legacy: true, new: true, joined: true},
	}
}

func (a *Adamax) update(s *ops.Scope, u *update) {
	m, v := u.slots[0], u.slots[1]
	b1 := u.hyper(numFirst, "beta_1", a.Beta1)
	power := u.power(numFirstPower, b1)
	if !u.isNew {
		ops.ApplyAdaMax(s, u.v, m, v, power, u.rate(), b1, u.hyper(numSecond, "beta_2", a.Beta2), u.number(numEpsilon, a.Epsilon), u.grad)
		return
	}
	ops.AssignAdd(s, m, ops.Mul(s, ops.Sub(s, u.grad, m), 1-a.Beta1))
	ops.Assign(s, v, ops.Maximum(s, ops.Mul(s, v, a.Beta2), ops.Abs(s, u.grad)))
	divisor := ops.Mul(s, ops.Sub(s, 1, power), ops.Add(s, v, a.Epsilon))
	ops.AssignSub(s, u.v, ops.Div(s, ops.Mul(s, u.rate(), m), divisor))
}
