package ops

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/trackable"
)

// executor makes the ops of a scope happen. There are two: eager runs an op
// now, a [Trace] records it as a node of a function. All else of this
// package is the same for both.
type executor interface {
	// run makes the op happen whose inputs are s.step.ins, and appends its outputs
	// to s.step.outs.
	run(s *Scope, op string, attrs graph.Attrs) error
	// lift returns v as a value that ops of this executor accept. v may be a tensor
	// from outside, or a value of an enclosing trace.
	lift(s *Scope, v *Value) (*Value, error)
	// read returns the value of a variable, for one op.
	read(s *Scope, x *trackable.Variable) (*Value, error)
	// handle returns the handle of a variable.
	handle(s *Scope, x *trackable.Variable) (*Value, error)
	// object returns the value of another object that functions capture.
	object(s *Scope, x graph.Capturable) (*Value, error)
}

// eager runs ops at once.
type eager struct{}

func (eager) run(s *Scope, op string, attrs graph.Attrs) error {
	st := s.step
	c := &st.call
	c.Begin(st.ctx, &st.env)
	for _, v := range st.ins {
		c.Add(v.data)
	}
	k, err := st.recent.Prepare(st.kernels, op, attrs, c.Inputs())
	if err != nil {
		return err
	}
	if err := c.Run(k); err != nil {
		return err
	}
	out := c.Results()
	for i := range out {
		if out[i].IsZero() {
			return fmt.Errorf("the kernel made no output %d", i)
		}
		v := s.newValue(nil)
		v.data = out[i]
		v.data.Pin() // of a borrowed input that the op passed on, which the output may outlive
		st.outs = append(st.outs, v)
	}
	return nil
}

var errLeaked = errors.New("is a value of a traced function, used outside of it: return it from the function instead")

var errSpec = errors.New("is a spec, which has no value; it describes an argument of Trace")

func (eager) lift(s *Scope, v *Value) (*Value, error) {
	switch {
	case v.IsSymbolic():
		return nil, errLeaked
	case v.extras().spec != nil:
		return nil, errSpec
	}
	return v, nil
}

func (eager) read(s *Scope, x *trackable.Variable) (*Value, error) {
	if err := internals.VariableFault(x); err != nil {
		return nil, fmt.Errorf("is the variable %q: %w", x.Name(), err)
	}
	data := engine.Borrow(x)
	if data.IsZero() {
		return nil, fmt.Errorf("is the variable %q, which has no value", x.Name())
	}
	v := s.newValue(nil)
	v.data = data
	e := v.mark()
	e.variable, e.holds = x, 1
	s.step.reads = append(s.step.reads, v)
	return v, nil
}

func (eager) object(s *Scope, x graph.Capturable) (*Value, error) {
	data, err := CapturedData(s.step.ctx, s.step.kernels, x)
	if err != nil {
		return nil, err
	}
	s.step.env.Files = GrantCaptured(s.step.env.Files, x)
	v := s.newValue(nil)
	v.data = data
	return v, nil
}

func (eager) handle(s *Scope, x *trackable.Variable) (*Value, error) {
	if err := internals.VariableFault(x); err != nil {
		return nil, fmt.Errorf("%q: %w", x.Name(), err)
	}
	v := s.newValue(nil)
	v.data = engine.HandleOf(x)
	e := v.mark()
	e.variable, e.handle = x, true
	return v, nil
}
