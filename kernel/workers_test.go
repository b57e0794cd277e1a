package kernel_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestReductionsDontDependOnWorkers: the division of a loop among workers
// depends on their number and on whether one is free. Sums must not depend on
// either.
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

// TestSumsOfFewColumns: the rows of narrow matrices are added several at a
// time, in pieces. The result is the sum, the same for any number of workers.
func TestSumsOfFewColumns(t *testing.T) {
	for _, s := range [][2]int{{21_632, 32}, {4096, 1}, {70_000, 3}, {128, 512}, {100, 513}, {1365, 3}, {1000, 7}, {9, 500}, {50_001, 10}} {
		x := make([]float32, s[0]*s[1])
		want := make([]float64, s[1])
		for i := range x {
			x[i] = float32(math.Sin(float64(i)))
			want[i%s[1]] += float64(x[i])
		}
		in := ops.ValueOf(tensor.Must(tensor.New(x, s[0], s[1])))
		var first []float32
		for _, workers := range []int{1, 2, 4} {
			w := engine.NewWorkers(workers)
			scope := ops.NewScope(context.Background(), &ops.ScopeOptions{Kernels: kernel.All(), Workers: w})
			sums, err := scope.Emit1("BiasAddGrad", nil, in).Tensor()
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Clone(tensor.Values[float32](sums))
			if first == nil {
				first = got
			}
			if !slices.Equal(got, first) {
				t.Errorf("%v: the sums of %d workers differ from those of one", s, workers)
			}
			for i, v := range got {
				if math.Abs(float64(v)-want[i]) > 1e-5*math.Sqrt(float64(s[0])) {
					t.Fatalf("%v: the sum of column %d is %v, want %v", s, i, v, want[i])
				}
			}
			if err := scope.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestGathersOfManyRows: a gather in pieces returns the rows of the indices, in
// batches and after other dimensions too.
func TestGathersOfManyRows(t *testing.T) {
	const batches, outer, n, inner, per = 3, 2, 7, 5, 20_000
	x := make([]int32, batches*outer*n*inner)
	words := make([]string, len(x))
	for i := range x {
		x[i], words[i] = int32(i), fmt.Sprint(i)
	}
	at := make([]int64, batches*per)
	for i := range at {
		at[i] = int64(i*i) % n
	}
	indices := ops.ValueOf(tensor.Must(tensor.New(at, batches, per)))
	for _, workers := range []int{1, 2, 5} {
		scope := ops.NewScope(context.Background(), &ops.ScopeOptions{Kernels: kernel.All(), Workers: engine.NewWorkers(workers)})
		gather := func(x *tensor.Tensor) *tensor.Tensor {
			y, err := scope.Emit1("GatherV2", graph.Attrs{graph.Int("batch_dims", 1)}, ops.ValueOf(x), indices, ops.Const(scope, 2)).Tensor()
			if err != nil {
				t.Fatal(err)
			}
			return y
		}
		numbers := tensor.Values[int32](gather(tensor.Must(tensor.New(x, batches, outer, n, inner))))
		texts := gather(tensor.Must(tensor.New(words, batches, outer, n, inner))).Strings()
		for i, got := range numbers {
			row := i / inner
			part := row / per
			want := (part*n+int(at[part/outer*per+row%per]))*inner + i%inner
			if int(got) != want || texts[i] != words[want] {
				t.Fatalf("element %d is %d and %q, want %d", i, got, texts[i], want)
			}
		}
		if err := scope.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReductionsOfManyRowsAllocateLittle: pieces of a reduction work in the memory of the
// call.
func TestReductionsOfManyRowsAllocateLittle(t *testing.T) {
	if detector.Racing {
		t.Skip("the race detector empties pools")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which empties pools
	for _, s := range [][]int{{1, 112, 112, 32}, {1, 7, 7, 64}, {1, 1 << 18, 1, 1}, {300, 40, 40, 5}} {
		in := ops.ValueOf(tensor.Must(tensor.Zeros(tensor.Float32, s...)))
		f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Sum(s, ops.Mean(s, x, 1, 2))
		}, &function.Options{Mode: function.Traced, Workers: engine.NewWorkers(1)})
		call := func() {
			if _, err := f.Call(context.Background(), in); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			call()
		}
		least := uint64(math.MaxUint64)
		for range 5 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range 10 {
				call()
			}
			runtime.ReadMemStats(&after)
			least = min(least, (after.TotalAlloc-before.TotalAlloc)/10)
		}
		if least > 2<<10 {
			t.Errorf("a mean of %v takes %d bytes", s, least)
		}
	}
}

// TestConvolutionsAllocateLittle: a call of a large network has some of each size.
func TestConvolutionsAllocateLittle(t *testing.T) {
	if detector.Racing {
		t.Skip("the race detector empties pools")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which empties pools
	const convolutions = 24
	in := ops.ValueOf(tensor.Must(tensor.Zeros(tensor.Float32, 1, 8, 8, 4)))
	filter := tensor.Must(tensor.Zeros(tensor.Float32, 1, 1, 4, 4))
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		for range convolutions {
			x = ops.Tanh(s, ops.Conv2D(s, x, filter))
		}
		return x
	}, &function.Options{Mode: function.Traced, Workers: engine.NewWorkers(1)})
	if n := testing.AllocsPerRun(20, func() {
		if _, err := f.Call(context.Background(), in); err != nil {
			t.Fatal(err)
		}
	}); n >= convolutions {
		t.Errorf("%v allocations in a call of %d convolutions", n, convolutions)
	}
}
