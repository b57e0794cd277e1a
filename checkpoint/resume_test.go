package checkpoint_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

type counter struct{ Step *trackable.Scalar[int64] }

// TestResumeGoesOnWhereTheLastRunEnded checks that Resume continues the last
// run, and unlocks the directory if it fails.
func TestResumeGoesOnWhereTheLastRunEnded(t *testing.T) {
	ctx, dir := context.Background(), filepath.Join(t.TempDir(), "run")
	for n := int64(1); n <= 3; n++ {
		c := &counter{trackable.NewScalar[int64](0)}
		m, err := checkpoint.Resume(ctx, c, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Step.Add(1); got != n {
			t.Errorf("run %d begins at step %d", n, got-1)
		}
		if _, err := m.Save(ctx); err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// Strict: another program's objects aren't half restored.
	other := &struct {
		Step, Loss *trackable.Scalar[int64]
	}{trackable.NewScalar[int64](7), trackable.NewScalar[int64](0)}
	for range 2 { // the first error left the directory free
		m, err := checkpoint.Resume(ctx, other, dir, nil)
		var restore *checkpoint.RestoreError
		if m != nil || !errors.As(err, &restore) || other.Step.Get() != 7 {
			t.Fatalf("%v, %v, step %d", m, err, other.Step.Get())
		}
	}
	if _, err := checkpoint.Resume(ctx, tensor.Scalar[int32](1), dir, nil); err == nil {
		t.Error("a tensor was taken for a graph of objects")
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := checkpoint.Resume(ctx, &counter{trackable.NewScalar[int64](0)}, file, nil); err == nil {
		t.Error("a file was taken for a directory")
	}
	init := 0
	m, err := checkpoint.Resume(ctx, &counter{trackable.NewScalar[int64](0)}, filepath.Join(dir, "new"), &checkpoint.ManagerOptions{
		Init: func(context.Context) error { init++; return nil },
	})
	if err != nil || init != 1 {
		t.Fatalf("initialized %d times, %v", init, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
