package keras

import (
	"fmt"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// A Go number that a function reads while it is traced would stay what it was in
// all later calls, without a word. So what gives or takes a number without a
// scope is refused there, and has a form that takes one.

// ErrInTrace is what a method without a scope gives inside of a function that is
// being traced.
var ErrInTrace = trackable.ErrInTrace

// outside returns an error inside of a function that is being traced; scoped is
// the method's form that takes a scope.
func outside(method, scoped string) error {
	site, ok := ops.InTrace()
	if !ok {
		return nil
	}
	return fmt.Errorf("%s: keras: %s %w; %s does it in each", site, method, ErrInTrace, scoped)
}

// Rate returns the rate of the next step at this point of a function, before
// Decay, a float32 scalar.
func (o *OptimizerBase) Rate(s *ops.Scope) *ops.Value {
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
		return s.Fail("Schedule", errNoRate)
	}
	return ops.Cast(s, rate, tensor.Float32)
}

// AssignRate changes the learning rate at this point of a function. With a
// Schedule it is an error.
func (o *OptimizerBase) AssignRate(s *ops.Scope, rate ops.Input) {
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
func (o *OptimizerBase) Steps(s *ops.Scope) *ops.Value {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.make(); err != nil {
		return s.Fail("Optimizer.Steps", err)
	}
	return ops.ReadVariable(s, o.iter)
}
