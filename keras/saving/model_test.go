package saving_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/saving"
)

func TestLoadedModelsGiveTheOutputsOfKeras(t *testing.T) {
	want := outputs(t)
	ctx := context.Background()
	for _, file := range []string{"keras2_stacked.keras", "keras2_model.h5", "keras2_legacy.h5"} {
		t.Run(file, func(t *testing.T) {
			name, _, _ := strings.Cut(file, ".")
			m, err := saving.LoadModelFrom(ctx, open(t, fixture(t, file)), nil)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, call(t, m.Model, want["x"]), want[name])
			if n, err := m.Optimizer.Iterations(); err != nil || n != 1 {
				t.Errorf("the optimizer has done %d steps (%v), want 1", n, err)
			}
			theirs := open(t, fixture(t, file))
			var b bytes.Buffer
			if err := saving.WriteModel(ctx, &b, m.Model, theirs.Format, &saving.SaveModelOptions{Optimizer: m.Optimizer, Training: m.Training}); err != nil {
				t.Fatal(err)
			}
			ours := open(t, b.Bytes())
			same(t, ours, theirs)
			again, err := saving.LoadModelFrom(ctx, ours, nil)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, call(t, again.Model, want["x"]), want[name])
		})
	}
}

func TestModelsThatCantBeLoadedOrSavedAreErrors(t *testing.T) {
	ctx := context.Background()
	for file, want := range map[string]string{
		"keras2_stacked.weights.h5": "weights alone",
	} {
		if _, err := saving.LoadModelFrom(ctx, open(t, fixture(t, file)), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error that says %q", file, err, want)
		}
	}
	var b bytes.Buffer
	if err := saving.WriteModel(ctx, &b, stacked(), kerasfile.Archive, nil); err == nil || !strings.Contains(err.Error(), "not built") {
		t.Errorf("got %v, want an error about a model that is not built", err)
	}
	m := keras.NewSequential(&layers.Dense{Units: 2})
	call(t, m, outputs(t)["x"])
	path := t.TempDir() + "/m.keras"
	if err := saving.SaveModel(ctx, m, path, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := saving.LoadModel(ctx, path, nil); err != nil {
		t.Error(err)
	}
}
