package optimizers

import "github.com/cairnml/cairn/ops"

// Adagrad is tf_keras.optimizers.legacy.Adagrad. The rate of each element falls with its
// gradients so far:
//
//	accumulator += g*g
//	variable -= rate*g / (sqrt(accumulator)+Epsilon)
//
// In the new family and in Keras 3, see [Layout], Epsilon is under the root. The slot is
// "accumulator".
type Adagrad struct {
	Base
	// InitialAccumulatorValue is the accumulators' first value. Default of NewAdagrad:
	// 0.1.
	InitialAccumulatorValue float64
	// Epsilon keeps the divisor from 0. Default of NewAdagrad: 1e-7.
	Epsilon float64
}

// NewAdagrad returns the optimizer with a learning rate, 0.001 in Keras, and Keras's other
// defaults.
func NewAdagrad(rate float64) *Adagrad {
	a := &Adagrad{InitialAccumulatorValue: 0.1, Epsilon: 1e-7}
	a.Init(a, rate)
	return a
}

// SlotKinds lists the kinds of slots.
func (a *Adagrad) SlotKinds() []SlotKind {
	return []SlotKind{{Name: "accumulator", List: "_accumulators", Tag: "accumulator", Initial: a.InitialAccumulatorValue}}
}

// UpdateStep changes a variable by its gradient.
func (a *Adagrad) UpdateStep(s *ops.Scope, u *Update) {
	acc := u.slots[0]
	if u.isLegacy {
		ops.ApplyAdagrad(s, u.Variable, acc, u.rate(), u.number(numEpsilon, a.Epsilon), u.Gradient)
		return
	}
	ops.AssignAdd(s, acc, ops.Square(s, u.Gradient))
	ops.AssignSub(s, u.Variable, ops.Div(s, ops.Mul(s, u.Gradient, u.rate()), ops.Sqrt(s, ops.Add(s, acc, a.Epsilon))))
}

// UpdateRows changes a variable by a gradient of slices: the rows of the slices alone.
func (a *Adagrad) UpdateRows(s *ops.Scope, u *Update, x ops.IndexedSlices) {
	x = summed(s, x)
	acc := u.slots[0]
	if u.isLegacy {
		s.Emit0("ResourceSparseApplyAdagradV2", nil, ops.Handle(s, u.Variable), ops.Handle(s, acc), u.rate(), u.number(numEpsilon, a.Epsilon), x.Values, x.Indices)
		return
	}
	ops.ScatterAdd(s, acc, x.Indices, ops.Square(s, x.Values))
	root := ops.Sqrt(s, ops.Add(s, ops.Gather(s, acc, x.Indices), a.Epsilon))
	ops.ScatterAdd(s, u.Variable, x.Indices, ops.Div(s, ops.Mul(s, ops.Neg(s, u.rate()), x.Values), root))
}
