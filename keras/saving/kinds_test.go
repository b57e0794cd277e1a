package saving_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/models"
	"github.com/cairnml/cairn/keras/saving"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// twice is a program's layer: it calls a Dense two times.
type twice struct {
	keras.Layer
	Inner *layers.Dense
}

func (l *twice) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

func (l *twice) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return l.Inner.Call(s, l.Inner.Call(s, x))
}

// withTwice returns the known classes and twice.
func withTwice(t *testing.T) *config.Classes {
	t.Helper()
	c, err := keras.Classes().With([]config.Class{config.Registered[*twice]("Example", "Twice")})
	kerastest.Must(t, err)
	return c
}

func dense(units int) *layers.Dense { return &layers.Dense{Units: units} }

// chain returns a sequential model that is built for a shape.
func chain(s *ops.Scope, shape tensor.Shape, list ...keras.Callable) (models.Model, error) {
	m := keras.NewSequential(list...)
	return m, keras.Build(s, m, shape)
}

// kinds make models. Their scope connects layers; to build others, a new one is made.
var kinds = map[string]func(s *ops.Scope) (models.Model, error){
	"functional": func(s *ops.Scope) (models.Model, error) {
		x := keras.Input(s, tensor.Shape{3}, nil)
		return keras.NewModel(x, dense(2).Call(s, (&layers.Dense{Units: 4, Activation: activations.Relu}).Call(s, x)), nil)
	},
	"sequential without an input": func(*ops.Scope) (models.Model, error) {
		return chain(function.Eager(context.Background()), tensor.Shape{-1, 3}, dense(2), &layers.RepeatVector{N: 3}, &layers.TimeDistributed{Inner: dense(3)})
	},
	"nested models": func(s *ops.Scope) (models.Model, error) {
		x := keras.Input(s, tensor.Shape{3}, nil)
		inner, err := keras.NewModel(x, dense(3).Call(s, keras.NewSequential(keras.Named("first", dense(4)), &layers.BatchNormalization{}).Call(s, x)), &keras.ModelOptions{Name: "inner"})
		if err != nil {
			return nil, err
		}
		y := keras.Input(s, tensor.Shape{3}, nil)
		return keras.NewModel(y, keras.NewSequential(dense(2), &twice{Inner: dense(2)}).Call(s, inner.Call(s, inner.Call(s, y))), nil)
	},
	"a program's layer": func(s *ops.Scope) (models.Model, error) {
		x := keras.Input(s, tensor.Shape{3}, nil)
		return keras.NewModel(x, (&twice{Inner: dense(3)}).Call(s, x), nil)
	},
	"several inputs and outputs": func(s *ops.Scope) (models.Model, error) {
		x, y := keras.Input(s, tensor.Shape{3}, &keras.InputOptions{Name: "a"}), keras.Input(s, tensor.Shape{3}, &keras.InputOptions{Name: "b"})
		d := dense(2)
		return keras.NewModel([]*ops.Value{x, y}, []*ops.Value{d.Call(s, x), dense(4).Call(s, d.Call(s, y))}, nil)
	},
	"inputs that are outputs": func(s *ops.Scope) (models.Model, error) {
		x, y := keras.Input(s, tensor.Shape{3}, nil), keras.Input(s, tensor.Shape{5}, nil)
		return keras.NewModel([]*ops.Value{x, y}, []*ops.Value{x, y}, nil)
	},
	"cells": func(s *ops.Scope) (models.Model, error) {
		x := keras.Input(s, tensor.Shape{4, 3}, nil)
		cells := &layers.StackedRNNCells{Cells: []layers.Cell{&layers.LSTMCell{Units: 2}, &layers.LSTMCell{Units: 2}}}
		features := dense(3).Call(s, (&layers.RNN{Cell: cells, ReturnSequences: true}).Call(s, x))
		return keras.NewModel(x, []*ops.Value{new(layers.Softmax).Call(s, features), features}, nil)
	},
	"unrolled in both directions": func(s *ops.Scope) (models.Model, error) {
		x := keras.Input(s, tensor.Shape{4, 3}, &keras.InputOptions{BatchSize: 2})
		inner := &layers.LSTM{Units: 2, Dropout: 0.2, Unroll: true}
		inner.NotTrainable = true
		return keras.NewModel(x, (&layers.Bidirectional{Inner: inner}).Call(s, x), nil)
	},
	"convolutions of any size": func(s *ops.Scope) (models.Model, error) {
		x := keras.Input(s, tensor.Shape{-1, -1, 3}, nil)
		c := (&layers.Conv2D{Filters: 3, KernelSize: []int{3}, DilationRate: []int{2}}).Call(s, x)
		return keras.NewModel(x, new(layers.BatchNormalization).Call(s, c), nil)
	},
	"ops between layers": func(s *ops.Scope) (models.Model, error) {
		x := keras.Input(s, tensor.Shape{3}, nil)
		y := ops.Add(s, dense(1).Call(s, x), x)
		return keras.NewModel(x, ops.StridedSlice(s, y, ops.Ellipsis(), ops.Span(0, 2)), nil)
	},
	"texts": func(s *ops.Scope) (models.Model, error) {
		x := keras.Input(s, tensor.Shape{2}, &keras.InputOptions{DType: tensor.String})
		return keras.NewModel(x, new(layers.Concatenate).Call(s, []*ops.Value{x, x}), nil)
	},
	"an initializer with a number": func(s *ops.Scope) (models.Model, error) {
		x := keras.Input(s, tensor.Shape{3}, nil)
		return keras.NewModel(x, (&layers.Dense{Units: 2, KernelInitializer: initializers.Constant{Value: 0.5}}).Call(s, x), nil)
	},
}

