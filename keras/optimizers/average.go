package optimizers

import (
	"fmt"

	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// The moving averages of variables, which only the new layout has: the option UseEMA. Formulas,
// names and the time of overwriting are those of tf_keras's Optimizer. averageList is the edge of
// the list of averages, in the order of the variables of the first step.
const averageList = "_model_variables_moving_average"

// makeAverages makes the moving averages of vars, which begin with the variables' values.
func (o *Base) makeAverages(vars []*trackable.Variable) error {
	list := trackable.NewList[*trackable.Variable]()
	o.next.lists[averageList] = list
	if err := o.Attach(averageList, list); err != nil {
		return err
	}
	for _, v := range vars {
		// The value now, in a trace too: as in tf_keras, the average is made outside of it.
		now, lease := v.Lease()
		if now == nil {
			return fmt.Errorf("the variable %q has no value", v.Name())
		}
		average := trackable.NewVariable(now.Clone()).SetTrainable(false).NamedAfter(o.slotScope()+"average/", v)
		lease.Release()
		if err := o.next.all.Append(average); err != nil {
			return err
		}
		if err := list.Append(average); err != nil {
			return err
		}
	}
	return nil
}

// average updates the averages of the variables that this step has changed, and makes the
// averages their values if it is time.
func (o *Base) average(s *ops.Scope, g grad.Gradients) {
	overwrite := func(*ops.Scope) []*ops.Value { return nil }
	var vars []*trackable.Variable
	for _, p := range g {
		if p.Grad == nil {
			continue
		}
		average := o.averageOf(p.Variable)
		ops.Assign(s, average, ops.Add(s, ops.Mul(s, o.EMAMomentum, average), ops.Mul(s, 1-o.EMAMomentum, p.Variable)))
		vars = append(vars, p.Variable)
	}
	if o.EMAOverwriteFrequency <= 0 {
		return
	}
	step := ops.Add(s, &o.iter.Variable, 1)
	due := ops.Equal(s, ops.Mod(s, step, o.EMAOverwriteFrequency), 0)
	ops.If(s, due, func(s *ops.Scope) []*ops.Value {
		o.overwrite(s, vars)
		return nil
	}, overwrite)
}

// averageOf returns the average of a variable, which must be one of the first step's.
func (o *Base) averageOf(v *trackable.Variable) *trackable.Variable {
	return o.next.lists[averageList].At(o.next.index[v])
}

func (o *Base) overwrite(s *ops.Scope, vars []*trackable.Variable) {
	for _, v := range vars {
		ops.Assign(s, v, o.averageOf(v))
	}
}

// FinalizeVariableValues makes the moving averages the values of vars, at the end of
// training. Without UseEMA, and before the first step, it does nothing.
func (o *Base) FinalizeVariableValues(s *ops.Scope, vars []*trackable.Variable) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.UseEMA || !o.next.built.Load() {
		return
	}
	known := vars[:0:0] // a variable that came later has no average, and keeps its value
	for _, v := range vars {
		if _, ok := o.next.index[v]; ok {
			known = append(known, v)
		}
	}
	o.overwrite(s, known)
}
