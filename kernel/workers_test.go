package kernel_test

import (
	"context"
	"math"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestReductionsDontDependOnWorkers: whether a loop is shared depends on how many
// workers there are and on whether one looks out just now; sums must not.
func TestReductionsDontDependOnWorkers(t *testing.T) {
	for _, n := range []int{30_000, 1<<16 + 1, 100_000, 1_000_000} {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(math.Sin(float64(i))) / 3
		}
		in := ops.ValueOf(tensor.Vector(x...))
		seen := map[uint32]bool{}
		for _, workers := range []int{1, 2, 4} {
			w := engine.NewWorkers(workers)
			for range 20 {
				s := ops.NewScope(context.Background(), &ops.ScopeOptions{Kernels: kernel.All(), Workers: w})
				sum := ops.Sum(s, in)
				got, err := sum.Tensor()
				if err != nil {
					t.Fatal(err)
				}
				seen[math.Float32bits(tensor.Values[float32](got)[0])] = true
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(seen) != 1 {
			t.Errorf("%d elements have %d sums", n, len(seen))
		}
	}
}
