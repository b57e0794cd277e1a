package optimizers

import (
	"fmt"
	"slices"
)

// SlotFullNames returns the full names that a slot can have in a checkpoint without an
// object graph: those of tf_keras and of TensorFlow 1's optimizers, which number the slots
// of a variable: Adam, Adam_1. The new layout has none, because its variables have names of
// their own.
func (o *Base) SlotFullNames(variable, slot string) []string {
	if o.rule == nil || !o.isLegacy() || !slices.ContainsFunc(o.rule.SlotKinds(), func(k SlotKind) bool { return !k.skipLegacy && k.Name == slot }) {
		return nil
	}
	names := []string{o.Name + "/" + variable + "/" + slot}
	owner, order := firstSlots(o.rule)
	i := slices.Index(order, slot)
	if i < 0 {
		return names
	}
	for _, name := range slices.Compact([]string{o.Name, owner}) {
		full := variable + "/" + name
		if i > 0 {
			full = fmt.Sprintf("%s_%d", full, i)
		}
		names = append(names, full)
	}
	return names
}

// firstSlots returns the name of TensorFlow 1's optimizer (tf.compat.v1.train) of a rule, and its
// slots in the order in which it makes them. The order decides the numbers in the names. A
// rule that isn't listed has no such optimizer.
func firstSlots(r Rule) (name string, slots []string) {
	switch r := r.(type) {
	case *SGD:
		return "Momentum", []string{"momentum"}
	case *Adam:
		return "Adam", []string{"m", "v"}
	case *RMSprop:
		if r.Centered {
			return "RMSProp", []string{"rms", "mg", "momentum"}
		}
		return "RMSProp", []string{"rms", "momentum"}
	case *Adagrad:
		return "Adagrad", []string{"accumulator"}
	case *Adadelta:
		return "Adadelta", []string{"accum_grad", "accum_var"}
	case *Ftrl:
		return "Ftrl", []string{"accumulator", "linear"}
	}
	return "", nil
}
