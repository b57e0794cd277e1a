package optimizers

import "github.com/cairnml/cairn/trackable"

// Variables returns the optimizer's variables in the order of tf_keras's optimizer.variables,
// which is that of .keras and .h5 files. In the new layout the count of steps comes first,
// then the optimizer's state of each variable. In the legacy layout hyperparameters are not
// among them. Before the first step there are at most the count and, in Keras 3's layout, the
// learning rate.
func (o *Base) Variables() []*trackable.Variable {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.made.Load() {
		return nil
	}
	if !o.isLegacy() {
		vars := make([]*trackable.Variable, o.next.all.Len())
		for i := range vars {
			vars[i] = o.next.all.At(i)
		}
		return vars
	}
	vars := []*trackable.Variable{&o.iter.Variable}
	if o.number != nil && o.number.variable != nil {
		vars = append(vars, o.number.variable)
	}
	add := func(k SlotKind, v *trackable.Variable) {
		if slot := o.Slot(v, k.Name); slot != nil && !k.skipLegacy {
			vars = append(vars, slot)
		}
	}
	for i := 0; i < len(o.kinds); {
		n := i + 1
		for n < len(o.kinds) && o.kinds[n].paired {
			n++
		}
		for _, v := range o.trained {
			for _, k := range o.kinds[i:n] {
				add(k, v)
			}
		}
		i = n
	}
	return vars
}
