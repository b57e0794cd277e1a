package keras

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

type benchExample struct{ X, Y *ops.Value }

// BenchmarkGuideStep measures the guide's train step on a batch of two.
func BenchmarkGuideStep(b *testing.B) {
	x, y := toy()
	ex := benchExample{ops.ValueOf(rowsOf(b, x, 0, 2)), ops.ValueOf(rowsOf(b, y, 0, 2))}
	net, opt := &Net{L1: &layers.Dense{Units: 5}}, optimizers.NewAdam(0.1)
	step := function.New(func(s *ops.Scope, ex benchExample) *ops.Value {
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			return ops.Mean(s, ops.Abs(s, ops.Sub(s, net.Call(s, ex.X), ex.Y)))
		})
		opt.Apply(s, tape.Gradient(loss, Trainable(net)))
		return loss
	})
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := step.Call(ctx, ex); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTrainable(b *testing.B) {
	net := &Net{L1: &layers.Dense{Units: 5}}
	x, _ := toy()
	net.Call(scope(b), x)
	b.ReportAllocs()
	for b.Loop() {
		Trainable(net)
	}
}

func BenchmarkAdamApply(b *testing.B) {
	kernel, bias := trackable.NewVariable(mat(1, 5, 1, 2, 3, 4, 5)), trackable.NewVariable(vec(1, 2, 3, 4, 5))
	g := grad.Gradients{{Variable: kernel, Grad: ops.ValueOf(kernel.Load().Clone())}, {Variable: bias, Grad: ops.ValueOf(bias.Load().Clone())}}
	opt := optimizers.NewAdam(0.1)
	s := function.Eager(context.Background())
	b.ReportAllocs()
	for b.Loop() {
		opt.Apply(s, g)
	}
	if err := s.Err(); err != nil {
		b.Fatal(err)
	}
}
