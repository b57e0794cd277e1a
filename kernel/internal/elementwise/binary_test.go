package elementwise

import (
	"context"
	"fmt"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// TestBroadcastsOfAllForms holds each way through a broadcast to the plain one, by
// strides.
func TestBroadcastsOfAllForms(t *testing.T) {
	sub := ByType{tensor.Float32: Binary(vec.SubVV[float32], vec.SubVS[float32], vec.SubSV[float32], 1)}
	ks, err := engine.NewKernelSet([]engine.Kernel{sub.Kernel("Sub", "T", engine.Exact)})
	if err != nil {
		t.Fatal(err)
	}
	numbers := func(s tensor.Shape) *tensor.Tensor {
		x, _ := tensor.Zeros(tensor.Float32, s...)
		for i := range tensor.Values[float32](x) {
			tensor.Values[float32](x)[i] = float32(i*i%101 + len(s))
		}
		return x
	}
	for _, c := range []struct{ a, b, y tensor.Shape }{
		{tensor.Shape{2, 3, 4}, tensor.Shape{2, 3, 4}, tensor.Shape{2, 3, 4}},
		{tensor.Shape{2, 3, 4}, tensor.Shape{4}, tensor.Shape{2, 3, 4}},
		{tensor.Shape{2, 3, 4}, tensor.Shape{1, 3, 4}, tensor.Shape{2, 3, 4}},
		{tensor.Shape{2, 3, 4}, tensor.Shape{2, 3, 1}, tensor.Shape{2, 3, 4}},
		{tensor.Shape{2, 3, 4}, tensor.Shape{2, 1, 1}, tensor.Shape{2, 3, 4}},
		{tensor.Shape{2, 3, 4}, tensor.Shape{2, 1, 4}, tensor.Shape{2, 3, 4}},
		{tensor.Shape{2, 3, 4}, tensor.Shape{3, 1}, tensor.Shape{2, 3, 4}},
		{tensor.Shape{2, 3, 4}, tensor.Shape{1, 1, 1, 4}, tensor.Shape{1, 2, 3, 4}},
		{tensor.Shape{2, 3, 4}, tensor.Shape{}, tensor.Shape{2, 3, 4}},
		{tensor.Shape{2, 3, 1}, tensor.Shape{1}, tensor.Shape{2, 3, 1}},
		{tensor.Shape{2, 3, 1}, tensor.Shape{4}, tensor.Shape{2, 3, 4}},
		{tensor.Shape{4}, tensor.Shape{2, 3, 4}, tensor.Shape{2, 3, 4}},
		{tensor.Shape{2, 1}, tensor.Shape{2, 3}, tensor.Shape{2, 3}},
		{tensor.Shape{}, tensor.Shape{2, 3}, tensor.Shape{2, 3}},
		{tensor.Shape{0, 4}, tensor.Shape{4}, tensor.Shape{0, 4}},
		{tensor.Shape{2, 0}, tensor.Shape{2, 1}, tensor.Shape{2, 0}},
		{tensor.Shape{1, 1}, tensor.Shape{1, 2}, tensor.Shape{1, 2}},
		{tensor.Shape{400, 300}, tensor.Shape{300}, tensor.Shape{400, 300}},
		{tensor.Shape{400, 300}, tensor.Shape{400, 1}, tensor.Shape{400, 300}},
	} {
		a, b := numbers(c.a), numbers(c.b)
		p, err := ks.PrepareEager("Sub", nil, []engine.Value{engine.ValueOf(a), engine.ValueOf(b)})
		if err != nil {
			t.Fatal(err)
		}
		var call engine.Runner
		call.Begin(context.Background(), &engine.Env{Workers: engine.NewWorkers(3)})
		call.Add(engine.ValueOf(a))
		call.Add(engine.ValueOf(b))
		if err := call.Run(p); err != nil {
			t.Fatal(err)
		}
		got := call.Results()[0].Tensor
		as, bs, strides := shapes.BroadcastStrides(c.a, c.y), shapes.BroadcastStrides(c.b, c.y), shapes.Strides(c.y)
		want := make([]float32, shapes.Count(c.y))
		for i := range want {
			x, y := 0, 0
			for d, n := range c.y {
				k := i / strides[d] % n
				x, y = x+k*as[d], y+k*bs[d]
			}
			want[i] = tensor.Values[float32](a)[x] - tensor.Values[float32](b)[y]
		}
		if !got.Shape().Equal(c.y) || fmt.Sprint(tensor.Values[float32](got)) != fmt.Sprint(want) {
			t.Errorf("%v - %v is %v%v, want %v%v", c.a, c.b, got.Shape(), tensor.Values[float32](got), c.y, want)
		}
	}
}
