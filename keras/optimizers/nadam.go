package optimizers

import (
	"errors"

	"github.com/cairnml/cairn/ops"
)

// Nadam is tf_keras.optimizers.legacy.Nadam: [Adam] with Nesterov's momentum. With
// d = 0.96, and a momentum u(t) for each step t,
//
//	u(t) = Beta1 * (1 - d^(ScheduleDecay*t)/2), U = u(1)*…*u(t)
//	m = Beta1*m + (1-Beta1)*g
//	v = Beta2*v + (1-Beta2)*g*g
//	mean = (1-u(t))*g/(1-U) + u(t+1)*m/(1-U*u(t+1))
//	variable -= rate * mean / (sqrt(v/(1-Beta2^t))+Epsilon)
//
// In the new family and in Keras 3, see [Layout], ScheduleDecay is 1. The slots are m and v; the
// product U is a variable of the optimizer. It is updated once a step. TensorFlow updates
// it with each variable if a checkpoint was restored or the step is a tf.function.
type Nadam struct {
	Base
	// Beta1 is the decay of the first moments. Default of NewNadam: 0.9.
	Beta1 float64 `keras:"beta_1"`
	// Beta2 is the decay of the second moments. Default of NewNadam: 0.999.
	Beta2 float64 `keras:"beta_2"`
	// Epsilon keeps the divisor from 0. Default of NewNadam: 1e-7.
	Epsilon float64
	// ScheduleDecay is the speed at which the momentum grows. Only the legacy layout has
	// it, and saves it as "decay". Default of NewNadam: 0.004.
	ScheduleDecay float64 `keras:"-"`
}

// NewNadam returns the optimizer with a learning rate, 0.001 in Keras, and Keras's other
// defaults.
func NewNadam(rate float64) *Nadam {
	n := &Nadam{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-7, ScheduleDecay: 0.004}
	n.Init(n, rate)
	n.number = &keptNumber{edge: "momentum_cache", name: "momentum_cache", newEdge: "_u_product", newName: "Variable", initial: 1}
	return n
}

// Hypers lists the hyperparameters of the legacy layout.
func (n *Nadam) Hypers() []Hyper {
	return []Hyper{{"beta_1", n.Beta1}, {"beta_2", n.Beta2}, {"decay", n.ScheduleDecay}}
}

// SlotKinds lists the kinds of slots.
func (n *Nadam) SlotKinds() []SlotKind {
	return []SlotKind{
		{Name: "m", List: "_momentums", Tag: "m"},
		{Name: "v", List: "_velocities", Tag: "v", joined: true},
	}
}

// momenta are the numbers of a step that don't depend on the variable. They are computed once for
// each type of variables, and the product U is stored then.
type momenta struct {
	now, next       *ops.Value // u(t), u(t+1)
	restNow, rest   *ops.Value // 1-U, 1-U*u(t+1)
	restSecondPower *ops.Value // 1-Beta2^t
}

func (n *Nadam) momenta(s *ops.Scope, u *Update) momenta {
	if m, ok := u.memo.(momenta); ok {
		return m
	}
	b1 := u.hyper(numFirst, "beta_1", n.Beta1)
	step := u.localStep()
	later := ops.Cast(s, ops.Add(s, &u.o.iter.Variable, 2), u.dtype)
	at := func(step ops.Input) *ops.Value {
		if u.isLegacy {
			step = ops.Mul(s, n.ScheduleDecay, step)
		}
		power := ops.Pow(s, ops.ConstOf(s, u.dtype, float64(float32(0.96))), step)
		return ops.Mul(s, b1, ops.Sub(s, 1, ops.Mul(s, 0.5, power)))
	}
	m := momenta{now: at(step), next: at(later)}
	kept := u.o.number
	if kept.read == nil {
		kept.read = ops.ReadVariable(s, kept.variable)
	}
	product := ops.Mul(s, ops.Cast(s, kept.read, u.dtype), m.now)
	if u.dtype == kept.variable.DType() {
		ops.Assign(s, kept.variable, product)
	}
	m.restNow, m.rest = ops.Sub(s, 1, product), ops.Sub(s, 1, ops.Mul(s, product, m.next))
	b2 := u.hyper(numSecond, "beta_2", n.Beta2)
	m.restSecondPower = ops.Sub(s, 1, u.power(numSecondPower, b2))
	u.memo = m
	return m
}

