package run_test

import (
	"encoding/json"
	"testing"

	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// TestEachCallSiteHasARandomState checks the random state of nodes in
// functions. Each call site has its own state, which continues in the model's
// next call, whether the function is inlined or not. A function that must not
// be inlined has one state for all sites. A dataset's functions start with a
// new state for each iterator.
func TestEachCallSiteHasARandomState(t *testing.T) {
	fsys := files(t, "random_paths")
	var want map[string][]plainTensor
	if err := json.Unmarshal(fsys["results.json"].Data, &want); err != nil {
		t.Fatal(err)
	}
	for which, list := range map[string][]passes.Pass{"inlined": nil, "as it is": {}} {
		m, err := run.Load(ctx, fsys, &run.LoadOptions{Kernels: kernel.All(), Passes: list})
		if err != nil {
			t.Fatal(err)
		}
		for name, calls := range want {
			f, err := m.Function(name)
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range calls {
				var args []any
				if len(f.Info().Parameters.Names) > 0 {
					args = append(args, tensor.Scalar([]int32{1, 1, 0}[i]))
				}
				out, err := f.Call(ctx, args, nil)
				if err != nil {
					t.Fatalf("%s, %s: %v", name, which, err)
				}
				if got := out.(*tensor.Tensor); !got.Equal(w.tensor()) {
					t.Errorf("%s, %s, call %d: %v, TensorFlow has %v", name, which, i, got, w.Values)
				}
			}
		}
	}
}
