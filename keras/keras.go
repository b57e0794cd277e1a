package keras

import (
	"encoding/json"
	"sync"

	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/featurecolumn"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/keras/metrics"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/optimizers/schedules"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// The parts of package base that programs use.
type (
	// Layer is embedded by layers: see [base.Layer].
	Layer = base.Layer
	// Model is embedded by models: see [base.Model].
	Model = base.Model
	// Callable is anything with one input and one output: see [base.Callable].
	Callable = base.Callable
	// Weight describes a variable of a layer: see [base.Weight].
	Weight = base.Weight
	// Shapes are the shapes of a layer's inputs: see [base.Shapes].
	Shapes = base.Shapes
	// Sparse is a sparse tensor between layers: see [base.Sparse].
	Sparse = base.Sparse
	// Ragged is a ragged tensor between layers: see [base.Ragged].
	Ragged = base.Ragged
)

// Trainable lists the variables below obj that an optimizer may change: see
// [base.Trainable].
func Trainable(obj trackable.Trackable) []*trackable.Variable { return base.Trainable(obj) }

// Variables lists all variables below obj: see [base.Variables].
func Variables(obj trackable.Trackable) []*trackable.Variable { return base.Variables(obj) }

// ResetStates sets the states of all stateful layers below obj to zeros: see
// [base.ResetStates].
func ResetStates(obj trackable.Trackable) error { return base.ResetStates(obj) }

// WithSeed returns a scope on which layers draw their first values from a generator with
// this seed: see [base.WithSeed].
func WithSeed(s *ops.Scope, seed uint64) *ops.Scope { return base.WithSeed(s, seed) }

// WithZeroWeights returns a scope on which all weights are 0 at first: see
// [base.WithZeroWeights].
func WithZeroWeights(s *ops.Scope) *ops.Scope { return base.WithZeroWeights(s) }

// SetTrainable sets whether optimizers change the variables below obj: see
// [base.SetTrainable].
func SetTrainable(obj trackable.Trackable, on bool) error { return base.SetTrainable(obj, on) }

// SparseOf returns the sparse tensor that a value represents: see [base.SparseOf].
func SparseOf(v *ops.Value) (Sparse, bool) { return base.SparseOf(v) }

// RaggedOf returns the ragged tensor that a value represents: see [base.RaggedOf].
func RaggedOf(v *ops.Value) (Ragged, bool) { return base.RaggedOf(v) }

// ToDense returns all elements of a sparse or ragged tensor: see [base.ToDense].
func ToDense(s *ops.Scope, v *ops.Value) *ops.Value { return base.ToDense(s, v) }

// Build makes the variables of a layer for inputs of the given shapes: see [base.Build].
func Build(s *ops.Scope, layer base.LayerLike, in ...tensor.Shape) error {
	return base.Build(s, layer, in...)
}

// Named sets the name of a layer or model and returns it:
//
//	keras.Named("head", &layers.Dense{Units: 5})
func Named[T interface{ SetName(string) }](name string, layer T) T {
	layer.SetName(name)
	return layer
}

// classes returns the built-in classes. They are made at the first call, because that takes
// milliseconds.
var classes = sync.OnceValue(func() *config.Classes {
	return config.Must(config.New(activations.Classes(), initializers.Classes(), regularizers.Classes(),
		constraints.Classes(), layers.Classes(), featurecolumn.Classes(), losses.Classes(), metrics.Classes(),
		optimizers.Classes(), schedules.Classes(), modelClasses()))
})

// modelClasses lists the models.
func modelClasses() []config.Class {
	return []config.Class{
		config.PrivateOf[*Functional]("tf_keras.src.engine.functional", "Functional", "Model"),
		config.Of[*Sequential]("keras", "Sequential"),
	}
}

// Classes returns the built-in classes. A program adds its own by With:
//
//	classes, err := keras.Classes().With([]config.Class{config.Registered[*Scale]("Example", "Scale")})
func Classes() *config.Classes { return classes() }

// ConfigOptions are the options of [Config] and [FromConfig].
type ConfigOptions struct {
	// Classes are the known classes. Default: Classes().
	Classes *config.Classes
	// Legacy writes the object as {"class_name", "config"}, as SavedModels and .h5 files
	// have it. FromConfig reads both forms. Default: with module and registered_name.
	Legacy bool
}

func classesOf(opts *ConfigOptions) *config.Classes {
	if opts != nil && opts.Classes != nil {
		return opts.Classes
	}
	return classes()
}

// Config returns the JSON with which tf_keras describes an object: its class and its
// config, keys in tf_keras's order. An object whose class is unknown is an error.
func Config(obj any, opts *ConfigOptions) (json.RawMessage, error) {
	legacy := opts != nil && opts.Legacy
	return classesOf(opts).Encode(obj, &config.EncodeOptions{Legacy: legacy})
}

// FromConfig makes the object that a JSON of tf_keras describes. The result's type is
// that of its class, such as *layers.Dense. Unknown classes and fields are errors that
// name the nearest known ones.
func FromConfig(data []byte, opts *ConfigOptions) (any, error) {
	return classesOf(opts).Decode(data)
}
