package models

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/metrics"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/trackable"
)

// Level is how much of a model is saved.
type Level uint8

const (
	// Comprehensive saves configs, variables and functions: the model opens everywhere.
	Comprehensive Level = iota
	// ConfigOnly saves configs and variables. Programs that know all classes open the
	// model; it has no functions and no signature.
	ConfigOnly
	// InferenceOnly saves the variables and the signature, for servers.
	InferenceOnly
)

// SaveOptions are the options of [Save].
type SaveOptions struct {
	// Level is how much is saved. Default: Comprehensive.
	Level Level
	// Classes are the known classes of configs. Default: keras.Classes().
	Classes *config.Classes
	// Trainer is the trainer of the model, whose compile state and optimizer are saved.
	// Default: none, as a model that isn't compiled.
	Trainer *keras.Trainer
	// SavedModel are further options. Its Signatures replace serving_default; its Files are
	// added. Default: none.
	SavedModel *savedmodel.SaveOptions
}

// Model is a model or a layer that [Save] saves.
type Model interface {
	base.Callable
	base.LayerLike
}

// Save writes a model as tf_keras's model.save(dir, save_format="tf") does. The model must
// be built: called once, or made for known shapes. Layers without a name get the automatic
// one for good. A layer whose class is in no config is an error; keras.Classes().With adds
// classes.
func Save(ctx context.Context, model Model, dir string, opts *SaveOptions) error {
	if opts == nil {
		opts = &SaveOptions{}
	}
	x := &exporter{ctx: ctx, opts: opts, model: model, calls: map[any][]*call{}, functions: map[any]*layerFunctions{}, lists: map[any]*lists{}, losses: map[lossKey]*layerFunction{}, shared: map[sharedKey]*traced{}}
	if err := x.prepare(); err != nil {
		return fmt.Errorf("models: save %s: %w", model.AsLayer().Name, err)
	}
	o := savedmodel.SaveOptions{}
	if opts.SavedModel != nil {
		o = *opts.SavedModel
	}
	if o.Signatures == nil {
		o.Signatures = map[string]*graph.Concrete{}
		if x.signature != nil {
			o.Signatures[savedmodel.DefaultSignature] = x.signature
		}
	}
	if opts.Trainer != nil && opts.Level != InferenceOnly {
		// Only the checkpoint has the optimizer: tf_keras's load_model restores it then.
		o.CheckpointEdges = append(slices.Clip(o.CheckpointEdges), trackable.Edge{Name: optimizerEdge, Child: opts.Trainer.Optimizer()})
	}
	files := o.Files
	o.Files = func(nodes []savedmodel.SavedNode) (map[string][]byte, error) {
		all := map[string][]byte{}
		if files != nil {
			more, err := files(nodes)
			if err != nil {
				return nil, err
			}
			for name, data := range more {
				all[name] = data
			}
		}
		if opts.Level != InferenceOnly {
			data, err := x.metadata(nodes)
			if err != nil {
				return nil, err
			}
			all[savedmodel.KerasMetadataFile] = data
		}
		return all, nil
	}
	classes, err := x.classes()
	if err != nil {
		return err
	}
	return (&savedmodel.Serializer{Classes: classes}).Save(ctx, model, dir, &o)
}

// exporter is one save.
type exporter struct {
	ctx       context.Context
	opts      *SaveOptions
	model     Model
	calls     map[any][]*call         // the calls of each layer, each kind once
	called    []any                   // their keys, in the order of the calls
	functions map[any]*layerFunctions // of the layers that are traced
	shared    map[sharedKey]*traced
	lists     map[any]*lists
	losses    map[lossKey]*layerFunction
	signature *graph.Concrete
	failed    error // of a trace during the walk
}

// prepare names the layers, finds out with what they are called, and traces them.
func (x *exporter) prepare() error {
	if !x.model.AsLayer().Built() {
		return errors.New("the model is not built; call it, or build it for a shape")
	}
	nameLayers(x.model)
	if x.opts.Level == ConfigOnly {
		return nil
	}
	if err := x.watch(); err != nil {
		return err
	}
	if x.opts.Level == Comprehensive {
		for _, obj := range x.called {
			for _, c := range x.calls[obj] {
				if err := x.trace(obj, c); err != nil {
					return err
				}
			}
		}
	}
	return x.sign()
}

// nameLayers gives all layers below obj without a name the automatic one.
func nameLayers(obj Model) {
	var names base.Names
	seen := map[any]bool{}
	var visit func(obj trackable.Trackable, f func(l base.LayerLike))
	visit = func(obj trackable.Trackable, f func(l base.LayerLike)) {
		if seen[trackable.Identity(obj)] {
			return
		}
		seen[trackable.Identity(obj)] = true
		if l, ok := obj.(base.LayerLike); ok {
			f(l)
		}
		edges, err := trackable.Children(obj)
		if err != nil {
			return // the save reports it
		}
		for _, e := range edges {
			visit(e.Child, f)
		}
	}
	visit(obj, func(l base.LayerLike) {
		if name := l.AsLayer().Name; name != "" {
			names.Reserve(name)
		}
	})
	clear(seen)
	visit(obj, func(l base.LayerLike) {
		if l.AsLayer().Name == "" {
			l.AsLayer().Name = names.Next(l)
		}
	})
}

