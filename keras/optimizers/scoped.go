package optimizers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/optimizers/schedules"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

func outside(method, scoped string) error { return base.Outside("optimizers", method, scoped) }

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
