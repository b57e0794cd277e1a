package models_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/keras/metrics"
	"github.com/cairnml/cairn/keras/models"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// times is a program's loss: the mean squared error times a factor.
type times struct{ Factor float64 }

func (l times) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	return ops.Mul(s, losses.MeanSquaredError{}.Call(s, truth, predicted), l.Factor)
}

func (l times) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return ops.Mul(s, losses.MeanSquaredError{}.Loss(s, truth, predicted, weights), l.Factor)
}

// highest is a program's metric: the largest prediction.
type highest struct {
	metrics.Base
	High *trackable.Variable `cairn:"-"`
}

func (m *highest) States(tensor.Shape) ([]metrics.State, error) {
	return []metrics.State{{To: &m.High, Edge: "high"}}, nil
}

func (m *highest) Update(s *ops.Scope, _, predicted, _ ops.Input) {
	if m.Ready(s, m) {
		ops.Assign(s, m.High, ops.Maximum(s, m.High, ops.Max(s, predicted)))
	}
}

func (m *highest) Result(s *ops.Scope) *ops.Value {
	if !m.Ready(s, m) {
		return nil
	}
	return ops.Identity(s, m.High)
}

func (m *highest) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// two returns a model with two outputs, and data for it.
func two(t *testing.T) (*keras.Functional, *keras.Examples) {
	t.Helper()
	s := keras.WithSeed(keras.Symbolic(t.Context()), 1)
	x := keras.Input(s, tensor.Shape{4}, nil)
	head := func(name string, units int) *ops.Value {
		return keras.Named(name, new(layers.Softmax)).Call(s, (&layers.Dense{Units: units}).Call(s, x))
	}
	m, err := keras.NewModel(x, []*ops.Value{head("head_0", 3), head("head_1", 2)}, nil)
	kerastest.Must(t, err)
	return m, &keras.Examples{
		X: tensor.Must(tensor.New([]float32{1, 0, 2, 1, 0, 1, 1, 3}, 2, 4)),
		Y: []*tensor.Tensor{tensor.Must(tensor.New([]float32{1, 0, 0, 0, 1, 1}, 2, 3)), tensor.Must(tensor.New([]float32{1, 0, 0, 1}, 2, 2))},
	}
}

// sameSteps takes two steps with both trainers and compares all results.
func sameSteps(t *testing.T, a, b *keras.Trainer, data *keras.Examples) {
	t.Helper()
	for range 2 {
		want, err := a.TrainOnBatch(t.Context(), data, nil)
		kerastest.Must(t, err)
		got, err := b.TrainOnBatch(t.Context(), data, nil)
		kerastest.Must(t, err)
		if len(got) != len(want) {
			t.Errorf("got the results %v, want %v", got, want)
		}
		for key, v := range want {
			if w, ok := got[key]; !ok || math.Abs(w-v) > 1e-6*max(1, math.Abs(v)) {
				t.Errorf("%s is %v, want %v", key, w, v)
			}
		}
	}
}

func TestLossesAndMetricsOfAProgramMustBeKnown(t *testing.T) {
	classes, err := keras.Classes().With([]config.Class{config.Registered[times]("Example", "Times"), config.Registered[*highest]("Example", "Highest")})
	kerastest.Must(t, err)
	m, _, data := trained(t)
	trainer, err := keras.Compile(m, &keras.CompileOptions{Optimizer: "sgd", Loss: times{3}, Metrics: []any{"mae", &highest{Base: metrics.Base{Name: "highest"}}}})
	kerastest.Must(t, err)
	if err := models.Save(t.Context(), m, t.TempDir(), &models.SaveOptions{Trainer: trainer}); err == nil || !strings.Contains(err.Error(), "in no class") {
		t.Errorf("saved with an unknown loss: %v", err)
	}
	dir, _ := saveTo(t, m, &models.SaveOptions{Trainer: trainer, Classes: classes})
	l, err := models.Load(t.Context(), os.DirFS(dir), nil)
	kerastest.Must(t, err)
	if l.Trainer != nil || l.CompileError == nil || !strings.Contains(l.CompileError.Error(), "Times") {
		t.Errorf("without the classes: %v", l.CompileError)
	}
	l, err = models.Load(t.Context(), os.DirFS(dir), &models.LoadOptions{Classes: classes})
	kerastest.Must(t, err)
	kerastest.Must(t, l.CompileError)
	sameSteps(t, trainer, l.Trainer, data)

	function := losses.Func(func(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
		return ops.Mean(s, ops.Sub(s, predicted, truth), -1)
	})
	trainer, err = keras.Compile(m, &keras.CompileOptions{Optimizer: "sgd", Loss: function})
	kerastest.Must(t, err)
	if err := models.Save(t.Context(), m, t.TempDir(), &models.SaveOptions{Trainer: trainer}); err == nil || !strings.Contains(err.Error(), "Go function") {
		t.Errorf("saved with a Go function as the loss: %v", err)
	}
}

