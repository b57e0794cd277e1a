package training_test

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/training"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestCheckpointsOfFunctionalModels continues trainings of tf_keras, writes their
// checkpoints again, and trains new models.
func TestCheckpointsOfFunctionalModels(t *testing.T) {
	var f struct {
		Words [][]int64
		X, Y  [][]float32
		Cases []struct {
			Name              string
			Config, Optimizer json.RawMessage
			Start             []any
			First, Second     []float64
		}
	}
	kerastest.JSON(t, "testdata/checkpoints.json", &f)
	data := &training.Examples{X: []any{f.Words, f.X}, Y: f.Y}
	for _, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) {
			prefix := filepath.Join("testdata/checkpoints", c.Name)
			make := func() (*training.Trainer, *checkpoint.Checkpoint) {
				obj, err := keras.FromConfig(c.Config, nil)
				must(t, err)
				o, err := keras.FromConfig(c.Optimizer, nil)
				must(t, err)
				trainer := compiled(t, obj.(base.Callable), &training.CompileOptions{Optimizer: o.(optimizers.Optimizer), Loss: "mse"})
				saver, err := checkpoint.New(obj, &checkpoint.Options{Extra: map[string]any{"optimizer": o}})
				must(t, err)
				return trainer, saver
			}
			fit := func(trainer *training.Trainer, want []float64) {
				t.Helper()
				h, err := trainer.Fit(ctx, data, &training.FitOptions{BatchSize: 4, Epochs: len(want), InOrder: true})
				must(t, err)
				sameHistory(t, "fit", h, map[string][]float64{"loss": want})
			}

			// tf_keras's checkpoint, written again, has the same values; the training
			// continues.
			trainer, saver := make()
			build := func() {
				must(t, trainer.Optimizer().(optimizers.Based).AsBase().Build(base.Trainable(trainer.Model())))
			}
			build()
			report, err := saver.Read(ctx, prefix, nil)
			must(t, err)
			must(t, report.AssertConsumed())
			again := filepath.Join(t.TempDir(), c.Name)
			must(t, saver.Write(ctx, again))
			sameBundles(t, prefix, again, 0)
			fit(trainer, c.Second)

			// A training of ours has a checkpoint with the keys of tf_keras's, and its values.
			trainer, saver = make()
			for i, v := range keras.Variables(trainer.Model()) {
				text, err := json.Marshal(c.Start[i])
				must(t, err)
				must(t, v.Store(tensorOfJSON(t, text, v.Shape())))
			}
			build()
			fit(trainer, c.First)
			own := filepath.Join(t.TempDir(), c.Name)
			must(t, saver.Write(ctx, own))
			sameBundles(t, prefix, own, 1e-4)
		})
	}
}

// tensorOfJSON returns the float32 tensor of nested lists.
func tensorOfJSON(t *testing.T, text []byte, shape tensor.Shape) *tensor.Tensor {
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("["), nil), []byte("]"), nil)
	var flat []float32
	must(t, json.Unmarshal(append(append([]byte("["), text...), ']'), &flat))
	x, err := tensor.New(flat, shape...)
	must(t, err)
	return x
}

// sameBundles compares the keys and values of two checkpoints, floats within a tolerance. The
// object graphs differ in objects without values, such as the functions that fit has made.
func sameBundles(t *testing.T, want, got string, tolerance float64) {
	a, err := bundle.OpenFile(ctx, want, nil)
	must(t, err)
	defer a.Close()
	b, err := bundle.OpenFile(ctx, got, nil)
	must(t, err)
	defer b.Close()
	if d := cmp.Diff(a.Names(), b.Names()); d != "" {
		t.Fatalf("keys (-tf_keras +ours):\n%s", d)
	}
	for _, key := range a.Names() {
		if key == trackable.ObjectGraphKey {
			continue
		}
		x, err := a.Read(ctx, key)
		must(t, err)
		y, err := b.Read(ctx, key)
		must(t, err)
		if x.DType() != tensor.Float32 || !x.Shape().Equal(y.Shape()) {
			if !x.Equal(y) {
				t.Errorf("%s differs", key)
			}
			continue
		}
		for i, v := range tensor.Values[float32](x) {
			if math.Abs(float64(v-tensor.Values[float32](y)[i])) > tolerance {
				t.Errorf("%s: element %d is %v, want %v", key, i, tensor.Values[float32](y)[i], v)
				break
			}
		}
	}
}