// UpdateStep changes a variable by its gradient.
func (n *Nadam) UpdateStep(s *ops.Scope, u *Update) {
	k := n.momenta(s, u)
	b1, b2 := u.hyper(numFirst, "beta_1", n.Beta1), u.hyper(numSecond, "beta_2", n.Beta2)
	m, v, g := u.slots[0], u.slots[1], u.Gradient
	rest1, rest2 := ops.Sub(s, 1, b1), ops.Sub(s, 1, b2)
	if !u.isLegacy {
		ops.AssignAdd(s, m, ops.Mul(s, ops.Sub(s, g, m), rest1))
		ops.AssignAdd(s, v, ops.Mul(s, ops.Sub(s, ops.Square(s, g), v), rest2))
		n.move(s, u, k, g)
		return
	}
	ops.Assign(s, m, ops.Add(s, ops.Mul(s, b1, m), ops.Mul(s, rest1, g)))
	ops.Assign(s, v, ops.Add(s, ops.Mul(s, b2, v), ops.Mul(s, rest2, ops.Square(s, g))))
	ops.AssignSub(s, u.Variable, n.step(s, u, k, ops.ReadVariable(s, m), ops.ReadVariable(s, v), g))
}

// move takes the step of the new family and of Keras 3.
func (n *Nadam) move(s *ops.Scope, u *Update, k momenta, g *ops.Value) {
	m, v := u.slots[0], u.slots[1]
	mean := ops.Add(s, ops.Div(s, ops.Mul(s, k.next, m), k.rest), ops.Div(s, ops.Mul(s, ops.Sub(s, 1, k.now), g), k.restNow))
	root := ops.Sqrt(s, ops.Div(s, v, k.restSecondPower))
	ops.AssignSub(s, u.Variable, ops.Div(s, ops.Mul(s, mean, u.rate()), ops.Add(s, root, n.Epsilon)))
}

// step returns the legacy optimizer's step, of all or of some rows.
func (n *Nadam) step(s *ops.Scope, u *Update, k momenta, m, v, g *ops.Value) *ops.Value {
	mean := ops.Add(s, ops.Mul(s, ops.Sub(s, 1, k.now), ops.Div(s, g, k.restNow)), ops.Mul(s, k.next, ops.Div(s, m, k.rest)))
	root := ops.Sqrt(s, ops.Div(s, v, k.restSecondPower))
	return ops.Div(s, ops.Mul(s, u.rate(), mean), ops.Add(s, root, n.Epsilon))
}

// UpdateRows changes a variable by a gradient of slices. All rows of the means decay. In
// the legacy layout only the variable's rows of the slices change, in the new layout all.
func (n *Nadam) UpdateRows(s *ops.Scope, u *Update, x ops.IndexedSlices) {
	x = summed(s, x)
	k := n.momenta(s, u)
	b1, b2 := u.hyper(numFirst, "beta_1", n.Beta1), u.hyper(numSecond, "beta_2", n.Beta2)
	m, v := u.slots[0], u.slots[1]
	for i, rows := range []*ops.Value{x.Values, ops.Square(s, x.Values)} {
		mean, beta := u.slots[i], []ops.Input{b1, b2}[i]
		rest := ops.Sub(s, 1, beta)
		if !u.isLegacy {
			ops.AssignAdd(s, mean, ops.Mul(s, ops.Neg(s, mean), rest))
		} else {
			ops.Assign(s, mean, ops.Mul(s, mean, beta))
		}
		ops.ScatterAdd(s, mean, x.Indices, ops.Mul(s, rows, rest))
	}
	if !u.isLegacy {
		n.move(s, u, k, x.Value(s))
		return
	}
	step := n.step(s, u, k, ops.Gather(s, m, x.Indices), ops.Gather(s, v, x.Indices), x.Values)
	ops.ScatterAdd(s, u.Variable, x.Indices, ops.Neg(s, step))
}

// legacyDecay returns ScheduleDecay, which the legacy config has as decay.
func (n *Nadam) legacyDecay() *float64 { return &n.ScheduleDecay }

// CheckOptions returns an error if an option is out of range.
func (n *Nadam) CheckOptions() error {
	if n.Schedule != nil && n.isLegacy() {
		return errors.New("the legacy Nadam takes no Schedule; call SetLayout(NewLayout)")
	}
	return nil
}