// inputsFor returns tensors for the inputs of a model: rising numbers.
func inputsFor(t *testing.T, m models.Model) []*ops.Value {
	t.Helper()
	var shapes []tensor.Shape
	text := false
	if f, ok := m.(*keras.Functional); ok {
		for _, v := range f.Inputs() {
			shapes = append(shapes, v.Shape())
			text = text || v.DType() == tensor.String
		}
	} else {
		shapes = m.AsLayer().BuiltShapes()
	}
	var out []*ops.Value
	for _, shape := range shapes {
		shape = shape.Clone()
		n := 1
		for i, d := range shape {
			if d < 0 {
				shape[i] = 2
				if i > 0 {
					shape[i] = 6
				}
			}
			n *= shape[i]
		}
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(i%7)/3 - 1
		}
		x, err := tensor.New(values, shape...)
		if text {
			x, err = tensor.New(slices.Repeat([]string{"単"}, n), shape...)
		}
		kerastest.Must(t, err)
		out = append(out, ops.ValueOf(x))
	}
	return out
}

// outputsFor calls a model.
func outputsFor(t *testing.T, m keras.Callable, in []*ops.Value) []*tensor.Tensor {
	t.Helper()
	s := function.Eager(t.Context())
	var out []*tensor.Tensor
	for _, v := range keras.CallAll(s, m, in, nil) {
		x, err := v.Tensor()
		kerastest.Must(t, err)
		out = append(out, x)
	}
	return out
}

// through are the ways of a model through a file.
var through = map[string]func(t *testing.T, m models.Model, classes *config.Classes) keras.Callable{
	".keras": func(t *testing.T, m models.Model, c *config.Classes) keras.Callable {
		return throughFile(t, m, c, kerasfile.Archive)
	},
	".h5": func(t *testing.T, m models.Model, c *config.Classes) keras.Callable {
		return throughFile(t, m, c, kerasfile.LegacyModel)
	},
	"SavedModel": func(t *testing.T, m models.Model, c *config.Classes) keras.Callable {
		dir := filepath.Join(t.TempDir(), "new", "folder")
		kerastest.Must(t, models.Save(t.Context(), m, dir, &models.SaveOptions{Classes: c}))
		l, err := models.Load(t.Context(), os.DirFS(dir), &models.LoadOptions{Classes: c})
		kerastest.Must(t, err)
		for _, o := range l.Objects {
			if o.Generic {
				t.Errorf("%s is generic: %s", o.Name, o.Reason)
			}
		}
		return l.Model
	},
}

func throughFile(t *testing.T, m models.Model, c *config.Classes, f kerasfile.Format) keras.Callable {
	t.Helper()
	var b bytes.Buffer
	kerastest.Must(t, saving.WriteModel(t.Context(), &b, m, f, &saving.SaveModelOptions{Classes: c}))
	l, err := saving.LoadModelFrom(t.Context(), open(t, b.Bytes()), &saving.ModelOptions{Classes: c})
	kerastest.Must(t, err)
	return l.Model
}

// TestModelsOfAllKindsComeBack saves each kind of model to each kind of file. The loaded
// model has the same class, config, weights and outputs, and is built for the same shapes.
func TestModelsOfAllKindsComeBack(t *testing.T) {
	classes := withTwice(t)
	for kind, make := range kinds {
		for file, way := range through {
			t.Run(kind+"/"+file, func(t *testing.T) {
				m, err := make(keras.WithSeed(keras.Symbolic(t.Context()), 1))
				kerastest.Must(t, err)
				for i, v := range keras.Variables(m) { // so that no two are equal
					s := function.Eager(t.Context())
					ops.Assign(s, v, ops.Add(s, v, ops.Cast(s, 0.01*float32(i+1), v.DType())))
					kerastest.Must(t, s.Err())
				}
				in := inputsFor(t, m)
				got := way(t, m, classes)
				if a, b := fmt.Sprintf("%T", got), fmt.Sprintf("%T", m); a != b {
					t.Fatalf("the model is a %s, want a %s", a, b)
				}
				if a, b := got.(base.LayerLike).AsLayer().BuiltShapes(), m.AsLayer().BuiltShapes(); fmt.Sprint(a) != fmt.Sprint(b) {
					t.Errorf("built for %v, want %v", a, b)
				}
				opts := &keras.ConfigOptions{Classes: classes}
				a, err := keras.Config(m, opts)
				kerastest.Must(t, err)
				b, err := keras.Config(got, opts)
				kerastest.Must(t, err)
				kerastest.SameJSON(t, "config", a, b)
				want, have := outputsFor(t, m, in), outputsFor(t, got, in)
				if len(have) != len(want) {
					t.Fatalf("%d outputs, want %d", len(have), len(want))
				}
				for i := range want {
					if want[i].DType() == tensor.String {
						if !have[i].Equal(want[i]) {
							t.Errorf("output %d is %v, want %v", i, have[i], want[i])
						}
						continue
					}
					kerastest.Near(t, fmt.Sprintf("output %d", i), ops.ValueOf(have[i]), want[i], 1e-6)
				}
			})
		}
	}
}
