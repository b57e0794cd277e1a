package optimizers

import (
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// RMSprop is tf_keras.optimizers.legacy.RMSprop. It divides gradients by the root of a
// running mean of their squares:
//
//	ms = Rho*ms + (1-Rho)*g*g
//	mg = Rho*mg + (1-Rho)*g                              // Centered
//	variable -= rate*g / (sqrt(ms-mg*mg)+Epsilon)        // Momentum 0
//	mom = Momentum*mom + rate*g / sqrt(ms-mg*mg+Epsilon) // else
//	variable -= mom
//
// In the new family and in Keras 3, see [Layout], Epsilon is under the root in both cases.
// The slots are rms, momentum and mg.
type RMSprop struct {
	Base
	// Rho is the decay of the running means. Default of NewRMSprop: 0.9.
	Rho float64
	// Momentum is the part of the last step that is added to the next one. Default: 0.
	Momentum float64
	// Epsilon keeps the divisor from 0. Default of NewRMSprop: 1e-7.
	Epsilon float64
	// Centered divides by an estimate of the variance. Default: false.
	Centered bool
}

// NewRMSprop returns the optimizer with a learning rate, 0.001 in Keras, and Keras's other
// defaults.
func NewRMSprop(rate float64) *RMSprop {
	r := &RMSprop{Rho: 0.9, Epsilon: 1e-7}
	r.Init(r, rate)
	r.EMAOverwriteFrequency = 100
	return r
}

// Hypers lists the hyperparameters of the legacy layout.
func (r *RMSprop) Hypers() []Hyper { return []Hyper{{"momentum", r.Momentum}, {"rho", r.Rho}} }

// SlotKinds lists the kinds of slots.
func (r *RMSprop) SlotKinds() []SlotKind {
	mom, mean := r.Momentum != 0, r.Centered
	return []SlotKind{
		{Name: "rms", List: "_velocities", Tag: "velocity"},
		{Name: "momentum", List: "_momentums", Tag: "momentum", skipLegacy: !mom, skipNew: !mom, empty: true},
		{Name: "mg", List: "_average_gradients", Tag: "average_gradient", skipLegacy: !mean, skipNew: !mean, empty: true},
	}
}

// UpdateStep changes a variable by its gradient.
func (r *RMSprop) UpdateStep(s *ops.Scope, u *Update) {
	ms, mom, mg := u.slots[0], u.slots[1], u.slots[2]
	rho := u.hyper(numFirst, "rho", r.Rho)
	if mom != nil && u.isLegacy {
		momentum := u.hyper(numSecond, "momentum", r.Momentum)
		if mg != nil {
			ops.ApplyCenteredRMSProp(s, u.Variable, mg, ms, mom, u.rate(), rho, momentum, r.Epsilon, u.Gradient)
		} else {
			ops.ApplyRMSProp(s, u.Variable, ms, mom, u.rate(), rho, momentum, r.Epsilon, u.Gradient)
		}
		return
	}
	// Keras has no fused op for the rest. The new family computes 1-rho from the
	// option, the legacy one from its float32 value.
	var rest ops.Input = 1 - r.Rho
	if !u.isLegacy {
		rho = r.Rho
	} else {
		rest = ops.Sub(s, 1, rho)
	}
	mean := ops.Add(s, ops.Mul(s, ms, rho), ops.Mul(s, ops.Square(s, u.Gradient), rest))
	ops.Assign(s, ms, mean)
	if mg != nil {
		avg := ops.Add(s, ops.Mul(s, mg, rho), ops.Mul(s, u.Gradient, rest))
		ops.Assign(s, mg, avg)
		mean = ops.Sub(s, mean, ops.Square(s, avg))
	}
	scaled := ops.Mul(s, u.Gradient, u.rate())
	if u.isLegacy {
		ops.AssignSub(s, u.Variable, ops.Div(s, scaled, ops.Add(s, ops.Sqrt(s, mean), r.Epsilon)))
		return
	}
	step := ops.Mul(s, scaled, ops.Rsqrt(s, ops.Add(s, mean, r.Epsilon)))
	if mom != nil {
		step = ops.Add(s, ops.Mul(s, mom, r.Momentum), step)
		ops.Assign(s, mom, step)
	}
	ops.AssignSub(s, u.Variable, step)
}

// UpdateRows changes a variable by slices.
func (r *RMSprop) UpdateRows(s *ops.Scope, u *Update, x ops.IndexedSlices) {
	x = summed(s, x)
	ms, mom, mg := u.slots[0], u.slots[1], u.slots[2]
	rho := u.hyper(numFirst, "rho", r.Rho)
	if mom != nil && u.isLegacy {
		op, vars := "ResourceSparseApplyRMSProp", []ops.Input{ops.Handle(s, u.Variable)}
		if mg != nil {
			op, vars = "ResourceSparseApplyCenteredRMSProp", append(vars, ops.Handle(s, mg))
		}
		s.Emit0(op, nil, append(vars, ops.Handle(s, ms), ops.Handle(s, mom), u.rate(), rho,
			u.hyper(numSecond, "momentum", r.Momentum), u.number(numEpsilon, r.Epsilon), x.Values, x.Indices)...)
		return
	}
	var rest ops.Input = 1 - r.Rho
	if !u.isLegacy {
		rho = r.Rho
	} else {
		rest = ops.Sub(s, 1, rho)
	}
	// All means decay; the rows are added, and divided by their own means.
	mean := func(v *trackable.Variable, rows *ops.Value) *ops.Value {
		ops.Assign(s, v, ops.Mul(s, v, rho))
		ops.ScatterAdd(s, v, x.Indices, ops.Mul(s, rows, rest))
		return ops.Gather(s, v, x.Indices)
	}
	variance := mean(ms, ops.Square(s, x.Values))
	if mg != nil {
		variance = ops.Sub(s, variance, ops.Square(s, mean(mg, x.Values)))
	}
	if u.isLegacy {
		scaled := ops.Mul(s, x.Values, ops.Neg(s, u.rate()))
		ops.ScatterAdd(s, u.Variable, x.Indices, ops.Div(s, scaled, ops.Add(s, ops.Sqrt(s, variance), r.Epsilon)))
		return
	}
	step := ops.Mul(s, ops.Mul(s, x.Values, u.rate()), ops.Rsqrt(s, ops.Add(s, variance, r.Epsilon)))
	if mom == nil {
		ops.ScatterAdd(s, u.Variable, x.Indices, ops.Neg(s, step))
		return
	}
	ops.Assign(s, mom, ops.Mul(s, mom, r.Momentum))
	ops.ScatterAdd(s, mom, x.Indices, step)
	ops.AssignSub(s, u.Variable, mom)
}

// CheckOptions returns an error if an option is out of range.
func (r *RMSprop) CheckOptions() error { return between("Momentum", r.Momentum, 0, 1) }
