package optimizers

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/optimizers/schedules"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// This file has the methods that read and set an optimizer's numbers: each outside of functions
// with Go numbers, and on a scope with values. Callbacks and programs call them.

func outside(method, scoped string) error { return base.Outside("optimizers", method, scoped) }

var errScheduled = errors.New("the learning rate follows the optimizer's Schedule; set that to nil first")

// LearningRate returns the rate of the next step, before Decay. It is for code outside
// of functions: in a function that is being traced it is an error, because the trace would
// keep the number. [Base.Rate] reads it in each call.
func (o *Base) LearningRate() (float64, error) {
	if err := outside("LearningRate", "Rate"); err != nil {
		return 0, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.make(); err != nil {
		return 0, fmt.Errorf("optimizers: %w", err)
	}
	rate, err := o.baseRate()
	if err != nil {
		return 0, fmt.Errorf("optimizers: %w", err)
	}
	return rate, nil
}

func (o *Base) baseRate() (float64, error) {
	if o.Schedule == nil {
		return float64(o.rate.Get()), nil
	}
	rate, err := schedules.At(o.Schedule, o.iter.Get())
	return float64(rate), err
}

// SetLearningRate changes the learning rate from the next step on, after a restore too.
// With a Schedule it is an error, and in a function that is being traced; there
// [Base.AssignRate] does it in each call.
func (o *Base) SetLearningRate(rate float64) error {
	if err := outside("SetLearningRate", "AssignRate"); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Schedule != nil {
		return fmt.Errorf("optimizers: %w", errScheduled)
	}
	if err := o.make(); err != nil {
		return fmt.Errorf("optimizers: %w", err)
	}
	o.rate.Set(float32(rate))
	return nil
}

// Hyper returns the variable of a hyperparameter, to be read and set: "learning_rate"
// without a Schedule, and with the legacy layout "decay" and the optimizer's own, such as
// "beta_1" or "momentum". The options are their first values. Setting decay changes
// checkpoints only: steps use the option, as TensorFlow's do.
func (o *Base) Hyper(name string) (*trackable.Scalar[float32], error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.make(); err != nil {
		return nil, fmt.Errorf("optimizers: %w", err)
	}
	if h := o.hyper[name]; h != nil {
		return h, nil
	}
	if name == "learning_rate" && o.rate != nil {
		return o.rate, nil
	}
	known := slices.Sorted(maps.Keys(o.hyper))
	if !o.isLegacy() && o.rate != nil {
		known = []string{"learning_rate"}
	}
	return nil, fmt.Errorf("optimizers: %s has no hyperparameter %q; there are %q", o.Name, name, known)
}

// Iterations returns the number of steps taken, those before a restored checkpoint
// included. It is for code outside of functions, as [Base.LearningRate] is. [Base.Steps]
// reads it inside of them.
func (o *Base) Iterations() (int64, error) {
	if err := outside("Iterations", "Steps"); err != nil {
		return 0, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.make(); err != nil {
		return 0, fmt.Errorf("optimizers: %w", err)
	}
	return o.iter.Get(), nil
}

// Rate returns the rate of the next step at this point of a function, before
// Decay, a float32 scalar.
func (o *Base) Rate(s *ops.Scope) *ops.Value {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.make(); err != nil {
		return s.Fail("Optimizer.Rate", err)
	}
	if o.Schedule == nil {
		return ops.ReadVariable(s, o.rate)
	}
	rate := o.Schedule.Rate(s, ops.ReadVariable(s, o.iter))
	if rate == nil {
		return s.Fail("Schedule", schedules.ErrNoRate)
	}
	return ops.Cast(s, rate, tensor.Float32)
}

// AssignRate changes the learning rate at this point of a function. With a
// Schedule it is an error.
func (o *Base) AssignRate(s *ops.Scope, rate ops.Input) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Schedule != nil {
		s.Fail("Optimizer.AssignRate", errScheduled)
		return
	}
	if err := o.make(); err != nil {
		s.Fail("Optimizer.AssignRate", err)
		return
	}
	ops.Assign(s, o.rate, rate)
}

// Steps returns the number of steps taken at this point of a function, an int64
// scalar.
func (o *Base) Steps(s *ops.Scope) *ops.Value {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.make(); err != nil {
		return s.Fail("Optimizer.Steps", err)
	}
	return ops.ReadVariable(s, o.iter)
}
