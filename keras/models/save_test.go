package models_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/models"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// small returns a model with losses, a layer that behaves otherwise in training, and a
// sequential model in it.
func small(t testing.TB) *keras.Functional {
	s := keras.WithSeed(keras.Symbolic(t.Context()), 1)
	x := keras.Input(s, tensor.Shape{4}, &keras.InputOptions{Name: "x"})
	h := (&layers.Dense{Units: 3, KernelRegularizer: regularizers.L2{}, ActivityRegularizer: regularizers.L1{}}).Call(s, x)
	h = new(layers.BatchNormalization).Call(s, h)
	h = keras.NewSequential(&layers.Dense{Units: 2, Activation: activations.Relu}, &layers.Dropout{Rate: 0.5}).Call(s, h)
	m, err := keras.NewModel(x, keras.Named("y", &layers.Dense{Units: 1}).Call(s, h), nil)
	kerastest.Must(t, err)
	return m
}

func TestSavedModelsHaveKerasMetadataAndASignature(t *testing.T) {
	m, dir := small(t), t.TempDir()
	kerastest.Must(t, models.Save(t.Context(), m, dir, nil))
	sm, err := savedmodel.Read(t.Context(), os.DirFS(dir), nil)
	kerastest.Must(t, err)
	objects, err := sm.MetaGraphs[0].Keras()
	kerastest.Must(t, err)
	var got []string
	for _, o := range objects {
		got = append(got, fmt.Sprintf("%s %s %s", o.Path, o.Identifier, o.Class))
	}
	want := []string{
		"root _tf_keras_network Functional", "root.layer-0 _tf_keras_input_layer InputLayer", "root.layer_with_weights-0 _tf_keras_layer Dense",
		"root.layer_with_weights-1 _tf_keras_layer BatchNormalization", "root.layer_with_weights-2 _tf_keras_sequential Sequential",
		"root.layer_with_weights-3 _tf_keras_layer Dense", "root.layer_with_weights-2.layer_with_weights-0 _tf_keras_layer Dense",
		"root.layer_with_weights-2.layer-1 _tf_keras_layer Dropout",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	in := tensor.Must(tensor.New([]float32{1, 2, 3, 4, -1, 0, 1, 2}, 2, 4))
	s := function.Eager(t.Context())
	y, err := m.Call(s, in).Tensor()
	kerastest.Must(t, err)
	run, err := cairn.Load(t.Context(), os.DirFS(dir), nil)
	kerastest.Must(t, err)
	out, err := run.Call(t.Context(), "serving_default", map[string]*tensor.Tensor{"x": in})
	kerastest.Must(t, err)
	kerastest.Near(t, "the signature", ops.ValueOf(out["y"]), y, 1e-6)
}

func TestTheSameModelGivesTheSameBytes(t *testing.T) {
	m := small(t)
	a, b := t.TempDir(), t.TempDir()
	for _, dir := range []string{a, b} {
		kerastest.Must(t, models.Save(t.Context(), m, dir, nil))
	}
	for _, name := range []string{"saved_model.pb", "keras_metadata.pb", "variables/variables.index", "fingerprint.pb"} {
		one, err := os.ReadFile(filepath.Join(a, name))
		kerastest.Must(t, err)
		two, err := os.ReadFile(filepath.Join(b, name))
		kerastest.Must(t, err)
		if string(one) != string(two) {
			t.Errorf("%s differs", name)
		}
	}
}

func TestLevels(t *testing.T) {
	for level, want := range map[models.Level]struct{ metadata, signature, call bool }{
		models.Comprehensive: {true, true, true},
		models.ConfigOnly:    {true, false, false},
		models.InferenceOnly: {false, true, false},
	} {
		dir := t.TempDir()
		kerastest.Must(t, models.Save(t.Context(), small(t), dir, &models.SaveOptions{Level: level}))
		_, err := os.Stat(filepath.Join(dir, savedmodel.KerasMetadataFile))
		if (err == nil) != want.metadata {
			t.Errorf("level %d: metadata: %v", level, err)
		}
		sm, err := savedmodel.Read(t.Context(), os.DirFS(dir), nil)
		kerastest.Must(t, err)
		g := sm.MetaGraphs[0]
		if _, err = g.Signature("serving_default"); (err == nil) != want.signature {
			t.Errorf("level %d: signature: %v", level, err)
		}
		_, err = g.Object("__call__")
		if (err == nil) != want.call {
			t.Errorf("level %d: __call__: %v", level, err)
		}
	}
}

// scale is a class that no config knows.
type scale struct{ base.Layer }

func (l *scale) Call(s *ops.Scope, x ops.Input) *ops.Value     { return l.Run(s, l, x, nil) }
func (l *scale) Compute(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Mul(s, x, 2) }

func TestModelsThatCantBeSaved(t *testing.T) {
	if err := models.Save(t.Context(), keras.NewSequential(&layers.Dense{Units: 1}), t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "not built") {
		t.Errorf("not built: %v", err)
	}
	m := keras.NewSequential(&layers.InputLayer{Layer: base.Layer{}}, new(scale))
	m.Layers[0].(*layers.InputLayer).BatchInputShape = base.Shape{-1, 2}
	kerastest.Must(t, keras.Build(function.Eager(t.Context()), m, tensor.Shape{-1, 2}))
	if err := models.Save(t.Context(), m, t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "in no class") {
		t.Errorf("an unknown class: %v", err)
	}
	classes, err := keras.Classes().With([]config.Class{config.Registered[*scale]("Example", "Scale")})
	kerastest.Must(t, err)
	kerastest.Must(t, models.Save(t.Context(), m, t.TempDir(), &models.SaveOptions{Classes: classes}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := models.Save(ctx, small(t), t.TempDir(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

func TestOpsOfALayerAreStoredOnce(t *testing.T) {
	dir := t.TempDir()
	s := keras.WithSeed(keras.Symbolic(t.Context()), 1)
	shared := &layers.Dense{Units: 4, Layer: base.Layer{Name: "shared"}}
	x := keras.Input(s, tensor.Shape{4}, nil)
	y := keras.Input(s, tensor.Shape{7, 4}, nil)
	flat := new(layers.Flatten).Call(s, shared.Call(s, y))
	m, err := keras.NewModel([]*ops.Value{x, y}, new(layers.Concatenate).Call(s, []*ops.Value{shared.Call(s, shared.Call(s, x)), flat}), nil)
	kerastest.Must(t, err)
	kerastest.Must(t, models.Save(t.Context(), m, dir, nil))
	sm, err := savedmodel.Read(t.Context(), os.DirFS(dir), nil)
	kerastest.Must(t, err)
	uses, err := sm.MetaGraphs[0].OpsUsed()
	kerastest.Must(t, err)
	count := map[string]int{}
	for _, u := range uses {
		count[u.Op] += u.InGraph + u.InFunctions
	}
	// The layer is called with two shapes; it adds its bias in each.
	if count["BiasAdd"]+count["AddV2"] != 2 {
		t.Errorf("got %v, want two functions of the layer", count)
	}
}
