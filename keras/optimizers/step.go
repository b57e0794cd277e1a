package optimizers

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras/optimizers/schedules"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Apply takes a step: it changes each variable by its gradient and counts. The
// first one makes the optimizer's variables.
func (o *Base) Apply(s *ops.Scope, g grad.Gradients) {
	if s.Err() != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.apply(s, g); err != nil {
		s.Fail("Optimizer.Apply", err)
	}
}

// apply takes the step, with the lock held. The order is tf_keras's: make the variables, set the
// scheduled rate, clip, then for each variable its weight decay and its update; at last the
// averages, and the count. An error comes before a variable has changed, but the optimizer's own
// variables may be made.
func (o *Base) apply(s *ops.Scope, g grad.Gradients) error {
	if err := o.make(); err != nil {
		return err
	}
	used := 0
	for _, p := range g {
		switch {
		case p.Variable == nil:
			return errors.New("one of the gradients belongs to no variable")
		case p.Grad != nil:
			used++
		}
	}
	if used == 0 {
		return noGradients(g)
	}
	if !o.isLegacy() {
		if err := o.buildFor(g); err != nil {
			return err
		}
		for _, p := range g {
			if p.Grad == nil {
				continue
			}
			if _, err := o.place(p.Variable); err != nil {
				return err
			}
		}
	}
	if err := o.number.make(o, g[0].Variable); err != nil {
		return err
	}
	if o.next.current != nil {
		o.setCurrent(s)
	}
	g = o.clip(s, g, used)
	defer func() { // the coefficients of this step belong to its scope
		clear(o.step)
		o.step = o.step[:0]
		if o.number != nil {
			o.number.read = nil
		}
	}()
	for _, p := range g {
		if p.Grad == nil {
			continue
		}
		u := Update{Variable: p.Variable, Gradient: p.Grad, coefficients: o.coefficientsFor(s, p.Variable.DType())}
		if u.slots = u.few[:0]; len(o.kinds) > len(u.few) {
			u.slots = make([]*trackable.Variable, 0, len(o.kinds))
		}
		for _, k := range o.kinds {
			var slot *trackable.Variable
			var err error
			if !u.isLegacy {
				slot, err = o.newSlot(u.Variable, k)
			} else if !k.skipLegacy {
				slot, err = o.slot(u.Variable, k)
			}
			if err != nil {
				return err
			}
			u.slots = append(u.slots, slot)
		}
		o.decayWeight(s, &u)
		x, sliced := u.Gradient.IndexedSlices()
		switch rule, rows := o.rule.(RowRule); {
		case sliced && rows:
			rule.UpdateRows(s, &u, x)
		case sliced:
			u.Gradient = summed(s, x).Value(s)
			o.rule.UpdateStep(s, &u)
		default:
			o.rule.UpdateStep(s, &u)
		}
	}
	if o.UseEMA {
		o.average(s, g)
	}
	ops.AssignAdd(s, &o.iter.Variable, one)
	return nil
}

// one is the increment of the count of steps. All steps share it, so it must not be written.
var one = tensor.Scalar[int64](1)

// setCurrent stores the rate of this step, which the new layout saves and goes by.
func (o *Base) setCurrent(s *ops.Scope) {
	rate := o.Schedule.Rate(s, ops.ReadVariable(s, o.iter))
	if rate == nil {
		s.Fail("Schedule", schedules.ErrNoRate)
		return
	}
	ops.Assign(s, &o.next.current.Variable, ops.Cast(s, rate, tensor.Float32))
}

func noGradients(g grad.Gradients) error {
	if len(g) == 0 {
		return errors.New("there are no variables to train: the list given to Gradient is empty; are the layers built, and are they in exported fields?")
	}
	names := make([]string, 0, len(g))
	for _, p := range g {
		names = append(names, p.Variable.Name())
	}
	return fmt.Errorf("none of the variables %q has a gradient: does the loss depend on them, and was it computed on the recording scope?", names)
}
