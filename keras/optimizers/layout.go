package optimizers

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/optimizers/schedules"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Layout is the structure of an optimizer's variables in the object graph. tf_keras has
// two families of optimizers and Keras 3 a third one. None of them reads a checkpoint of
// another.
type Layout int

const (
	// LegacyLayout is the layout of tf_keras.optimizers.legacy and of TensorFlow's
	// checkpoint guide: iter and the hyperparameters are edges of the optimizer, all
	// other variables are slots.
	LegacyLayout Layout = iota
	// NewLayout is the layout of tf_keras.optimizers: a list _variables with the step
	// counter and then all variables, in the order of the gradients of the first step,
	// and lists such as _momentums that share them.
	NewLayout
	// Keras3Layout is the layout of Keras 3, the tf.keras of TensorFlow 2.21. It is the new one,
	// with the learning rate and the model's variables in lists too. Keras 3 restores such
	// checkpoints of models whose layers have Keras3 set. Only the full names, on which nothing
	// depends, are those of tf_keras.
	Keras3Layout
)

// SetLayout sets the family whose files the optimizer writes. It must be called before
// a restore and before the first step. Default: the legacy layout; the new one for AdamW,
// Adafactor and Lion, which only the new family has, and for optimizers made by [Get] or
// from a config of that family.
//
// A restore of a checkpoint of the new family or of Keras 3 sets the layout as well, unless the Schedule
// has variables: their place in the object graph depends on the family, so such a restore
// is refused without SetLayout.
func (o *Base) SetLayout(l Layout) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.rule == nil:
		return fmt.Errorf("optimizers: %w", errUnmade)
	case o.made.Load() && l == Layout(o.layout.Load()):
		return nil
	case l == LegacyLayout && o.newOnly:
		return fmt.Errorf("optimizers: SetLayout: %w", errNewOnly)
	case o.made.Load():
		return errors.New("optimizers: the optimizer has made its variables already; SetLayout goes before the first step")
	}
	o.layout.Store(int32(l))
	return nil
}

// newState is the part of the state that only the new layouts have.
type newState struct {
	built   atomic.Bool                                     // buildNew has made the lists
	all     *trackable.List[*trackable.Variable]            // the edge _variables
	trained *trackable.List[*trackable.Variable]            // Keras 3 only
	current *trackable.Scalar[float32]                      // the last rate of a Schedule
	index   map[*trackable.Variable]int                     // of the variables of the first step, in its order
	lists   map[string]*trackable.List[*trackable.Variable] // by the edges, such as "_momentums"
}

// makeNew makes the variables that exist before the first step. The lock is held.
func (o *Base) makeNew() error {
	o.kinds = o.rule.SlotKinds()
	o.iter = trackable.NewScalar[int64](0)
	o.iter.Named("iteration").SetTrainable(false)
	o.next.all = trackable.NewList(&o.iter.Variable)
	edges := []trackable.Edge{{Name: "_variables", Child: o.next.all}}
	keras3 := Layout(o.layout.Load()) == Keras3Layout
	if keras3 {
		o.next.trained = trackable.NewList[*trackable.Variable]()
		edges = append(edges,
			trackable.Edge{Name: "_trainable_variables", Child: o.next.trained},
			trackable.Edge{Name: "_trainable_variables_indices", Child: trackable.NewMap[*trackable.Variable]()})
	}
	edges = append(edges, trackable.Edge{Name: "_iterations", Child: o.iter})
	if o.Schedule == nil {
		o.rate = trackable.NewScalar(float32(o.start))
		o.rate.Named("learning_rate").SetTrainable(false)
		edges = append(edges, trackable.Edge{Name: "_learning_rate", Child: o.rate})
		if keras3 {
			if err := o.next.all.Append(&o.rate.Variable); err != nil {
				return err
			}
		}
	} else if !keras3 {
		rate, err := schedules.At(o.Schedule, 0)
		if err != nil {
			return err
		}
		o.next.current = trackable.NewScalar(rate)
		o.next.current.Named("current_learning_rate").SetTrainable(false)
		edges = append(edges, trackable.Edge{Name: "_current_learning_rate", Child: o.next.current})
	}
	if sched := o.tracked(); sched != nil {
		edges = append(edges, trackable.Edge{Name: "_learning_rate", Child: sched})
	}
	for _, e := range edges {
		if err := o.Attach(e.Name, e.Child); err != nil {
			return err
		}
	}
	if err := errors.Join(o.attachExclusion(), o.attachScale()); err != nil {
		return err
	}
	o.made.Store(true)
	return nil
}

// buildFor builds for the variables of the first step, also for those without a gradient.
func (o *Base) buildFor(g grad.Gradients) error {
	if o.next.built.Load() {
		return nil
	}
	vars := make([]*trackable.Variable, len(g))
	for i, p := range g {
		vars[i] = p.Variable
	}
	return o.buildNew(vars)
}

