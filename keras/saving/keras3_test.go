package saving_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/keras/saving"
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
