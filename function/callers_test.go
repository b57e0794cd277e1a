package function_test

import (
	"context"
	"sync"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// onOneCore returns a function whose calls start no helpers.
func onOneCore(mode function.Mode) *function.Func[linearIn, *ops.Value] {
	w := trackable.NewVariable(tensor.Must(tensor.Zeros(tensor.Float32, 64, 64)))
	return function.New(func(s *ops.Scope, in linearIn) *ops.Value {
		x := in.X
		for range 8 {
			x = ops.Add(s, ops.Tanh(s, ops.MatMul(s, x, w)), 1)
		}
		return ops.Sum(s, x)
	}, &function.Options{Mode: mode, Workers: engine.NewWorkers(1)})
}

// TestCallersOfOneFunctionGetTheSame calls one function from many goroutines, by
// the plan that they share.
func TestCallersOfOneFunctionGetTheSame(t *testing.T) {
	for name, mode := range map[string]function.Mode{"eager": function.Eagerly, "traced": function.Traced} {
		f := onOneCore(mode)
		in := linearIn{ops.ValueOf(tensor.Must(tensor.Zeros(tensor.Float32, 16, 64)))}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 50 {
					out, err := f.Call(context.Background(), in)
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					if got, err := ops.Item[float32](out); err != nil || got != 16*64 {
						t.Errorf("%s: got %v, %v", name, got, err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

// BenchmarkCallers calls a function that keeps to one core, from one goroutine
// and from two: ns/op is per call, so that two take half if they share nothing.
func BenchmarkCallers(b *testing.B) {
	for name, callers := range map[string]int{"one": 1, "two": 2} {
		b.Run(name, func(b *testing.B) {
			f := onOneCore(function.Traced)
			in := linearIn{ops.ValueOf(tensor.Must(tensor.Zeros(tensor.Float32, 16, 64)))}
			if _, err := f.Call(context.Background(), in); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var wg sync.WaitGroup
			b.ResetTimer()
			for range callers {
				wg.Go(func() {
					for range b.N / callers {
						if _, err := f.Call(context.Background(), in); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}
