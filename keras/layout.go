package keras

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/trackable"
)

// Layout is how an optimizer's variables stand in the object graph. tf_keras
// has two families of optimizers, and a checkpoint of one can't be read by the
// other.
type Layout int

const (
	// LegacyLayout is that of tf_keras.optimizers.legacy and of TensorFlow's
	// checkpoint guide: iter and the hyperparameters are edges of the optimizer,
	// all else is a slot of the variable that it belongs to.
	LegacyLayout Layout = iota
	// NewLayout is that of tf_keras.optimizers: a list _variables with the step
	// counter first and then all variables in the order in which the first step
	// got theirs, and lists such as _momentums that share them.
	NewLayout
)

// SetLayout says which family's files the optimizer writes; it must be called
// before anything is restored and before the first step. An optimizer that
// isn't told writes the legacy layout, except for AdamW, which only the new
// family has. One that takes its state from a checkpoint of the new family goes
// over to that by itself.
func (o *OptimizerBase) SetLayout(l Layout) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.rule == nil:
		return fmt.Errorf("keras: %w", errUnmade)
	case o.made.Load() && l == Layout(o.layout.Load()):
		return nil
	case o.made.Load():
		return errors.New("keras: the optimizer has made its variables already; SetLayout goes before the first step")
	}
	o.layout.Store(int32(l))
	return nil
}

// newState is what only the new layout has.
type newState struct {
	built   atomic.Bool
	all     *trackable.List[*trackable.Variable]
	current *trackable.Scalar[float32] // the rate that a Schedule gave last
	index   map[*trackable.Variable]int
	lists   map[string]*trackable.List[*trackable.Variable]
}

// makeNew makes what exists before the first step. The lock is held.
func (o *OptimizerBase) makeNew() error {
	o.kinds = o.rule.slots()
	o.iter = trackable.NewScalar[int64](0)
	o.iter.Named("iteration").SetTrainable(false)
	o.next.all = trackable.NewList(&o.iter.Variable)
	edges := []trackable.Edge{{Name: "_variables", Child: o.next.all}, {Name: "_iterations", Child: o.iter}}
	if o.Schedule == nil {
		o.rate = trackable.NewScalar(float32(o.start))
		o.rate.Named("learning_rate").SetTrainable(false)
		edges = append(edges, trackable.Edge{Name: "_learning_rate", Child: o.rate})
	} else {
		o.next.current = trackable.NewScalar(float32(o.Schedule.Rate(0)))
		o.next.current.Named("current_learning_rate").SetTrainable(false)
		edges = append(edges, trackable.Edge{Name: "_current_learning_rate", Child: o.next.current})
	}
	for _, e := range edges {
		if err := o.Attach(e.Name, e.Child); err != nil {
			return err
		}
	}
	o.made.Store(true)
	return nil
}

// buildFor builds for the variables of the first step, those without a gradient
// included, and refuses others later.
func (o *OptimizerBase) buildFor(g grad.Gradients) error {
	if o.next.built.Load() {
		return nil
	}
	vars := make([]*trackable.Variable, len(g))
	for i, p := range g {
		vars[i] = p.Variable
	}
	return o.buildNew(vars)
}

// buildNew makes the lists. The lock is held.
func (o *OptimizerBase) buildNew(vars []*trackable.Variable) error {
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
	// Keras keeps the numbers of the variables in a dictionary, which is a node
	// without children.
	if err := o.Attach("_index_dict", trackable.NewMap[*trackable.Variable]()); err != nil {
		return err
	}
	o.next.lists = map[string]*trackable.List[*trackable.Variable]{}
	kinds := o.kinds
	for i := 0; i < len(kinds); {
		group := kinds[i : i+1]
		for j := i + 1; j < len(kinds) && kinds[j].joined; j++ {
			group = kinds[i : j+1]
		}
		i += len(group)
		for _, k := range group {
			if !k.new && !k.empty {
				continue
			}
			list := trackable.NewList[*trackable.Variable]()
			o.next.lists[k.list] = list
			if err := o.Attach(k.list, list); err != nil {
				return err
			}
		}
		for _, v := range vars {
			for _, k := range group {
				if !k.new {
					continue
				}
				t, err := Constant{k.initial}.Init(nil, v.DType(), v.Shape())
				if err != nil {
					return err
				}
				slot := trackable.NewVariable(t).SetTrainable(false).NamedAfter(o.Name+"/"+k.tag+"/", v)
				if err := o.next.all.Append(slot); err != nil {
					return err
				}
				if err := o.next.lists[k.list].Append(slot); err != nil {
					return err
				}
			}
		}
	}
	o.next.built.Store(true)
	return nil
}

// newSlot is the variable of a kind kept for v.
func (o *OptimizerBase) newSlot(v *trackable.Variable, k slotKind) (*trackable.Variable, error) {
	if !k.new {
		return nil, nil
	}
	i, ok := o.next.index[v]
	if !ok {
		return nil, fmt.Errorf("the variable %q wasn't among those of the first step, on whose order the new layout depends; call Build with all variables before it, or use the legacy layout", v.Name())
	}
	return o.next.lists[k.list].At(i), nil
}

func sortHypers(h []hyper) {
	slices.SortFunc(h, func(a, b hyper) int { return cmp.Compare(a.name, b.name) })
}
