package optimizers

import (
	"fmt"

	"github.com/cairnml/cairn/ops"
)

// Lion is tf_keras.optimizers.Lion. Its steps depend on the sign of a mean of gradient and
// momentum:
//
//	variable -= rate * sign(Beta1*m + (1-Beta1)*g)
//	m = Beta2*m + (1-Beta2)*g
//
// It has the new layout ([NewLayout]) only, because the legacy family has no Lion.
type Lion struct {
	Base
	// Beta1 is the weight of the momentum in the mean whose sign is the step. Default of
	// NewLion: 0.9.
	Beta1 float64 `keras:"beta_1"`
	// Beta2 is the decay of the momentum. Default of NewLion: 0.99.
	Beta2 float64 `keras:"beta_2"`
}

// NewLion returns the optimizer with a learning rate, 0.0001 in Keras, and Keras's other
// defaults.
func NewLion(rate float64) *Lion {
	l := &Lion{Beta1: 0.9, Beta2: 0.99}
	l.Init(l, rate)
	l.newOnly = true
	l.layout.Store(int32(NewLayout))
	return l
}

// SlotKinds lists the kinds of slots.
func (l *Lion) SlotKinds() []SlotKind {
	return []SlotKind{{Name: "m", List: "momentums", Tag: "m"}}
}

// UpdateStep changes a variable by its gradient.
func (l *Lion) UpdateStep(s *ops.Scope, u *Update) {
	m := u.slots[0]
	mix := func(place int, beta float64) *ops.Value {
		b := u.hyper(place, "", beta)
		return ops.Add(s, ops.Mul(s, m, b), ops.Mul(s, u.Gradient, ops.Sub(s, 1, b)))
	}
	ops.AssignSub(s, u.Variable, ops.Mul(s, ops.Sign(s, mix(numFirst, l.Beta1)), u.rate()))
	ops.Assign(s, m, mix(numSecond, l.Beta2))
}

// UpdateRows changes a variable by a gradient of slices. As in tf_keras, all rows of the
// momentum and of the variable change, not only those of the slices.
//
// The slot stores Beta1*m + (1-Beta1)*g until the variable is changed. Then it is divided by
// Beta1 to become the new momentum.
func (l *Lion) UpdateRows(s *ops.Scope, u *Update, x ops.IndexedSlices) {
	x = summed(s, x)
	m := u.slots[0]
	b1, b2 := u.hyper(numFirst, "", l.Beta1), u.hyper(numSecond, "", l.Beta2)
	mix := func(scaled *ops.Value, beta ops.Input) {
		ops.Assign(s, m, scaled)
		ops.ScatterAdd(s, m, x.Indices, ops.Mul(s, x.Values, ops.Sub(s, 1, beta)))
	}
	mix(ops.Mul(s, m, b1), b1)
	ops.AssignSub(s, u.Variable, ops.Mul(s, ops.Sign(s, m), u.rate()))
	mix(ops.Div(s, ops.Mul(s, m, b2), b1), ops.Div(s, b2, b1))
}

// CheckOptions returns an error if Beta1 is out of range, as tf_keras does: UpdateRows divides
// by it. Neither checks Beta2.
func (l *Lion) CheckOptions() error {
	if !(l.Beta1 > 0 && l.Beta1 <= 1) {
		return fmt.Errorf("Beta1 is %v, want more than 0, at most 1", l.Beta1)
	}
	return nil
}
