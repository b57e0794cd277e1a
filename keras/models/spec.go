package models

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/metrics"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/trackable"
)

// lists are the lists of an object that several edges lead to. They are made once, so that all
// edges lead to one node.
type lists struct {
	variables, trainable, fixed, losses, own *trackable.List[trackable.Trackable]
}

// spec lists the edges of a Keras object. Package savedmodel calls it for each object that
// matches a class of exporter.classes. The order of the edges decides the numbers of nodes.
func (x *exporter) spec(sc *savedmodel.SaveContext, obj trackable.Trackable) (*savedmodel.SaveSpec, error) {
	if _, ok := obj.(*layers.InputLayer); ok {
		return &savedmodel.SaveSpec{Children: []trackable.Edge{}}, nil
	}
	spec, err := sc.Default(obj)
	if err != nil {
		return nil, err
	}
	a, err := x.attributesOf(obj)
	if err != nil {
		return nil, err
	}
	edges, err := a.edges()
	if err != nil {
		return nil, err
	}
	if r := generatorOf(obj); r != nil { // which functions for training capture
		spec.Children = append(spec.Children, trackable.Edge{Name: "_random_generator", Child: savedmodel.NewObject(trackable.Edge{Name: "_generator", Child: r})})
	}
	switch obj.(type) {
	case *keras.Functional, *keras.Sequential: // whose own edges are their layers
		spec.Children = append(spec.Children, edges...)
	default:
		spec.Children = append(edges, spec.Children...)
	}
	return spec, nil
}

// attributesOf returns the attributes and properties of an object that are saved besides its own
// edges. It makes them once: spec and metadata use them. They may be set in any order, since
// Attributes.edges follows the declarations.
func (x *exporter) attributesOf(obj trackable.Trackable) (*Attributes, error) {
	if a := x.attributes[obj]; a != nil {
		return a, nil
	}
	a := new(Attributes)
	var err error
	set := func(name string, value trackable.Trackable) { err = errors.Join(err, a.Set(name, value)) }
	if _, ok := obj.(metrics.Accumulator); ok {
		err = a.Declare(metricAttributes...)
		set("variables", newList(base.Variables(obj)))
	} else {
		err = a.Declare(layerAttributes...)
		l := x.listsOf(obj)
		for name, list := range map[string]*trackable.List[trackable.Trackable]{
			"variables": l.variables, "trainable_variables": l.trainable, "non_trainable_variables": l.fixed, "regularization_losses": l.losses,
			"layer_regularization_losses": l.own, "layers": newList(childLayers(obj)), "metrics": x.metricsOf(obj),
		} {
			set(name, list)
		}
		set("layer_metrics", trackable.NewMap[trackable.Trackable]())
		if isRecurrent(obj) {
			err = errors.Join(err, a.Declare(recurrentAttributes...))
			set("states", newList(statesOf(obj)))
		}
	}
	if f := x.functions[obj]; f != nil {
		set("__call__", f.call)
		set("call_and_return_all_conditional_losses", f.all)
		set("call_and_return_conditional_losses", f.conditional)
		if f.activity != nil {
			set("activity_regularizer_fn", f.activity)
		}
		if obj == any(x.model) && x.signature != nil {
			set("_default_save_signature", x.signature)
		}
	} else if g, ok := obj.(*Generic); ok { // that the model doesn't call
		for _, name := range []string{"__call__", "call_and_return_all_conditional_losses", "call_and_return_conditional_losses"} {
			if f := g.object.Child(name); f != nil {
				set(name, f)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if a.properties, err = x.properties(obj, identifierOf(obj)); err != nil {
		return nil, err
	}
	if own, ok := obj.(AttributeSaver); ok {
		if err := own.SaveAttributes(a); err != nil {
			return nil, fmt.Errorf("%T: %w", obj, err)
		}
	}
	x.attributes[obj] = a
	return a, nil
}

// statesOf returns the states of a stateful layer.
func statesOf(obj any) []*trackable.Variable {
	if s, ok := obj.(interface{ StateVariables() []*trackable.Variable }); ok {
		return s.StateVariables()
	}
	return nil
}

func newList[T any](items []T) *trackable.List[trackable.Trackable] {
	l := trackable.NewList[trackable.Trackable]()
	for _, item := range items {
		if err := l.Append(item); err != nil {
			panic(err) // of a restore, and the list is new
		}
	}
	return l
}

// listsOf returns the lists of a layer or a model.
func (x *exporter) listsOf(obj trackable.Trackable) *lists {
	if l := x.lists[obj]; l != nil {
		return l
	}
	all, trained := base.Variables(obj), base.Trainable(obj)
	var fixed []*trackable.Variable
	for _, v := range all {
		if !slices.Contains(trained, v) {
			fixed = append(fixed, v)
		}
	}
	l := &lists{variables: newList(all), trainable: newList(trained), fixed: newList(fixed)}
	l.losses, l.own = newList(x.lossFunctions(obj, true)), newList(x.lossFunctions(obj, false))
	x.lists[obj] = l
	return l
}

// metricsOf returns the metrics of a model: those of its trainer, of which there are none
// before the first step.
func (x *exporter) metricsOf(obj trackable.Trackable) *trackable.List[trackable.Trackable] {
	var list []trackable.Trackable
	if t := x.opts.Trainer; t != nil && obj == trackable.Trackable(x.model) {
		for _, m := range t.Metrics() {
			list = append(list, m)
		}
	}
	return newList(list)
}

// childLayers returns the layers of a model, or those that a layer holds.
func childLayers(obj trackable.Trackable) []trackable.Trackable {
	var list []trackable.Trackable
	switch m := obj.(type) {
	case *keras.Functional:
		for _, l := range m.Layers() {
			list = append(list, l)
		}
		return list
	case *keras.Sequential:
		for _, l := range m.Layers {
			if _, input := l.(*layers.InputLayer); !input {
				list = append(list, l)
			}
		}
		return list
	}
	edges, err := trackable.Children(obj)
	if err != nil {
		return nil // the save reports it
	}
	for _, e := range edges {
		if _, ok := e.Child.(base.LayerLike); ok {
			list = append(list, e.Child)
		}
	}
	return list
}

// generatorOf returns the generator of random numbers in a layer's field Random, nil for
// none.
func generatorOf(obj trackable.Trackable) *ops.Random {
	v := reflect.Indirect(reflect.ValueOf(obj))
	if v.Kind() != reflect.Struct {
		return nil
	}
	f := v.FieldByName("Random")
	if !f.IsValid() || !f.CanInterface() {
		return nil
	}
	r, _ := f.Interface().(*ops.Random)
	return r
}
