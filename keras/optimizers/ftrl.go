package optimizers

import (
	"fmt"

	"github.com/cairnml/cairn/ops"
)

// Ftrl is tf_keras.optimizers.legacy.Ftrl, which follows the regularized leader. It suits
// shallow models with many features:
//
//	n = accumulator + g*g
//	sigma = (n^-power - accumulator^-power) / rate
//	linear += g + 2*shrinkage*variable - sigma*variable
//	quadratic = n^-power / rate + 2*(l2 + Beta/(2*rate))
//	variable = (clip(linear, -l1, l1) - linear) / quadratic
//	accumulator = n
//
// power is LearningRatePower; l1, l2 and shrinkage are the three regularization strengths.
// Its slots are accumulator and linear.
type Ftrl struct {
	Base
	// LearningRatePower is the exponent with which the rate falls with the gradients, 0 or
	// less. Default of NewFtrl: -0.5.
	LearningRatePower float64
	// InitialAccumulatorValue is the accumulators' first value. Default of NewFtrl: 0.1.
	InitialAccumulatorValue float64
	// L1RegularizationStrength is the strength of the L1 penalty, which makes weights 0.
	// Default: 0.
	L1RegularizationStrength float64 `keras:"l1_regularization_strength"`
	// L2RegularizationStrength is the strength of the L2 penalty, which keeps weights
	// small. Default: 0.
	L2RegularizationStrength float64 `keras:"l2_regularization_strength"`
	// L2ShrinkageRegularizationStrength is the strength of a penalty that is added to
	// every gradient. Default: 0.
	L2ShrinkageRegularizationStrength float64 `keras:"l2_shrinkage_regularization_strength"`
	// Beta is the number of that name in the paper. Default: 0.
	Beta float64
}

// NewFtrl returns the optimizer with a learning rate, 0.001 in Keras, and Keras's other
// defaults.
func NewFtrl(rate float64) *Ftrl {
	f := &Ftrl{LearningRatePower: -0.5, InitialAccumulatorValue: 0.1}
	f.Init(f, rate)
	return f
}

// Hypers lists the hyperparameters of the legacy layout.
func (f *Ftrl) Hypers() []Hyper {
	return []Hyper{{"learning_rate_power", f.LearningRatePower}, {"l1_regularization_strength", f.L1RegularizationStrength},
		{"l2_regularization_strength", f.L2RegularizationStrength}, {"beta", f.Beta}}
}

// SlotKinds lists the kinds of slots.
func (f *Ftrl) SlotKinds() []SlotKind {
	return []SlotKind{
		{Name: "accumulator", List: "_accumulators", Tag: "accumulator", Initial: f.InitialAccumulatorValue, single: true},
		{Name: "linear", List: "_linears", Tag: "linear", joined: true, paired: true},
	}
}

// UpdateStep changes a variable by its gradient.
func (f *Ftrl) UpdateStep(s *ops.Scope, u *Update) {
	accum, linear, rate := u.slots[0], u.slots[1], u.rate()
	if u.isLegacy {
		l2 := f.legacyL2(s, u)
		l1 := u.hyper(numFirstPower, "l1_regularization_strength", f.L1RegularizationStrength)
		power := u.hyper(numSecondPower, "learning_rate_power", f.LearningRatePower)
		ops.ApplyFtrl(s, u.Variable, accum, linear, u.Gradient, rate, l1, l2, u.number(numEpsilon, float64(float32(f.L2ShrinkageRegularizationStrength))), power)
		return
	}
	l2 := ops.Add(s, ops.Div(s, f.Beta, ops.Mul(s, rate, 2)), f.L2RegularizationStrength)
	shrunk := ops.Add(s, u.Gradient, ops.Mul(s, u.Variable, 2*f.L2ShrinkageRegularizationStrength))
	total := ops.Add(s, accum, ops.Pow(s, u.Gradient, 2))
	now, before := ops.Pow(s, total, -f.LearningRatePower), ops.Pow(s, accum, -f.LearningRatePower)
	sigma := ops.Div(s, ops.Sub(s, now, before), rate)
	ops.AssignAdd(s, linear, ops.Sub(s, shrunk, ops.Mul(s, sigma, u.Variable)))
	quadratic := ops.Add(s, ops.Div(s, now, rate), ops.Mul(s, l2, 2))
	clipped := ops.Clip(s, linear, -f.L1RegularizationStrength, f.L1RegularizationStrength)
	ops.Assign(s, u.Variable, ops.Div(s, ops.Sub(s, clipped, linear), quadratic))
	ops.Assign(s, accum, total)
}

// UpdateRows changes the rows; the new family knows whole tensors only.
func (f *Ftrl) UpdateRows(s *ops.Scope, u *Update, x ops.IndexedSlices) {
	x = summed(s, x)
	if !u.isLegacy {
		u.Gradient = x.Value(s)
		f.UpdateStep(s, u)
		return
	}
	rate, l1, l2, power := u.rate(), u.hyper(numFirstPower, "l1_regularization_strength", f.L1RegularizationStrength), f.legacyL2(s, u), u.hyper(numSecondPower, "learning_rate_power", f.LearningRatePower)
	vars := []ops.Input{ops.Handle(s, u.Variable), ops.Handle(s, u.slots[0]), ops.Handle(s, u.slots[1]), x.Values, x.Indices, rate, l1, l2}
	if f.L2ShrinkageRegularizationStrength <= 0 {
		s.Emit0("ResourceSparseApplyFtrl", nil, append(vars, power)...)
		return
	}
	s.Emit0("ResourceSparseApplyFtrlV2", nil, append(vars, u.number(numEpsilon, float64(float32(f.L2ShrinkageRegularizationStrength))), power)...)
}

// legacyL2 returns the strength of L2RegularizationStrength with Beta's part.
func (f *Ftrl) legacyL2(s *ops.Scope, u *Update) ops.Input {
	beta := u.hyper(numSecond, "beta", f.Beta)
	return ops.Add(s, u.hyper(numFirst, "l2_regularization_strength", f.L2RegularizationStrength), ops.Div(s, beta, ops.Mul(s, u.rate(), 2)))
}

// legacyOrder lists the keys of the legacy config.
func (f *Ftrl) legacyOrder() []string {
	return []string{"initial_accumulator_value", "learning_rate_power", "l1_regularization_strength", "l2_regularization_strength", "beta", "l2_shrinkage_regularization_strength"}
}

// CheckOptions returns an error if an option is out of range.
func (f *Ftrl) CheckOptions() error {
	for _, o := range []struct {
		name string
		x    float64
	}{
		{"InitialAccumulatorValue", f.InitialAccumulatorValue},
		{"L1RegularizationStrength", f.L1RegularizationStrength},
		{"L2RegularizationStrength", f.L2RegularizationStrength},
		{"L2ShrinkageRegularizationStrength", f.L2ShrinkageRegularizationStrength},
	} {
		if !(o.x >= 0) {
			return fmt.Errorf("%s is %v, want 0 or more", o.name, o.x)
		}
	}
	if !(f.LearningRatePower <= 0) {
		return fmt.Errorf("LearningRatePower is %v, want 0 or less", f.LearningRatePower)
	}
	return nil
}
