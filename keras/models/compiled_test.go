package models_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/models"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// trained returns a model that was fitted for three steps, and its data.
func trained(t testing.TB) (*keras.Functional, *keras.Trainer, *keras.Examples) {
	s := keras.WithSeed(keras.Symbolic(t.Context()), 1)
	x := keras.Input(s, tensor.Shape{2}, nil)
	h := new(layers.BatchNormalization).Call(s, (&layers.Dense{Units: 3}).Call(s, x))
	m, err := keras.NewModel(x, (&layers.Dense{Units: 1}).Call(s, h), nil)
	kerastest.Must(t, err)
	trainer, err := keras.Compile(m, &keras.CompileOptions{Optimizer: "adam", Loss: "mse", Metrics: []string{"mae"}})
	kerastest.Must(t, err)
	data := &keras.Examples{
		X: tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6, 7, 9}, 4, 2)), Y: tensor.Must(tensor.New([]float32{1, 0, 2, 5}, 4, 1)),
	}
	for range 3 {
		_, err = trainer.TrainOnBatch(t.Context(), data, nil)
		kerastest.Must(t, err)
	}
	return m, trainer, data
}

func lossOf(t *testing.T, trainer *keras.Trainer, data *keras.Examples) float64 {
	logs, err := trainer.TrainOnBatch(t.Context(), data, nil)
	kerastest.Must(t, err)
	return logs["loss"]
}

func TestTrainingContinuesFromASavedModel(t *testing.T) {
	m, trainer, data := trained(t)
	dir := t.TempDir()
	kerastest.Must(t, models.Save(t.Context(), m, dir, &models.SaveOptions{Trainer: trainer}))
	l, err := models.Load(t.Context(), os.DirFS(dir), nil)
	kerastest.Must(t, err)
	if l.Trainer == nil || l.CompileError != nil {
		t.Fatalf("no trainer: %v", l.CompileError)
	}
	sm, err := savedmodel.Read(t.Context(), os.DirFS(dir), nil)
	kerastest.Must(t, err)
	objects, err := sm.MetaGraphs[0].Keras()
	kerastest.Must(t, err)
	var names []string
	for _, o := range objects {
		if o.Identifier == "_tf_keras_metric" {
			names = append(names, o.Path+" "+o.Name)
		}
	}
	if got, want := fmt.Sprint(names), "[root.keras_api.metrics.0 loss root.keras_api.metrics.1 mae]"; got != want {
		t.Errorf("metrics %s, want %s", got, want)
	}
	for step := range 3 {
		want, got := lossOf(t, trainer, data), lossOf(t, l.Trainer, data)
		if math.Abs(want-got) > 1e-6*math.Abs(want) {
			t.Errorf("step %d: the loss is %v, want %v", step, got, want)
		}
	}
}

func TestASaveBeforeTheFirstStepKeepsTheOptimizersState(t *testing.T) {
	for name, layout := range map[string]optimizers.Layout{"legacy": optimizers.LegacyLayout, "new": optimizers.NewLayout} {
		t.Run(name, func(t *testing.T) {
			m, _, data := trained(t)
			adam := optimizers.NewAdam(0.01)
			kerastest.Must(t, adam.SetLayout(layout))
			trainer, err := keras.Compile(m, &keras.CompileOptions{Optimizer: adam, Loss: "mse"})
			kerastest.Must(t, err)
			for range 3 {
				lossOf(t, trainer, data)
			}
			dir := t.TempDir()
			kerastest.Must(t, models.Save(t.Context(), m, filepath.Join(dir, "0"), &models.SaveOptions{Trainer: trainer}))
			var l *models.Loaded
			for i := range 2 {
				l, err = models.Load(t.Context(), os.DirFS(filepath.Join(dir, fmt.Sprint(i))), nil)
				kerastest.Must(t, err)
				kerastest.Must(t, models.Save(t.Context(), l.Model, filepath.Join(dir, fmt.Sprint(i+1)), &models.SaveOptions{Trainer: l.Trainer}))
			}
			for step := range 3 {
				want, got := lossOf(t, trainer, data), lossOf(t, l.Trainer, data)
				if math.Abs(want-got) > 1e-6*math.Abs(want) {
					t.Errorf("step %d: the loss is %v, want %v", step, got, want)
				}
			}
		})
	}
}

func TestCompileStatesOfTfKerasOpen(t *testing.T) {
	l, err := models.Load(t.Context(), saved(t, "functional"), nil)
	kerastest.Must(t, err)
	if l.Trainer == nil || l.CompileError != nil {
		t.Fatalf("no trainer: %v", l.CompileError)
	}
	if len(l.Unused) > 8 { // metrics and counters, but not the optimizer's slots
		t.Errorf("unused values: %q", l.Unused)
	}
}