// buildNew makes the lists, of vars in their order. The lock is held. The order in which it attaches
// lists and appends variables is that of tf_keras's build methods. It decides keys, so it must stay.
// After an error the optimizer can't be used.
func (o *Base) buildNew(vars []*trackable.Variable) error {
	if o.next.built.Load() {
		return nil
	}
	o.next.index = make(map[*trackable.Variable]int, len(vars))
	for i, v := range vars {
		if v == nil {
			return errors.New("one of the variables to train is nil")
		}
		o.next.index[v] = i
	}
	if err := o.turnKeras3(); err != nil {
		return err
	}
	keras3 := o.next.trained != nil
	if keras3 {
		if err := o.next.trained.Append(vars...); err != nil {
			return err
		}
	} else {
		// tf_keras keeps the numbers of the variables in a dictionary, which is a
		// node without children.
		if err := o.Attach("_index_dict", trackable.NewMap[*trackable.Variable]()); err != nil {
			return err
		}
	}
	o.next.lists = map[string]*trackable.List[*trackable.Variable]{}
	if o.UseEMA {
		if err := o.makeAverages(vars); err != nil {
			return err
		}
	}
	kinds := o.kinds
	for i := 0; i < len(kinds); {
		group := kinds[i : i+1]
		for j := i + 1; j < len(kinds) && kinds[j].joined; j++ {
			group = kinds[i : j+1]
		}
		i += len(group)
		for _, k := range group {
			if !o.keeps(k) && (keras3 || !k.empty) {
				continue
			}
			list := trackable.NewList[*trackable.Variable]()
			o.next.lists[k.listName()] = list
			if err := o.Attach(k.listName(), list); err != nil {
				return err
			}
		}
		for _, v := range vars {
			for _, k := range group {
				if !o.keeps(k) {
					continue
				}
				initial := k.Initial
				if k.single {
					initial = float64(float32(initial))
				}
				d, shape, whole, tag := v.DType(), v.Shape(), true, k.tagName()
				if k.Shape != nil {
					shape, whole = k.Shape(shape)
				}
				if !whole {
					d, shape, tag = tensor.Int32, tensor.Shape{}, cmp.Or(k.standIn, tag)
				}
				t, err := initializers.Constant{Value: initial}.Init(nil, d, shape)
				if err != nil {
					return err
				}
				slot := trackable.NewVariable(t).SetTrainable(false).NamedAfter(o.slotScope()+tag+"/", v)
				if whole {
					if err := o.next.all.Append(slot); err != nil {
						return err
					}
				}
				if err := o.next.lists[k.listName()].Append(slot); err != nil {
					return err
				}
			}
		}
	}
	if len(vars) > 0 {
		if err := o.number.make(o, vars[0]); err != nil {
			return err
		}
		if keras3 && o.number != nil && o.number.variable != nil {
			if err := o.next.all.Append(o.number.variable); err != nil {
				return err
			}
		}
	}
	o.next.built.Store(true)
	return nil
}

// turnKeras3 changes the layout to Keras 3's if such a checkpoint was restored after the
// counter and the rate were made for the new layout.
func (o *Base) turnKeras3() error {
	node := o.TrackableNode()
	if o.next.trained != nil || o.rate == nil || !node.HasPending("_trainable_variables") {
		return nil
	}
	o.layout.Store(int32(Keras3Layout))
	o.next.trained = trackable.NewList[*trackable.Variable]()
	return errors.Join(
		o.next.all.Append(&o.rate.Variable),
		o.Attach("_trainable_variables", o.next.trained),
		o.Attach("_trainable_variables_indices", trackable.NewMap[*trackable.Variable]()))
}

// keeps reports whether variables of a kind exist. Keras 3 makes only those that it
// uses, as the legacy optimizers do.
func (o *Base) keeps(k SlotKind) bool {
	if o.next.trained != nil {
		return !k.skipLegacy
	}
	return !k.skipNew
}

// slotScope returns the beginning of the full names of slots in the new layout. tf_keras
// makes the variables outside of the optimizer's name scope if it scales losses.
func (o *Base) slotScope() string {
	if o.scale != nil {
		return ""
	}
	return o.Name + "/"
}

// newSlot returns the variable of a kind kept for v.
func (o *Base) newSlot(v *trackable.Variable, k SlotKind) (*trackable.Variable, error) {
	if !o.keeps(k) {
		return nil, nil
	}
	i, err := o.place(v)
	if err != nil {
		return nil, err
	}
	return o.next.lists[k.listName()].At(i), nil
}

// place returns the number of a variable among those of the first step, or an error if it wasn't one of them.
func (o *Base) place(v *trackable.Variable) (int, error) {
	i, ok := o.next.index[v]
	if !ok {
		return 0, fmt.Errorf("the variable %q wasn't among those of the first step, on whose order the new layout depends; call Build with all variables before it, or use the legacy layout", v.Name())
	}
	return i, nil
}

func sortHypers(h []Hyper) {
	slices.SortFunc(h, func(a, b Hyper) int { return cmp.Compare(a.Name, b.Name) })
}