// lists are the lists of an object that several edges lead to.
type lists struct {
	variables, trainable, fixed, losses, own *trackable.List[trackable.Trackable]
}

// identifierOf returns the kind of a Keras object.
func identifierOf(obj trackable.Trackable) string {
	switch obj.(type) {
	case *layers.InputLayer:
		return "_tf_keras_input_layer"
	case *keras.Functional:
		return "_tf_keras_network"
	case *keras.Sequential:
		return "_tf_keras_sequential"
	case metrics.Accumulator:
		return "_tf_keras_metric"
	}
	switch {
	case base.IsModel(obj):
		return "_tf_keras_model"
	case isRecurrent(obj):
		return "_tf_keras_rnn_layer"
	}
	if _, ok := obj.(base.LayerLike); ok {
		return "_tf_keras_layer"
	}
	return ""
}

// isRecurrent reports whether a layer goes over time steps.
func isRecurrent(obj any) bool {
	switch obj.(type) {
	case *layers.RNN, *layers.SimpleRNN, *layers.LSTM, *layers.GRU, *layers.ConvLSTM1D, *layers.ConvLSTM2D, *layers.ConvLSTM3D:
		return true
	}
	return false
}

// classes lists the classes of the objects, one for each identifier.
func (x *exporter) classes() (*savedmodel.Classes, error) {
	c := new(savedmodel.Classes)
	var failed error
	for _, id := range []string{"_tf_keras_input_layer", "_tf_keras_network", "_tf_keras_sequential", "_tf_keras_model", "_tf_keras_rnn_layer", "_tf_keras_layer", "_tf_keras_metric"} {
		if x.opts.Level == InferenceOnly {
			break
		}
		failed = errors.Join(failed, savedmodel.Register(c, savedmodel.Class[trackable.Trackable]{
			Name:    id,
			Matches: func(obj trackable.Trackable) bool { return identifierOf(obj) == id },
			Save:    x.spec,
		}))
	}
	return c, failed
}

// spec lists the edges of a Keras object.
func (x *exporter) spec(sc *savedmodel.SaveContext, obj trackable.Trackable) (*savedmodel.SaveSpec, error) {
	if _, ok := obj.(*layers.InputLayer); ok {
		return &savedmodel.SaveSpec{Children: []trackable.Edge{}}, nil
	}
	spec, err := sc.Default(obj)
	if err != nil {
		return nil, err
	}
	if _, ok := obj.(metrics.Accumulator); ok {
		vars := newList(base.Variables(obj))
		edges := []trackable.Edge{{Name: "variables", Child: vars}, {Name: "keras_api", Child: savedmodel.NewObject(trackable.Edge{Name: "variables", Child: vars})}}
		spec.Children = append(edges, spec.Children...)
		return spec, nil
	}
	l := x.listsOf(obj)
	edges := []trackable.Edge{{Name: "variables", Child: l.variables}, {Name: "trainable_variables", Child: l.trainable}, {Name: "regularization_losses", Child: l.losses}}
	api := []trackable.Edge{
		{Name: "non_trainable_variables", Child: l.fixed}, {Name: "layers", Child: newList(childLayers(obj))}, {Name: "metrics", Child: x.metricsOf(obj)},
		{Name: "layer_regularization_losses", Child: l.own}, {Name: "layer_metrics", Child: trackable.NewMap[trackable.Trackable]()},
	}
	api = append(api, edges...)
	var functions []trackable.Edge
	if f := x.functions[obj]; f != nil {
		functions = []trackable.Edge{{Name: "__call__", Child: f.call}, {Name: "call_and_return_all_conditional_losses", Child: f.all}}
		api = append(api, functions[0])
		if obj == any(x.model) && x.signature != nil {
			api = append(api, trackable.Edge{Name: "_default_save_signature", Child: x.signature})
		}
		if f.activity != nil {
			api = append(api, trackable.Edge{Name: "activity_regularizer_fn", Child: f.activity})
		}
		api = append(api, functions[1], trackable.Edge{Name: "call_and_return_conditional_losses", Child: f.conditional})
	}
	if r := generatorOf(obj); r != nil { // which functions for training capture
		spec.Children = append(spec.Children, trackable.Edge{Name: "_random_generator", Child: savedmodel.NewObject(trackable.Edge{Name: "_generator", Child: r})})
	}
	edges = append(append(edges, trackable.Edge{Name: "keras_api", Child: savedmodel.NewObject(api...)}), functions...)
	switch obj.(type) {
	case *keras.Functional, *keras.Sequential: // whose own edges are their layers
		spec.Children = append(spec.Children, edges...)
	default:
		spec.Children = append(edges, spec.Children...)
	}
	return spec, nil
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
