package run_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cairnml/cairn/internal/testkit/hostilemodels"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// TestModelsThatGrowStayWithinTheirMemory calls models whose tensors, texts and lists grow from
// op to op, and datasets that keep what they have read. MaxMemory alone ends each call, and all
// that the call allocates until then is in proportion to it.
func TestModelsThatGrowStayWithinTheirMemory(t *testing.T) {
	const limit, allows = 8 << 20, 8 * 8 << 20 // garbage included
	grow := map[string]bool{
		"a loop that grows": true, "64 doublings of a tensor": true, "64 doublings of a text": true,
		"a dataset that shuffles all": true, "a dataset that batches all": true, "a dataset that caches all": true,
		"a loop of texts": true, "a loop of lists": true, "a zlib stream of zeros": true, "many zlib streams": true,
	}
	for _, m := range hostilemodels.All(false) {
		if !grow[m.Name] {
			continue
		}
		delete(grow, m.Name)
		t.Run(m.Name, func(t *testing.T) {
			fsys := fstest.MapFS{"saved_model.pb": {Data: m.Make()}}
			model, err := run.Load(ctx, fsys, &run.LoadOptions{Kernels: kernel.All(), MaxMemory: limit})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = model.Call(ctx, "serving_default", map[string]*tensor.Tensor{"x": tensor.Vector[float32](1)})
			runtime.ReadMemStats(&after)
			made := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d KiB: %v", made>>10, err)
			if err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, want an error of the limit", err)
			}
			if made > allows {
				t.Errorf("the call allocated %d MiB, the limit is %d: %v", made>>20, limit>>20, err)
			}
		})
	}
	for name := range grow {
		t.Errorf("there is no model %q", name)
	}
}
