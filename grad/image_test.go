package grad_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestTheGradientOfBoxesIsThatOfBilinearCrops holds the gradient of boxes whose
// crops show points between pixels to differences, and that of the nearest pixels'
// crops to the same: TensorFlow has one op for both.
func TestTheGradientOfBoxesIsThatOfBilinearCrops(t *testing.T) {
	pixels := make([]float32, 2*5*6)
	for i := range pixels {
		pixels[i] = float32(i*i%17)/8 - 1
	}
	images := tensor.Must(tensor.New(pixels, 2, 5, 6, 1))
	boxes := []float32{0.1, 0.15, 0.85, 0.9, 0.8, 0.3, 0.2, 0.66}
	crop := func(method string) func(s *ops.Scope, in []*ops.Value) *ops.Value {
		return func(s *ops.Scope, in []*ops.Value) *ops.Value {
			return s.Emit1("CropAndResize", graph.Attrs{graph.String("method", method)}, images, in[0], []int32{0, 1}, []int32{2, 2})
		}
	}
	loss := func(x []float32) float64 {
		y, err := crop("bilinear")(function.Eager(context.Background()), []*ops.Value{ops.ValueOf(tensor.Must(tensor.New(x, 2, 4)))}).Tensor()
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range tensor.Values[float32](y) {
			sum += float64(v)
		}
		return sum
	}
	var want []float64
	for i := range boxes {
		const h = 0x1p-8
		up, down := append([]float32{}, boxes...), append([]float32{}, boxes...)
		up[i], down[i] = up[i]+h, down[i]-h
		want = append(want, (loss(up)-loss(down))/(2*h))
	}
	at := tensor.Must(tensor.New(boxes, 2, 4))
	for _, method := range []string{"bilinear", "nearest"} {
		s := function.Eager(context.Background())
		rec, tape := grad.Record(s)
		x := ops.ValueOf(at)
		tape.Watch(x)
		y := crop(method)(rec, []*ops.Value{x})
		g, err := tape.GradientOf(y, x)[0].Tensor()
		if err != nil {
			t.Fatal(err)
		}
		list, _ := g.Float64s()
		nearly(t, method, list, want, 1e-3)
	}
}
