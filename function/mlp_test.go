package function_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// mlp is a classifier of dense layers, trained with Adam.
type mlp struct {
	vars  []*trackable.Variable // kernel, bias, kernel, bias, …
	slots map[*trackable.Variable][2]*trackable.Variable
	steps int
}

func newMLP(sizes ...int) *mlp {
	r := rand.New(rand.NewPCG(1, 2))
	m := &mlp{slots: map[*trackable.Variable][2]*trackable.Variable{}}
	add := func(v *trackable.Variable, dims ...int) {
		m.vars = append(m.vars, v)
		m.slots[v] = [2]*trackable.Variable{zeros(dims...), zeros(dims...)}
	}
	for i := 1; i < len(sizes); i++ {
		in, out := sizes[i-1], sizes[i]
		w := make([]float32, in*out)
		for k := range w {
			w[k] = float32(r.NormFloat64() / math.Sqrt(float64(in)))
		}
		add(trackable.NewVariable(tensor.Must(tensor.New(w, in, out))), in, out)
		add(zeros(out), out)
	}
	return m
}

func (m *mlp) step(s *ops.Scope, ex example) *ops.Value {
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		h := ex.X
		for i := 0; i < len(m.vars); i += 2 {
			h = ops.BiasAdd(s, ops.MatMul(s, h, m.vars[i]), m.vars[i+1])
			if i+2 < len(m.vars) {
				h = ops.Relu(s, h)
			}
		}
		return ops.Mean(s, ops.SparseSoftmaxCrossEntropy(s, ex.Y, h))
	})
	m.steps++
	b1, b2 := math.Pow(0.9, float64(m.steps)), math.Pow(0.999, float64(m.steps))
	for _, p := range tape.Gradient(loss, m.vars) {
		slots := m.slots[p.Variable]
		ops.ApplyAdam(s, p.Variable, slots[0], slots[1], b1, b2, 1e-3, 0.9, 0.999, 1e-7, p.Grad)
	}
	return loss
}

func BenchmarkMLPStep(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	x, y := make([]float32, 128*784), make([]int32, 128)
	for i := range x {
		x[i] = r.Float32()
	}
	for i := range y {
		y[i] = r.Int32N(10)
	}
	ex := example{ops.ValueOf(tensor.Must(tensor.New(x, 128, 784))), ops.ValueOf(tensor.Vector(y...))}
	step := function.New(newMLP(784, 512, 256, 10).step)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := step.Call(ctx, ex); err != nil {
			b.Fatal(err)
		}
	}
}
