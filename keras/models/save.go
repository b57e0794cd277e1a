package models

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
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
	x := &exporter{ctx: ctx, opts: opts, model: model, calls: map[any][]*call{}, functions: map[any]*layerFunctions{}, lists: map[any]*lists{}, losses: map[lossKey]*layerFunction{}, shared: map[sharedKey]*traced{}, attributes: map[any]*Attributes{}, numbers: config.SharedObjects{Select: base.IsLayer, All: true}}
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
	ctx        context.Context
	opts       *SaveOptions
	known      *config.Classes // of the options, with those of loaded objects
	model      Model
	calls      map[any][]*call         // the calls of each layer, each kind once
	called     []any                   // their keys, in the order of the calls
	functions  map[any]*layerFunctions // of the layers that are traced
	shared     map[sharedKey]*traced
	attributes map[any]*Attributes
	lists      map[any]*lists
	losses     map[lossKey]*layerFunction
	signature  *graph.Concrete
	failed     error // of a trace during the walk
	numbers    config.SharedObjects
}

// prepare names the layers, records the arguments of their calls, and traces
// them.
func (x *exporter) prepare() error {
	if _, generic := x.model.(*Generic); !generic && !x.model.AsLayer().Built() {
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
