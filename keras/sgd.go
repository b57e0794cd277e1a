package keras

import "github.com/cairnml/cairn/ops"

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
	OptimizerBase
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
	ops.ApplyKerasMomentum(s, u.v, u.slots[0], u.rate(), u.grad, momentum, g.Nesterov)
}
