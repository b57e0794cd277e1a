package optimizers

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// SGD is gradient descent with or without momentum,
// tf_keras.optimizers.legacy.SGD:
//
//	variable -= rate*g                       // Momentum 0
//	a = Momentum*a - rate*g                  // else
//	variable += a                            // plain
//	variable += Momentum*a - rate*g          // Nesterov
//
// With momentum its slot is "momentum".
type SGD struct {
	Base
	// Momentum is how much of the last step is taken again. Default: 0.
	Momentum float64
	// Nesterov looks ahead by the momentum. Default: false.
	Nesterov bool
}

// NewSGD makes an SGD with a learning rate; Keras' default is 0.01.
func NewSGD(rate float64) *SGD {
	g := new(SGD)
	g.init("SGD", rate, g)
	return g
}

func (g *SGD) hypers() []hyper { return []hyper{{"momentum", g.Momentum}} }

func (g *SGD) slots() []slotKind {
	// The newer SGD keeps momentums even if it doesn't use them.
	return []slotKind{{name: "momentum", list: "momentums", tag: "m", legacy: g.Momentum != 0, new: true}}
}

func (g *SGD) update(s *ops.Scope, u *update) {
	if u.slots[0] == nil {
		ops.ApplyGradientDescent(s, u.v, u.rate(), u.grad)
		return
	}
	momentum := u.hyper(numFirst, "momentum", g.Momentum)
	ops.ApplyKerasMomentum(s, u.v, u.slots[0], u.rate(), u.grad, momentum, &ops.MomentumOptions{Nesterov: g.Nesterov})
}

func (g *SGD) updateRows(s *ops.Scope, u *update, x ops.IndexedSlices) {
	m, rate := u.slots[0], u.rate()
	step := func(values *ops.Value) *ops.Value { return ops.Mul(s, ops.Neg(s, values), rate) }
	switch {
	case m == nil && !u.isNew: // several slices of one row are added one by one
		ops.ScatterAdd(s, u.v, x.Indices, step(x.Values))
	case m == nil:
		x = summed(s, x)
		ops.ScatterAdd(s, u.v, x.Indices, step(x.Values))
	case !u.isNew:
		x = summed(s, x)
		s.Emit0("ResourceSparseApplyKerasMomentum", graph.Attrs{graph.Bool("use_nesterov", g.Nesterov)},
			ops.Handle(s, u.v), ops.Handle(s, m), rate, x.Values, x.Indices, u.hyper(numFirst, "momentum", g.Momentum))
	default:
		x = summed(s, x)
		momentum, add := u.hyper(numFirst, "momentum", g.Momentum), step(x.Values)
		ops.Assign(s, m, ops.Mul(s, m, momentum))
		ops.ScatterAdd(s, m, x.Indices, add)
		if g.Nesterov {
			ops.ScatterAdd(s, u.v, x.Indices, add)
			ops.AssignAdd(s, u.v, ops.Mul(s, m, momentum))
		} else {
			ops.AssignAdd(s, u.v, m)
		}
	}
}
