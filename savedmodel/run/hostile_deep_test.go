package run_test

import (
	"context"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/internal/testkit/hostilemodels"
	"github.com/cairnml/cairn/internal/testkit/processor"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/savedmodel/scan"
	"github.com/cairnml/cairn/tensor"
)

// TestDeepModelsTakeTimeInProportion scans, loads and runs models that are deep: of n parts
// and of four times as many. The time of the processor grows with the bytes of the file. A
// walk of all parts below each part would take four times as long as that.
func TestDeepModelsTakeTimeInProportion(t *testing.T) {
	n := 1500
	if testing.Short() || detector.Racing { // both sizes take longer then, by the same factor
		n = 150
	}
	small, large := hostilemodels.Deep(n), hostilemodels.Deep(4*n)
	for i, m := range small {
		t.Run(m.Name, func(t *testing.T) {
			files := [2][]byte{m.Make(), large[i].Make()}
			models := [2]fstest.MapFS{{"saved_model.pb": {Data: files[0]}}, {"saved_model.pb": {Data: files[1]}}}
			growth := float64(len(files[1])) / float64(len(files[0]))
			if growth < 3 {
				return // the number of its parts is bounded, or they are as many at each n
			}
			for what, do := range map[string]func(ctx context.Context, fsys fstest.MapFS) error{
				"scan": func(ctx context.Context, fsys fstest.MapFS) error {
					_, err := scan.Dir(ctx, fsys, m.Name, nil)
					return err
				},
				"run": func(ctx context.Context, fsys fstest.MapFS) error {
					model, err := run.Load(ctx, fsys, &run.LoadOptions{Kernels: kernel.All(), MaxMemory: 1 << 28})
					if err == nil {
						_, err = model.Call(ctx, "serving_default", map[string]*tensor.Tensor{"x": tensor.Vector[float32](1)})
					}
					return err
				},
			} {
				took := func(k int) time.Duration {
					begin := processor.Time()
					err := do(t.Context(), models[k])
					d := processor.Time() - begin
					t.Logf("%s: %v %.200v", what, d, err)
					return d
				}
				few, many := took(0), took(1)
				most := time.Duration(3 * growth * float64(max(few, 20*time.Millisecond)))
				for range 3 {
					if many <= most {
						break
					}
					many = min(many, took(1))
				}
				if many > most {
					t.Errorf("%s: %d parts take %v, %d parts %v, want at most %v", what, n, few, 4*n, many, most)
				}
			}
		})
	}
}
