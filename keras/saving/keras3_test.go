package saving_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/saving"
	"github.com/cairnml/cairn/tensor"
)

func TestModelsOfKeras3AreReadAndWritten(t *testing.T) {
	want := outputs(t)
	ctx := context.Background()
	theirs := open(t, fixture(t, "keras3_stacked.keras"))
	m, err := saving.LoadModelFrom(ctx, theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, call(t, m.Model, want["x"]), want["keras3_stacked"])
	if n, err := m.Optimizer.Iterations(); err != nil || n != 1 {
		t.Errorf("the optimizer has done %d steps (%v), want 1", n, err)
	}
	var b bytes.Buffer
	if err := saving.WriteModel(ctx, &b, m.Model, kerasfile.Archive, &saving.SaveModelOptions{Keras: 3, Optimizer: m.Optimizer, Training: m.Training}); err != nil {
		t.Fatal(err)
	}
	ours := open(t, b.Bytes())
	same(t, ours, theirs)
	again, err := saving.LoadModelFrom(ctx, ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, call(t, again.Model, want["x"]), want["keras3_stacked"])
}

func TestTrainingStatesOfKeras3AreReadAndWritten(t *testing.T) {
	want := arrays(t, "outputs_keras3.npz")
	ctx := t.Context()
	for _, c := range []struct {
		file   string
		steps  int64
		scaled bool
	}{
		{"keras3_mixed.keras", 1, true},
		{"keras3_untrained.keras", 0, false},
		{"keras3_model.h5", 1, false},
	} {
		t.Run(c.file, func(t *testing.T) {
			check := func(f *kerasfile.File) *saving.Loaded {
				t.Helper()
				m, err := saving.LoadModelFrom(ctx, f, nil)
				if err != nil {
					t.Fatal(err)
				}
				name, _, _ := strings.Cut(c.file, ".")
				compare(t, call(t, m.Model, want["x"]), want[name])
				if n, err := m.Optimizer.Iterations(); err != nil || n != c.steps {
					t.Errorf("the optimizer has done %d steps (%v), want %d", n, err, c.steps)
				}
				scaled, ok := m.Optimizer.(*optimizers.LossScaleOptimizer)
				if ok != c.scaled {
					t.Errorf("got a %T, want scaled losses: %v", m.Optimizer, c.scaled)
				} else if ok {
					s := function.Eager(ctx)
					if n, err := scaled.DynamicCounter(s).Tensor(); err != nil || tensor.Values[int64](n)[0] != 1 {
						t.Errorf("steps with the scale: got %v (%v), want 1", n, err)
					}
				}
				return m
			}
			theirs := open(t, fixture(t, c.file))
			m := check(theirs)
			var b bytes.Buffer
			if err := saving.WriteModel(ctx, &b, m.Model, theirs.Format, &saving.SaveModelOptions{Keras: 3, Optimizer: m.Optimizer, Training: m.Training}); err != nil {
				t.Fatal(err)
			}
			check(open(t, b.Bytes()))
		})
	}
}

func TestLossesOfKeras3sH5FilesHaveLongNames(t *testing.T) {
	ctx := t.Context()
	m, err := saving.LoadModelFrom(ctx, open(t, fixture(t, "keras3_untrained.keras")), nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := saving.WriteModel(ctx, &b, m.Model, kerasfile.LegacyModel, &saving.SaveModelOptions{Keras: 3, Optimizer: m.Optimizer, Training: m.Training}); err != nil {
		t.Fatal(err)
	}
	if got, want := string(open(t, b.Bytes()).TrainingConfig), `"loss":"mean_squared_error"`; !strings.Contains(got, want) {
		t.Errorf("got the compilation %s, want %s", got, want)
	}
}
