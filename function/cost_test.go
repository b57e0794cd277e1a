package function_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
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

// BenchmarkEagerAdd measures one eager addition of four elements.
func BenchmarkEagerAdd(b *testing.B) {
	x := ops.ValueOf(tensor.Vector[float32](1, 2, 3, 4))
	ctx := context.Background()
	f := function.New(func(s *ops.Scope, in linearIn) *ops.Value {
		v := in.X
		for range 1000 {
			v = ops.Add(s, v, in.X)
		}
		return v
	})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Call(ctx, linearIn{x}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/add")
}
