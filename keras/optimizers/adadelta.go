package optimizers

import (
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// Adadelta is tf_keras.optimizers.legacy.Adadelta. It adapts the rate of each element to
// recent gradients and steps:
//
//	accum_grad = Rho*accum_grad + (1-Rho)*g*g
//	delta = g * sqrt(accum_var+Epsilon) / sqrt(accum_grad+Epsilon)
//	accum_var = Rho*accum_var + (1-Rho)*delta*delta
//	variable -= rate*delta
//
// Its slots are accum_grad and accum_var.
type Adadelta struct {
	Base
	// Rho is the decay of the running means. Default of NewAdadelta: 0.95.
	Rho float64
	// Epsilon keeps the divisor from 0. Default of NewAdadelta: 1e-7.
	Epsilon float64
}

// NewAdadelta returns the optimizer with a learning rate, 0.001 in Keras, and Keras's other
// defaults.
func NewAdadelta(rate float64) *Adadelta {
	a := &Adadelta{Rho: 0.95, Epsilon: 1e-7}
	a.Init(a, rate)
	return a
}

// Hypers lists the hyperparameters of the legacy layout.
func (a *Adadelta) Hypers() []Hyper { return []Hyper{{"rho", a.Rho}} }

// SlotKinds lists the kinds of slots.
func (a *Adadelta) SlotKinds() []SlotKind {
	return []SlotKind{
		{Name: "accum_grad", List: "_accumulated_grads", Tag: "accumulated_grad"},
		{Name: "accum_var", List: "_accumulated_delta_vars", Tag: "accumulated_delta_var", joined: true},
	}
}

// UpdateStep changes a variable by its gradient.
func (a *Adadelta) UpdateStep(s *ops.Scope, u *Update) {
	grads, deltas := u.slots[0], u.slots[1]
	if u.isLegacy {
		ops.ApplyAdadelta(s, u.Variable, grads, deltas, u.rate(), u.hyper(numFirst, "rho", a.Rho), u.number(numEpsilon, a.Epsilon), u.Gradient)
		return
	}
	ops.Assign(s, grads, a.mean(s, grads, u.Gradient))
	a.move(s, u, grads, deltas, u.Gradient)
}

// mean returns the running mean old, updated by the square of x.
func (a *Adadelta) mean(s *ops.Scope, old ops.Input, x *ops.Value) *ops.Value {
	return ops.Add(s, ops.Mul(s, old, a.Rho), ops.Mul(s, ops.Mul(s, x, 1-a.Rho), x))
}

// move takes the step of a gradient that grads contains already.
func (a *Adadelta) move(s *ops.Scope, u *Update, grads, deltas *trackable.Variable, g *ops.Value) {
	root := func(x ops.Input) *ops.Value { return ops.Sqrt(s, ops.Add(s, x, a.Epsilon)) }
	delta := ops.Div(s, ops.Mul(s, ops.Neg(s, root(deltas)), g), root(grads))
	ops.Assign(s, deltas, a.mean(s, deltas, delta))
	ops.AssignAdd(s, u.Variable, ops.Mul(s, delta, u.rate()))
}

// UpdateRows changes a variable by a gradient of slices. In the new layout all rows
// change, in the legacy layout those of the slices alone.
func (a *Adadelta) UpdateRows(s *ops.Scope, u *Update, x ops.IndexedSlices) {
	x = summed(s, x)
	grads, deltas := u.slots[0], u.slots[1]
	if u.isLegacy {
		s.Emit0("ResourceSparseApplyAdadelta", nil, ops.Handle(s, u.Variable), ops.Handle(s, grads), ops.Handle(s, deltas),
			u.rate(), u.hyper(numFirst, "rho", a.Rho), u.number(numEpsilon, a.Epsilon), x.Values, x.Indices)
		return
	}
	ops.AssignAdd(s, grads, ops.Mul(s, grads, a.Rho-1))
	ops.ScatterAdd(s, grads, x.Indices, ops.Mul(s, ops.Square(s, x.Values), 1-a.Rho))
	a.move(s, u, grads, deltas, x.Value(s))
}
