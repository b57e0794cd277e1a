package optimizers

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// SGD is tf_keras.optimizers.legacy.SGD, gradient descent with or without momentum:
//
//	variable -= rate*g                       // Momentum 0
//	a = Momentum*a - rate*g                  // else
//	variable += a                            // plain
//	variable += Momentum*a - rate*g          // Nesterov
//
// With momentum its slot is "momentum". The names of slots, the fused ops and the formulas for
// slices of a table are tf_keras's, and must stay.
type SGD struct {
	Base
	// Momentum is the part of the last step that is added to the next one. Default: 0.
	Momentum float64
	// Nesterov looks ahead by the momentum. Default: false.
	Nesterov bool
}

// NewSGD returns the optimizer with a learning rate, 0.01 in Keras.
func NewSGD(rate float64) *SGD {
	g := new(SGD)
	g.Init(g, rate)
	return g
}

// Hypers lists the hyperparameters of the legacy layout.
func (g *SGD) Hypers() []Hyper { return []Hyper{{"momentum", g.Momentum}} }

// SlotKinds lists the kinds of slots.
func (g *SGD) SlotKinds() []SlotKind {
	// The SGD of the new family keeps momentums even if it doesn't use them.
	return []SlotKind{{Name: "momentum", List: "momentums", Tag: "m", skipLegacy: g.Momentum == 0}}
}

// UpdateStep changes a variable by its gradient.
func (g *SGD) UpdateStep(s *ops.Scope, u *Update) {
	if u.slots[0] == nil {
		ops.ApplyGradientDescent(s, u.Variable, u.rate(), u.Gradient)
		return
	}
	momentum := u.hyper(numFirst, "momentum", g.Momentum)
	ops.ApplyKerasMomentum(s, u.Variable, u.slots[0], u.rate(), u.Gradient, momentum, &ops.MomentumOptions{Nesterov: g.Nesterov})
}

// UpdateRows changes a variable by a gradient of slices: the rows of the slices alone.
// With a momentum, all rows change in the new layout.
func (g *SGD) UpdateRows(s *ops.Scope, u *Update, x ops.IndexedSlices) {
	m, rate := u.slots[0], u.rate()
	step := func(values *ops.Value) *ops.Value { return ops.Mul(s, ops.Neg(s, values), rate) }
	switch {
	case m == nil && u.isLegacy: // several slices of one row are added one by one
		ops.ScatterAdd(s, u.Variable, x.Indices, step(x.Values))
	case m == nil:
		x = summed(s, x)
		ops.ScatterAdd(s, u.Variable, x.Indices, step(x.Values))
	case u.isLegacy:
		x = summed(s, x)
		s.Emit0("ResourceSparseApplyKerasMomentum", graph.Attrs{graph.Bool("use_nesterov", g.Nesterov)},
			ops.Handle(s, u.Variable), ops.Handle(s, m), rate, x.Values, x.Indices, u.hyper(numFirst, "momentum", g.Momentum))
	default:
		x = summed(s, x)
		momentum, add := u.hyper(numFirst, "momentum", g.Momentum), step(x.Values)
		ops.Assign(s, m, ops.Mul(s, m, momentum))
		ops.ScatterAdd(s, m, x.Indices, add)
		if g.Nesterov {
			ops.ScatterAdd(s, u.Variable, x.Indices, add)
			ops.AssignAdd(s, u.Variable, ops.Mul(s, m, momentum))
		} else {
			ops.AssignAdd(s, u.Variable, m)
		}
	}
}

// CheckOptions returns an error if an option is out of range.
func (g *SGD) CheckOptions() error { return between("Momentum", g.Momentum, 0, 1) }
