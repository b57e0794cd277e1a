// Package schedules has the learning rates of tf_keras.optimizers.schedules, which depend
// on the number of steps. Optimizers take them in their field Schedule.
package schedules

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Schedule is a learning rate that depends on the step. It is computed by ops, so
// a traced function computes it again in every call. A pointer to a struct with
// variables is part of the optimizer's checkpoints.
type Schedule interface {
	// Rate returns the learning rate, a float32 scalar, after the given number of steps:
	// a scalar, 0 for the first step, of type int64 or of the type of the variable to
	// train.
	Rate(s *ops.Scope, step *ops.Value) *ops.Value
}

// Func is a function that is a [Schedule]. It has no config.
type Func func(s *ops.Scope, step *ops.Value) *ops.Value

// Rate calls f.
func (f Func) Rate(s *ops.Scope, step *ops.Value) *ops.Value { return f(s, step) }

// ErrNoRate reports a schedule whose Rate returned nil.
var ErrNoRate = errors.New("the Schedule returned no value; its Rate must return a scalar")

// At returns a schedule's rate after the given number of steps. It is for code outside of
// functions.
func At(schedule Schedule, step int64) (float32, error) {
	s := function.Eager(context.Background())
	defer func() { _ = s.Close() }()
	v := schedule.Rate(s, ops.Const(s, tensor.Scalar(step)))
	if err := s.Err(); err != nil {
		return 0, err
	}
	if v == nil {
		return 0, ErrNoRate
	}
	return ops.Item[float32](ops.Cast(s, v, tensor.Float32))
}

// Steps is a number of training steps in a schedule's config. tf_keras takes fractions too.
type Steps float64

// MarshalConfig returns an integer if the number is whole, as Python programs write
// it.
func (n Steps) MarshalConfig() (any, error) {
	if n == Steps(int64(n)) {
		return int64(n), nil
	}
	return float64(n), nil
}

// Classes lists the schedules for configs, under tf_keras's names.
func Classes() []config.Class {
	const module = "keras.optimizers.schedules"
	return []config.Class{
		config.Of[CosineDecay](module, "CosineDecay"),
		config.Of[CosineDecayRestarts](module, "CosineDecayRestarts"),
		config.Of[ExponentialDecay](module, "ExponentialDecay"),
		config.Of[InverseTimeDecay](module, "InverseTimeDecay"),
		config.Of[PiecewiseConstantDecay](module, "PiecewiseConstantDecay"),
		config.Of[PolynomialDecay](module, "PolynomialDecay"),
	}
}

// fail fails the scope, and reports true, if a schedule has no positive number of steps. It's a
// rule of ours: TensorFlow would return NaN or an infinite rate.
func (n Steps) fail(s *ops.Scope, schedule, field string) (*ops.Value, bool) {
	if n > 0 {
		return nil, false
	}
	return s.Fail(schedule, fmt.Errorf("%s is %v, want more than 0", field, float64(n))), true
}

// float32Step returns the step in the type that schedules compute with.
func float32Step(s *ops.Scope, step *ops.Value) *ops.Value { return ops.Cast(s, step, tensor.Float32) }

// fraction returns step/steps, rounded down to whole numbers if staircase is set.
func fraction(s *ops.Scope, step *ops.Value, steps Steps, staircase bool) *ops.Value {
	p := ops.Div(s, float32Step(s, step), float64(steps))
	if staircase {
		p = ops.Floor(s, p)
	}
	return p
}

// float32Of returns a Go number as a float32, the type of TensorFlow's Python
// numbers. The schedules compute in float32, in tf_keras's order of operations: their rates equal
// its bit for bit.
func float32Of(s *ops.Scope, x float64) *ops.Value { return ops.ConstOf(s, tensor.Float32, x) }
