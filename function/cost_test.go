package function_test

import (
	"context"
	"math"
	"runtime"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// BenchmarkStep measures a training step of a small linear model, eagerly and
// as a compiled trace.
func BenchmarkStep(b *testing.B) {
	for name, mode := range map[string]function.Mode{"eager": function.Eagerly, "traced": function.Traced} {
		b.Run(name, func(b *testing.B) {
			l := newLinear()
			vars := []*trackable.Variable{l.w, l.b}
			step := function.New(func(s *ops.Scope, in linearIn) *ops.Value {
				loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
					return ops.Mean(s, ops.Abs(s, ops.Sub(s, l.predict(s, in).Logits, 1)))
				})
				for _, g := range tape.Gradient(loss, vars) {
					ops.ApplyGradientDescent(s, g.Variable, 0.001, g.Grad)
				}
				return loss
			}, &function.Options{Mode: mode})
			in := linearIn{ops.ValueOf(tensor.Must(tensor.New([]float32{1, -2, 3, -4, .1, .2, .3, .4}, 2, 4)))}
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := step.Call(ctx, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// small are ops over a few elements, for which the work around the loop
// dominates, and the most allocations that each may make.
var small = []struct {
	name   string
	op     func(s *ops.Scope, x *ops.Value) *ops.Value
	allocs float64
}{
	{"Add", func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, x) }, 1},
	{"StridedSlice", func(s *ops.Scope, x *ops.Value) *ops.Value {
		return ops.StridedSlice(s, x, ops.Whole(), ops.Span(0, 1))
	}, 1},
	{"Slice", func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.SliceOf(s, x, []int{0, 1}, []int{2, 1}) }, 2},
	{"Concat", func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Concat(s, []*ops.Value{x, x}, 1) }, 3},
	{"Reshape", func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Reshape(s, x, 1, -1) }, 2},
	{"Transpose", func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Transpose(s, x, 1, 0) }, 3},
}

// repeated returns a function that runs op a thousand times.
func repeated(op func(s *ops.Scope, x *ops.Value) *ops.Value) func() error {
	in := linearIn{ops.ValueOf(tensor.Must(tensor.New([]float32{1, 2, 3, 4}, 2, 2)))}
	f := function.New(func(s *ops.Scope, in linearIn) *ops.Value {
		var v *ops.Value
		for range 1000 {
			v = op(s, in.X)
		}
		return v
	})
	return func() error {
		_, err := f.Call(context.Background(), in)
		return err
	}
}

func TestSmallEagerOpsAllocateLittle(t *testing.T) {
	for _, c := range small {
		call := repeated(c.op)
		n := testing.AllocsPerRun(2, func() {
			if err := call(); err != nil {
				t.Fatal(err)
			}
		}) / 1000
		if n > c.allocs && !detector.Racing {
			t.Errorf("%s makes %.1f allocations, want at most %v", c.name, n, c.allocs)
		}
	}
}

// Most allocations of calls are eager values: the less memory they take, the fewer
// collections.
func TestSmallEagerOpsTakeLittleMemory(t *testing.T) {
	call := repeated(small[0].op)
	var before, after runtime.MemStats
	per := uint64(math.MaxUint64)
	for range 5 { // the first call, and one during a collection, allocate memory that later ones reuse
		runtime.ReadMemStats(&before)
		if err := call(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		per = min(per, (after.TotalAlloc-before.TotalAlloc)/1000)
	}
	if per > 96 && !detector.Racing {
		t.Errorf("an %s takes %d bytes, want at most 96", small[0].name, per)
	}
}

// BenchmarkEagerSmall measures a thousand ops over a few elements.
func BenchmarkEagerSmall(b *testing.B) {
	for _, c := range small {
		b.Run(c.name, func(b *testing.B) {
			call := repeated(c.op)
			b.ReportAllocs()
			for b.Loop() {
				if err := call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
