package base

import (
	"reflect"
	"slices"

	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

type lossesKey struct{}

// Losses collects the losses that layers add while they are called, in the order of the calls, as
// tf_keras's model.losses. The training step and keras/models read them.
type Losses struct{ values []*ops.Value }

// Values returns the losses in the order in which they were added.
func (l *Losses) Values() []*ops.Value { return l.values }

// WithLosses returns a scope of the same call on which the losses of layers are
// collected.
func WithLosses(s *ops.Scope) (*ops.Scope, *Losses) {
	l := new(Losses)
	return s.With(lossesKey{}, l), l
}

// AddLoss adds a scalar to the losses that are collected on the scope. Without a
// collection it does nothing.
func AddLoss(s *ops.Scope, loss *ops.Value) {
	if l, ok := s.Value(lossesKey{}).(*Losses); ok && s.Err() == nil {
		l.values = append(l.values, loss)
	}
}

// addActivity adds the loss of the activity regularizer, divided by the batch's size, for each
// output: tf_keras's Layer._handle_activity_regularization.
func (l *Layer) addActivity(s *ops.Scope, out []*ops.Value) {
	if _, collected := s.Value(lossesKey{}).(*Losses); !collected || s.Value(withoutActivityKey{}) == any(l) {
		return
	}
	for _, v := range out {
		loss := l.activity.Penalty(s, v)
		size := ops.Cast(s, ops.StridedSlice(s, ops.Shape(s, v), ops.At(0)), loss.DType())
		AddLoss(s, ops.Div(s, loss, size))
	}
}

// ActivityRegularized is implemented by layers that regularize their outputs without a
// field ActivityRegularizer.
type ActivityRegularized interface {
	ActivityPenalty() regularizers.Regularizer
}

// activityOf returns the regularizer of a layer's outputs: the result of its
// ActivityPenalty, or the value of its field ActivityRegularizer.
func activityOf(self any) regularizers.Regularizer {
	if a, ok := self.(ActivityRegularized); ok {
		return a.ActivityPenalty()
	}
	v := reflect.Indirect(reflect.ValueOf(self))
	if v.Kind() != reflect.Struct {
		return nil
	}
	f := v.FieldByName("ActivityRegularizer")
	if !f.IsValid() || !f.CanInterface() {
		return nil
	}
	r, _ := f.Interface().(regularizers.Regularizer)
	return r
}

// RegularizationLosses returns the losses of all regularized weights below obj.
func RegularizationLosses(s *ops.Scope, obj trackable.Trackable) []*ops.Value {
	var losses []*ops.Value
	eachWeight(obj, func(w *Weight, v *trackable.Variable) {
		if w.Regularizer != nil {
			losses = append(losses, w.Regularizer.Penalty(s, v))
		}
	})
	return losses
}

// Constrain projects the constrained weights below obj that can be trained. A training
// step does it after the optimizer's.
func Constrain(s *ops.Scope, obj trackable.Trackable) {
	var trained []*trackable.Variable // if there is a constraint
	eachWeight(obj, func(w *Weight, v *trackable.Variable) {
		if w.Constraint == nil {
			return
		}
		if trained == nil {
			trained = Trainable(obj)
		}
		if slices.Contains(trained, v) {
			ops.Assign(s, v, w.Constraint.Project(s, v))
		}
	})
}

// eachWeight calls f for the weights of all layers below obj.
func eachWeight(obj trackable.Trackable, f func(w *Weight, v *trackable.Variable)) {
	eachObject(obj, func(obj trackable.Trackable) {
		if l, ok := obj.(LayerLike); ok {
			layer := l.AsLayer()
			for i := range layer.weights {
				if w := &layer.weights[i]; w.To != nil && *w.To != nil {
					f(w, *w.To)
				}
			}
		}
	})
}

// eachObject calls f for obj and all objects below it but variables, breadth first.
func eachObject(obj trackable.Trackable, f func(obj trackable.Trackable)) {
	seen := map[any]bool{}
	queue := []trackable.Trackable{obj}
	for len(queue) > 0 {
		obj, queue = queue[0], queue[1:]
		if asVariable(obj) != nil || seen[trackable.Identity(obj)] {
			continue
		}
		seen[trackable.Identity(obj)] = true
		f(obj)
		edges, err := trackable.Children(obj)
		if err != nil {
			continue // checkpoint.New reports the fault
		}
		for _, e := range edges {
			queue = append(queue, e.Child)
		}
	}
}

type withoutActivityKey struct{}

// WithoutActivity returns a scope on which a layer adds no loss of its outputs. keras/models
// traces a function of the layer without it.
func WithoutActivity(s *ops.Scope, layer LayerLike) *ops.Scope {
	return s.With(withoutActivityKey{}, layer.AsLayer())
}

// ActivityRegularizer returns the regularizer of the layer's outputs, nil for none. It is
// known when the layer is built.
func (l *Layer) ActivityRegularizer() regularizers.Regularizer { return l.activity }

// EachRegularizer calls f for the regularized weights of all layers below obj, breadth first.
// keras/models saves a function for each.
func EachRegularizer(obj trackable.Trackable, f func(owner LayerLike, v *trackable.Variable, r regularizers.Regularizer)) {
	eachObject(obj, func(obj trackable.Trackable) {
		l, ok := obj.(LayerLike)
		if !ok {
			return
		}
		layer := l.AsLayer()
		for i := range layer.weights {
			if w := &layer.weights[i]; w.Regularizer != nil && w.To != nil && *w.To != nil {
				f(l, *w.To, w.Regularizer)
			}
		}
	})
}