// TestNamesOfMetricsStay saves a model before and after its first step: head_0_accuracy does
// not become head_0_head_0_accuracy.
func TestNamesOfMetricsStay(t *testing.T) {
	for _, fitted := range []bool{false, true} {
		m, data := two(t)
		trainer, err := keras.Compile(m, &keras.CompileOptions{
			Optimizer: "rmsprop", Loss: "mse", Metrics: map[string]any{"head_0": []any{"mae", "accuracy", new(metrics.MeanSquaredError)}},
		})
		kerastest.Must(t, err)
		if fitted {
			_, err = trainer.TrainOnBatch(t.Context(), data, nil)
			kerastest.Must(t, err)
		}
		l := reload(t, m, &models.SaveOptions{Trainer: trainer}, nil)
		kerastest.Must(t, l.CompileError)
		again := reload(t, l.Model, &models.SaveOptions{Trainer: l.Trainer}, nil)
		kerastest.Must(t, again.CompileError)
		want, err := trainer.TestOnBatch(t.Context(), data, nil)
		kerastest.Must(t, err)
		for _, o := range []*keras.Trainer{l.Trainer, again.Trainer} {
			got, err := o.TestOnBatch(t.Context(), data, nil)
			kerastest.Must(t, err)
			for key, v := range want {
				if w, ok := got[key]; !ok || math.Abs(w-v) > 1e-6 {
					t.Errorf("%s is %v, want %v", key, w, v)
				}
			}
			if !slices.Equal(o.MetricsNames(), trainer.MetricsNames()) {
				t.Errorf("the metrics are %q, want %q", o.MetricsNames(), trainer.MetricsNames())
			}
		}
	}
}

// TestAModelIsSavedBetweenCompileAndFit has an optimizer without variables.
func TestAModelIsSavedBetweenCompileAndFit(t *testing.T) {
	m, data := two(t)
	trainer, err := keras.Compile(m, &keras.CompileOptions{Optimizer: "adam", Loss: "mse", Metrics: "mae"})
	kerastest.Must(t, err)
	l := reload(t, m, &models.SaveOptions{Trainer: trainer}, nil)
	kerastest.Must(t, l.CompileError)
	sameSteps(t, trainer, l.Trainer, data)
}

func TestAnOptimizerIsSavedWithItsTrainerOnly(t *testing.T) {
	m, trainer, _ := trained(t)
	for _, with := range []*keras.Trainer{trainer, nil} {
		dir, _ := saveTo(t, m, &models.SaveOptions{Trainer: with})
		r, err := bundle.Open(t.Context(), os.DirFS(dir), savedmodel.VariablesPrefix, nil)
		kerastest.Must(t, err)
		has := false
		for e := range r.Entries() {
			has = has || strings.Contains(e.Name, "optimizer")
		}
		r.Close()
		if has != (with != nil) {
			t.Errorf("with a trainer: %v, but the file has an optimizer: %v", with != nil, has)
		}
		l, err := models.Load(t.Context(), os.DirFS(dir), nil)
		kerastest.Must(t, err)
		if (l.Trainer != nil) != (with != nil) {
			t.Errorf("with a trainer: %v, but loaded: %v", with != nil, l.Trainer)
		}
		if y, _ := callFor(t, l.Model, ones(t, 2, 2), false); y == nil {
			t.Error("no output")
		}
	}
}
