package run_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/internal/testkit/hostilemodels"
	"github.com/cairnml/cairn/internal/testkit/processor"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// TestHostileModelsEndWithTheContext checks that reading, loading and calling models that are
// written with intent to harm return soon after their context ends. With CAIRN_HOSTILE=all the
// models are as large as files can be, and soon is 100 ms.
func TestHostileModelsEndWithTheContext(t *testing.T) {
	all := os.Getenv("CAIRN_HOSTILE") == "all"
	grace := 2 * time.Second // the machine may be busy
	if all {
		grace = 100 * time.Millisecond
	}
	if detector.Racing {
		grace *= 5
	}
	for i, m := range hostilemodels.All(all) {
		if !all && i%6 != 0 || !strings.Contains(m.Name, os.Getenv("CAIRN_HOSTILE_ONLY")) {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			fsys := fstest.MapFS{"saved_model.pb": {Data: m.Make()}}
			timed := func(what string, f func(ctx context.Context) error) error {
				ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
				defer cancel()
				begin, worked := time.Now(), processor.Time()
				err := f(ctx)
				took, worked := time.Since(begin), processor.Time()-worked
				if late := min(took, worked) - 50*time.Millisecond; late > grace {
					t.Errorf("%s returned %v after its context's end, after %v of the processor's time: %v", what, late, worked, err)
				}
				return err
			}
			_ = timed("Read", func(ctx context.Context) error {
				_, err := savedmodel.Read(ctx, fsys, nil)
				return err
			})
			opts := &run.LoadOptions{Kernels: kernel.All(), MaxMemory: 1 << 28}
			err := timed("Load", func(ctx context.Context) error {
				_, err := run.Load(ctx, fsys, opts)
				return err
			})
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				return
			}
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			model, err := run.Load(ctx, fsys, opts)
			if err != nil {
				return
			}
			for _, what := range []string{"the first call", "the second call"} {
				_ = timed(what, func(ctx context.Context) error {
					_, err := model.Call(ctx, "serving_default", map[string]*tensor.Tensor{"x": tensor.Vector[float32](1)})
					return err
				})
			}
		})
	}
}

// TestLoadingEndsWithTheContext checks that loading a graph of 100,000 nodes returns long before
// its work would be done if its context ends.
func TestLoadingEndsWithTheContext(t *testing.T) {
	const name = "a chain of Negs, large"
	var fsys fstest.MapFS
	for _, m := range hostilemodels.All(true) {
		if m.Name == name {
			fsys = fstest.MapFS{"saved_model.pb": {Data: m.Make()}}
		}
	}
	if fsys == nil {
		t.Fatalf("there is no model %q", name)
	}
	load := func(ctx context.Context) (time.Duration, error) {
		begin := time.Now()
		_, err := run.Load(ctx, fsys, &run.LoadOptions{Kernels: kernel.All()})
		return time.Since(begin), err
	}
	whole, err := load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var took time.Duration
	for range 5 { // the machine may be busy
		ctx, cancel := context.WithTimeout(ctx, whole/10)
		took, err = load(ctx)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && took < whole/2 {
			return
		}
	}
	t.Errorf("%v after %v, without a deadline it takes %v", err, took, whole)
}

// TestLoopsOfEmptyFunctionsEndWithMaxSteps checks that a loop whose functions have no ops is
// bounded too.
func TestLoopsOfEmptyFunctionsEndWithMaxSteps(t *testing.T) {
	tried := 0
	for _, m := range hostilemodels.All(false) {
		if m.Name != "a loop with an empty body" && m.Name != "a loop without variables" {
			continue
		}
		tried++
		fsys := fstest.MapFS{"saved_model.pb": {Data: m.Make()}}
		model, err := run.Load(ctx, fsys, &run.LoadOptions{Kernels: kernel.All(), MaxSteps: 1000})
		if err != nil {
			t.Fatal(err)
		}
		_, err = model.Call(ctx, "serving_default", map[string]*tensor.Tensor{"x": tensor.Vector[float32](1)})
		if err == nil || !strings.Contains(err.Error(), "MaxSteps") {
			t.Errorf("%s: %v, want an error of MaxSteps", m.Name, err)
		}
	}
	if tried != 2 {
		t.Errorf("%d models were tried, want 2", tried)
	}
}
