package optimizers

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cairnml/cairn/trackable"
)

// CopyState takes over the state of another optimizer of the same rule, whose layout may be
// another one: the count of steps, the learning rate, and the slots of vars. Both must be
// built for vars. Variables of this layout alone keep their first values. It runs between
// training steps. After an error some of the state may be copied. keras/saving calls it for files
// of Keras 3.
func (o *Base) CopyState(from Optimizer, vars []*trackable.Variable) error {
	b, ok := from.(interface{ AsBase() *Base })
	if !ok {
		return fmt.Errorf("optimizers: CopyState: %T has no state of this package", from)
	}
	src := b.AsBase()
	if src == o {
		return nil
	}
	copying.Lock()
	defer copying.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	src.mu.Lock()
	defer src.mu.Unlock()
	if err := o.copyFrom(src, vars); err != nil {
		return fmt.Errorf("optimizers: CopyState: %w", err)
	}
	return nil
}

// copying lets one CopyState run at a time. Two that copy in opposite directions would wait
// for each other's locks for ever.
var copying sync.Mutex

func (o *Base) copyFrom(src *Base, vars []*trackable.Variable) error {
	switch {
	case !o.made.Load() || !src.made.Load():
		return errors.New("an optimizer isn't built; call Build before")
	case o.UseEMA != src.UseEMA:
		return errors.New("one of the optimizers keeps moving averages, the other does not")
	}
	o.iter.Set(src.iter.Get())
	if o.rate != nil && src.rate != nil {
		o.rate.Set(src.rate.Get())
	}
	if o.number != nil && src.number != nil && o.number.variable != nil && src.number.variable != nil {
		if err := o.number.variable.Store(src.number.variable.Load()); err != nil {
			return err
		}
	}
	if o.scale != nil && src.scale != nil {
		o.scale.Current.Set(src.scale.Current.Get())
		o.scale.Counter.Set(src.scale.Counter.Get())
	}
	kinds := src.rule.SlotKinds()
	for _, k := range o.rule.SlotKinds() {
		i := slices.IndexFunc(kinds, func(other SlotKind) bool { return other.Name == k.Name })
		if i < 0 {
			continue
		}
		for _, v := range vars {
			to, err := o.slotVariable(v, k)
			if err != nil {
				return err
			}
			value, err := src.slotVariable(v, kinds[i])
			if err != nil {
				return err
			}
			if to == nil || value == nil {
				continue
			}
			if err := to.Store(value.Load()); err != nil {
				return fmt.Errorf("%s of %v: %w", k.Name, v, err)
			}
		}
	}
	if !o.UseEMA {
		return nil
	}
	for _, v := range vars {
		if err := o.averageOf(v).Store(src.averageOf(v).Load()); err != nil {
			return err
		}
	}
	return nil
}

// slotVariable returns the variable of a kind that is kept for v, nil if the layout has none.
func (o *Base) slotVariable(v *trackable.Variable, k SlotKind) (*trackable.Variable, error) {
	if !o.isLegacy() {
		return o.newSlot(v, k)
	}
	return o.Slot(v, k.Name), nil
}
