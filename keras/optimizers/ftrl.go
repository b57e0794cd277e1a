package optimizers

import "github.com/cairnml/cairn/ops"

// Ftrl follows the regularized leader, tf_keras.optimizers.legacy.Ftrl; it suits
// shallow models with many features:
//
//	n = accumulator + g*g
//	sigma = (n^-RatePower - accumulator^-RatePower) / rate
//	linear += g + 2*L2Shrinkage*variable - sigma*variable
//	quadratic = n^-RatePower / rate + 2*(L2 + Beta/(2*rate))
//	variable = (clip(linear, -L1, L1) - linear) / quadratic
//	accumulator = n
//
// Its slots are accumulator and linear.
type Ftrl struct {
	Base
	// RatePower says how the rate falls with the gradients; not above 0. Default
	// of NewFtrl: -0.5.
	RatePower float64
	// InitialAccumulator is the accumulators' first value. Default of NewFtrl: 0.1.
	InitialAccumulator float64
	// L1 is the strength of the pull towards 0 that makes weights 0. Default: 0.
	L1 float64
	// L2 is the strength of the pull towards 0 that keeps weights small. Default: 0.
	L2 float64
	// L2Shrinkage is the strength of a pull that acts with every gradient.
	// Default: 0.
	L2Shrinkage float64
	// Beta is the paper's. Default: 0.
	Beta float64
}

// NewFtrl makes an Ftrl with a learning rate (Keras' default is 0.001) and
// Keras' other defaults.
func NewFtrl(rate float64) *Ftrl {
	f := &Ftrl{RatePower: -0.5, InitialAccumulator: 0.1}
	f.init("Ftrl", rate, f)
	return f
}

func (f *Ftrl) hypers() []hyper {
	return []hyper{{"learning_rate_power", f.RatePower}, {"l1_regularization_strength", f.L1},
		{"l2_regularization_strength", f.L2}, {"beta", f.Beta}}
}

func (f *Ftrl) slots() []slotKind {
	return []slotKind{
		{name: "accumulator", list: "_accumulators", tag: "accumulator", legacy: true, new: true, initial: f.InitialAccumulator, single: true},
		{name: "linear", list: "_linears", tag: "linear", legacy: true, new: true, joined: true},
	}
}

func (f *Ftrl) update(s *ops.Scope, u *update) {
	accum, linear, rate := u.slots[0], u.slots[1], u.rate()
	if !u.isNew {
		l2 := f.legacyL2(s, u)
		l1 := u.hyper(numFirstPower, "l1_regularization_strength", f.L1)
		power := u.hyper(numSecondPower, "learning_rate_power", f.RatePower)
		ops.ApplyFtrl(s, u.v, accum, linear, u.grad, rate, l1, l2, u.number(numEpsilon, float64(float32(f.L2Shrinkage))), power)
		return
	}
	l2 := ops.Add(s, ops.Div(s, f.Beta, ops.Mul(s, rate, 2)), f.L2)
	shrunk := ops.Add(s, u.grad, ops.Mul(s, u.v, 2*f.L2Shrinkage))
	total := ops.Add(s, accum, ops.Pow(s, u.grad, 2))
	now, before := ops.Pow(s, total, -f.RatePower), ops.Pow(s, accum, -f.RatePower)
	sigma := ops.Div(s, ops.Sub(s, now, before), rate)
	ops.AssignAdd(s, linear, ops.Sub(s, shrunk, ops.Mul(s, sigma, u.v)))
	quadratic := ops.Add(s, ops.Div(s, now, rate), ops.Mul(s, l2, 2))
	clipped := ops.Clip(s, linear, -f.L1, f.L1)
	ops.Assign(s, u.v, ops.Div(s, ops.Sub(s, clipped, linear), quadratic))
	ops.Assign(s, accum, total)
}

// updateRows changes the rows; the newer optimizer knows whole tensors only.
func (f *Ftrl) updateRows(s *ops.Scope, u *update, x ops.IndexedSlices) {
	x = summed(s, x)
	if u.isNew {
		u.grad = x.Value(s)
		f.update(s, u)
		return
	}
	rate, l1, l2, power := u.rate(), u.hyper(numFirstPower, "l1_regularization_strength", f.L1), f.legacyL2(s, u), u.hyper(numSecondPower, "learning_rate_power", f.RatePower)
	vars := []ops.Input{ops.Handle(s, u.v), ops.Handle(s, u.slots[0]), ops.Handle(s, u.slots[1]), x.Values, x.Indices, rate, l1, l2}
	if f.L2Shrinkage <= 0 {
		s.Emit0("ResourceSparseApplyFtrl", nil, append(vars, power)...)
		return
	}
	s.Emit0("ResourceSparseApplyFtrlV2", nil, append(vars, u.number(numEpsilon, float64(float32(f.L2Shrinkage))), power)...)
}

// legacyL2 returns the strength of L2 with Beta's part.
func (f *Ftrl) legacyL2(s *ops.Scope, u *update) ops.Input {
	beta := u.hyper(numSecond, "beta", f.Beta)
	return ops.Add(s, u.hyper(numFirst, "l2_regularization_strength", f.L2), ops.Div(s, beta, ops.Mul(s, u.rate(), 2)))
}
