package function_test

import (
	"context"
	"math"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

type example struct{ X, Y *ops.Value }

// guide is the checkpoint guide's training step without layers: a Dense(5), the
// mean absolute error, Adam.
type guide struct {
	kernel, bias, mk, vk, mb, vb *trackable.Variable
	steps                        int
}

func zeros(dims ...int) *trackable.Variable {
	return trackable.NewVariable(tensor.Must(tensor.Zeros(tensor.Float32, dims...)))
}

func newGuide() *guide {
	return &guide{kernel: zeros(1, 5), bias: zeros(5), mk: zeros(1, 5), vk: zeros(1, 5), mb: zeros(5), vb: zeros(5)}
}

func (g *guide) step(s *ops.Scope, ex example) *ops.Value {
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		y := ops.BiasAdd(s, ops.MatMul(s, ex.X, g.kernel), g.bias)
		return ops.Mean(s, ops.Abs(s, ops.Sub(s, y, ex.Y)))
	})
	g.steps++
	b1, b2 := math.Pow(0.9, float64(g.steps)), math.Pow(0.999, float64(g.steps))
	for _, p := range tape.Gradient(loss, []*trackable.Variable{g.kernel, g.bias}) {
		m, v := g.mk, g.vk
		if p.Variable == g.bias {
			m, v = g.mb, g.vb
		}
		ops.ApplyAdam(s, p.Variable, m, v, b1, b2, 0.1, 0.9, 0.999, 1e-7, p.Grad)
	}
	return loss
}

func guideExample() example {
	x := tensor.Must(tensor.New([]float32{3, 4}, 2, 1))
	y := make([]float32, 10)
	for i := range y {
		y[i] = []float32{3, 4}[i/5]*5 + float32(i%5)
	}
	return example{ops.ValueOf(x), ops.ValueOf(tensor.Must(tensor.New(y, 2, 5)))}
}

func TestTrainingStepLowersTheLoss(t *testing.T) {
	step := function.New(newGuide().step)
	ex := guideExample()
	var first, last float32
	for i := range 200 {
		loss, err := step.Call(context.Background(), ex)
		if err != nil {
			t.Fatal(err)
		}
		last, err = ops.Item[float32](loss)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = last
		}
	}
	if first < 15 || last > 1 {
		t.Errorf("the loss went from %v to %v", first, last)
	}
}

func BenchmarkGuideStep(b *testing.B) {
	step := function.New(newGuide().step)
	ex := guideExample()
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := step.Call(ctx, ex); err != nil {
			b.Fatal(err)
		}
	}
}
