package keras

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Callable is what turns a value into another one: every layer and model here,
// and any type of a user's with this method. [Sequential] strings them together.
type Callable interface {
	Call(s *ops.Scope, x ops.Input) *ops.Value
}

// Layer is embedded by layers: it makes a struct a node of the object graph
// whose variables can be made when the first input shows their shapes.
//
//	type Affine struct {
//		keras.Layer
//		Units int
//		W, B  *trackable.Variable
//	}
//
//	func (a *Affine) Build(s *ops.Scope, in tensor.Shape) error {
//		return errors.Join(
//			a.AddWeight(s, &a.W, "w", keras.Weight{Shape: tensor.Shape{in[len(in)-1], a.Units}}),
//			a.AddWeight(s, &a.B, "b", keras.Weight{Shape: tensor.Shape{a.Units}, Init: keras.Zeros{}}))
//	}
//
//	func (a *Affine) Call(s *ops.Scope, x ops.Input) *ops.Value {
//		v, ok := a.Prepare(s, x, a.Build)
//		if !ok {
//			return v
//		}
//		return ops.Add(s, ops.MatMul(s, v, a.W), a.B)
//	}
//
// The zero Layer is ready; it must not be copied. A layer may be called from
// many goroutines.
type Layer struct {
	trackable.Base
	name  string
	built atomic.Bool
	mu    sync.Mutex
}

// Weight says what variable [Layer.AddWeight] makes.
type Weight struct {
	// Shape is the variable's shape, all sizes known. Default: a scalar's.
	Shape tensor.Shape
	// DType is the type of its elements. Default: float32.
	DType tensor.DType
	// Init makes its first value; it isn't asked where a checkpoint has one.
	// Default: GlorotUniform{}.
	Init Initializer
	// NotTrainable keeps optimizers off the variable. Default: trainable.
	NotTrainable bool
	// Name is its part of the full name. Default: the edge.
	Name string
}

// SetName gives the layer the name that its variables' full names contain. By
// default it is the type's name in snake case with a number for the second one
// and later, as in Keras: dense, dense_1.
func (l *Layer) SetName(name string) { l.name = name }

// ScopeName returns the name set with SetName, "" for the automatic one.
func (l *Layer) ScopeName() string { return l.name }

// Built reports whether the layer has made its variables.
func (l *Layer) Built() bool { return l.built.Load() }

// Prepare begins a layer's Call: it makes x a value and, the first time,
// calls build with its shape, which is nil where a trace doesn't know the number
// of dimensions and has -1 for a size that it doesn't know. ok is false where that failed or an earlier op
// had; Call then returns v. A build that fails is tried again at the next call,
// so it must do its checks before it makes variables.
func (l *Layer) Prepare(s *ops.Scope, x ops.Input, build func(s *ops.Scope, in tensor.Shape) error) (v *ops.Value, ok bool) {
	v = ops.Const(s, x)
	if s.Err() != nil {
		return v, false
	}
	if l.built.Load() {
		return v, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.built.Load() {
		return v, true
	}
	if build != nil {
		in := v.Shape()
		if in == nil && v.Fact().Shape.HasRank() {
			in = tensor.Shape{}
		}
		if err := build(s, in); err != nil {
			return s.Fail("Build", err), false
		}
	}
	l.built.Store(true)
	return v, true
}

// AddWeight makes a variable, stores it in *dst and tracks it as edge. It is
// made with the value of a restored checkpoint that is pending for that edge, else
// with one of w.Init. For build functions.
func (l *Layer) AddWeight(s *ops.Scope, dst **trackable.Variable, edge string, w Weight) error {
	if w.DType == tensor.Invalid {
		w.DType = tensor.Float32
	}
	if w.Init == nil {
		w.Init = GlorotUniform{}
	}
	return l.AddVariable(dst, edge, trackable.VariableSpec{
		DType: w.DType, Shape: w.Shape, NotTrainable: w.NotTrainable, Name: w.Name,
		Init: func() (t *tensor.Tensor, err error) {
			withRand(s, func(r *rand.Rand) { t, err = w.Init.Init(r, w.DType, w.Shape) })
			return t, err
		},
	})
}

// AcceptsChild reports whether the layer can still get a child: once it is built it
// can't.
func (l *Layer) AcceptsChild(string) bool { return !l.built.Load() }

// Model is embedded by models: layers that hold other layers in fields.
//
//	type Net struct {
//		keras.Model
//		L1 *keras.Dense // edge "l1"
//	}
//
// It differs from a [Layer] in the order of [Variables], where a model's own
// variables stand behind those of its layers, and in that it makes none when it
// is first called.
type Model struct{ Layer }

// AcceptsChild reports false: what a model may still get are its nil fields. A model
// that adds variables of its own under other names says so with a AcceptsChild of
// its own.
func (m *Model) AcceptsChild(string) bool { return false }

// TracksFields reports that a model gets its layers in fields.
func (m *Model) TracksFields() bool { return true }

// lastDim returns the size of the last dimension, which a layer's kernel needs.
func lastDim(layer string, in tensor.Shape) (int, error) {
	switch {
	case in == nil:
		return -1, nil
	case len(in) == 0:
		return 0, fmt.Errorf("%s: the input is a scalar; it needs two dimensions or more, a batch's first", layer)
	}
	return in[len(in)-1], nil
}

var errNoUnits = errors.New("the number of Units must be 1 or more")
