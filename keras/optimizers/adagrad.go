package optimizers

import "github.com/cairnml/cairn/ops"

// Adagrad gives each element a rate that falls with the gradients that it has
// got, tf_keras.optimizers.legacy.Adagrad:
//
//	accumulator += g*g
//	variable -= rate*g / (sqrt(accumulator)+Epsilon)
//
// The newer optimizer, see [Layout], has Epsilon below the root. Its slot is
// "accumulator".
type Adagrad struct {
	Base
	// InitialAccumulator is the accumulators' first value. Default of NewAdagrad:
	// 0.1.
	InitialAccumulator float64
	// Epsilon keeps the divisor from 0. Default of NewAdagrad: 1e-7.
	Epsilon float64
}

// NewAdagrad makes an Adagrad with a learning rate (Keras' default is 0.001)
// and Keras' other defaults.
func NewAdagrad(rate float64) *Adagrad {
	a := &Adagrad{InitialAccumulator: 0.1, Epsilon: 1e-7}
	a.init("Adagrad", rate, a)
	return a
}

func (a *Adagrad) hypers() []hyper { return nil }

func (a *Adagrad) slots() []slotKind {
	return []slotKind{{name: "accumulator", list: "_accumulators", tag: "accumulator", legacy: true, new: true, initial: a.InitialAccumulator}}
}

func (a *Adagrad) update(s *ops.Scope, u *update) {
	acc := u.slots[0]
	if !u.isNew {
		ops.ApplyAdagrad(s, u.v, acc, u.rate(), u.number(numEpsilon, a.Epsilon), u.grad)
		return
	}
	ops.AssignAdd(s, acc, ops.Square(s, u.grad))
	ops.AssignSub(s, u.v, ops.Div(s, ops.Mul(s, u.grad, u.rate()), ops.Sqrt(s, ops.Add(s, acc, a.Epsilon))))
}

func (a *Adagrad) updateRows(s *ops.Scope, u *update, x ops.IndexedSlices) {
	x = summed(s, x)
	acc := u.slots[0]
	if !u.isNew {
		s.Emit0("ResourceSparseApplyAdagradV2", nil, ops.Handle(s, u.v), ops.Handle(s, acc), u.rate(), u.number(numEpsilon, a.Epsilon), x.Values, x.Indices)
		return
	}
	ops.ScatterAdd(s, acc, x.Indices, ops.Square(s, x.Values))
	root := ops.Sqrt(s, ops.Add(s, ops.Gather(s, acc, x.Indices), a.Epsilon))
	ops.ScatterAdd(s, u.v, x.Indices, ops.Div(s, ops.Mul(s, ops.Neg(s, u.rate()), x.Values), root))
}
