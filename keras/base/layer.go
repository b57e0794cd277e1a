// Package base has the common parts of Keras layers and models: their variables,
// masks, the dtype policy, losses that layers add, and their part of a config.
//
// A layer is a struct that embeds [Layer]. Its exported fields are its config. It has
// these methods, of which only Call and Compute are needed:
//
//	Call(s, x)        the public call: return d.Run(s, d, x, nil)
//	Compute(s, x)     the computation; [Computer], or [FullComputer] for several values
//	Weights(in)       its variables; [Weighted]
//	ComputeMask(…)    its masks, if it neither drops nor passes them; [Masker]
//
// [Layer.Run] makes the variables at the first call, casts inputs to the compute type,
// passes masks on, and adds the loss of an activity regularizer.
package base

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// Callable is anything with one input and one output: each layer, each model, and any
// type of a program with this method.
type Callable interface {
	Call(s *ops.Scope, x ops.Input) *ops.Value
}

// Layer is embedded by layers. It makes a struct a node of the object graph whose
// variables are made when the first input shows their shapes.
//
//	type Scale struct {
//		keras.Layer
//		Factor *trackable.Variable `cairn:"-"` // edge "factor"
//	}
//
//	func (l *Scale) Weights(in keras.Shapes) ([]keras.Weight, error) {
//		n, err := in.Last()
//		return []keras.Weight{{To: &l.Factor, Edge: "factor", Shape: tensor.Shape{n}, Init: initializers.Ones{}}}, err
//	}
//
//	func (l *Scale) Compute(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Mul(s, x, l.Read(s, l.Factor)) }
//
//	func (l *Scale) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }
//
// The zero Layer is ready; it must not be copied. A layer may be called from many
// goroutines.
type Layer struct {
	trackable.Base
	// Name is the layer's name, which the full names of its variables contain.
	// Default: the class's in snake case, numbered within a model: dense, dense_1.
	Name string
	// NotTrainable keeps optimizers off the variables below the layer. Layers within this one
	// have a separate NotTrainable; [SetTrainable] sets all.
	NotTrainable bool `keras:"trainable,not"`
	// DType is the policy for the types of variables and computations. Default:
	// "float32".
	DType Policy `keras:"dtype,default=float32"`
	// BatchInputShape is the shape of the input, the batch's size included, of the
	// first layer of a sequential model. Default: unknown.
	BatchInputShape Shape `keras:",omitempty"`

	built     atomic.Bool
	mu        sync.Mutex
	completed sync.Once
	failed    error                    // of completing
	weights   []Weight                 // those that were made
	shapes    Shapes                   // for which the layer was built
	activity  regularizers.Regularizer // of the config field activity_regularizer
	inline    bool                     // no separate scope
}

// SetName sets the layer's name.
func (l *Layer) SetName(name string) { l.Name = name }

// ScopeName returns the layer's name, "" for the automatic one.
func (l *Layer) ScopeName() string {
	if l.inline {
		return "."
	}
	return l.Name
}

// Inline leaves the layer's name out of the full names of its variables, as tf_keras does
// for a layer that a wrapper builds.
func (l *Layer) Inline() { l.inline = true }

// Built reports whether the layer has made its variables.
func (l *Layer) Built() bool { return l.built.Load() }

// AsLayer returns the layer itself; a type that embeds a Layer inherits it,
// which identifies it as one.
func (l *Layer) AsLayer() *Layer { return l }

// BuiltShapes returns the shapes for which the layer was built, nil before that.
func (l *Layer) BuiltShapes() Shapes {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.shapes)
}

// BuildConfig returns the shape for which the layer was built, nil before that.
func (l *Layer) BuildConfig() config.Fields {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch len(l.shapes) {
	case 0:
		return nil
	case 1:
		return config.Fields{{Name: "input_shape", Value: Shape(l.shapes[0])}}
	}
	list := make([]Shape, len(l.shapes))
	for i, s := range l.shapes {
		list[i] = Shape(s)
	}
	return config.Fields{{Name: "input_shape", Value: list}}
}

// Model is embedded by models: layers that hold other layers in fields.
//
//	type Net struct {
//		keras.Model
//		L1 *layers.Dense // edge "l1"
//	}
//
// It differs from a [Layer] in the order of [Variables], in which a model's own
// variables come after those of its layers, and in that it makes none at its first
// call.
type Model struct{ Layer }

// AcceptsChildOf reports the answer of self's method AcceptsChild if it has one,
// else false: a model gets its layers in fields. A restore asks, for edges without an object.
func (m *Model) AcceptsChildOf(self trackable.Trackable, edge string) bool {
	c, ok := self.(trackable.ChildAccepter)
	return ok && c.AcceptsChild(edge)
}

// AcceptsChild reports false: a model can only get further children in its nil
// fields. A model that adds variables under other names needs its own AcceptsChild.
func (m *Model) AcceptsChild(string) bool { return false }

// TracksFields reports that a model gets its layers in fields.
func (m *Model) TracksFields() bool { return true }

// Adapter is implemented by layers that learn a state from data before the training. Adapt
// forgets the earlier state, and builds the layer for the first batch.
type Adapter interface {
	Adapt(s *ops.Scope, batches iter.Seq[*ops.Value])
}

// components are the classes that the defaults of layers refer to.
var components = sync.OnceValue(func() *config.Classes {
	return config.Must(config.New(activations.Classes(), initializers.Classes()))
})

// Completer is implemented by layers that make inner layers of their config.
// CompleteLayer is called once, after the defaults of the config are set, before the
// layer's children are listed for a restore and before it is built.
type Completer interface{ CompleteLayer() error }

// Complete sets the defaults of the config of a layer and makes its inner layers, as the
// first call does.
func Complete(layer LayerLike) error { return layer.AsLayer().complete(layer) }

// complete sets the defaults of the config of self, once.
func (l *Layer) complete(self any) error {
	l.completed.Do(func() {
		if l.failed = components().Complete(self); l.failed != nil {
			return
		}
		l.activity = activityOf(self)
		if c, ok := self.(Completer); ok {
			l.failed = c.CompleteLayer()
		}
	})
	return l.failed
}

// SetBuildConfig keeps the shapes for which a saved layer was built, as its config has
// them. The layer itself is built at its first call. keras/config calls it with the object
// "build_config" of a .keras file.
func (l *Layer) SetBuildConfig(v map[string]any) error {
	list, ok := v["input_shape"].([]any)
	if !ok || len(v) != 1 {
		return nil // the form of another class, which needs none of it
	}
	several := len(list) > 0
	for _, x := range list {
		_, nested := x.([]any)
		several = several && nested
	}
	if !several {
		list = []any{v["input_shape"]}
	}
	shapes := make(Shapes, len(list))
	for i, x := range list {
		if err := (*Shape)(&shapes[i]).UnmarshalConfig(x); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shapes = shapes
	return nil
}
