package kernel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// TestLoopsLookAtTheirContext calls kernels with 200,000 elements. Each looks at its context
// more than a few times in its loops, and returns the context's error.
func TestLoopsLookAtTheirContext(t *testing.T) {
	const n = 200_000
	f := func(v float32) *tensor.Tensor { return tensor.Scalar(v) }
	codes := func(d tensor.DType, size int) *tensor.Tensor {
		return tensor.Must(tensor.FromBytes(d, make([]byte, size*n), n))
	}
	text := func(s string) *tensor.Tensor {
		list := make([]string, n)
		for i := range list {
			list[i] = s
		}
		return tensor.Must(tensor.FromStrings(tensor.String, list, n))
	}
	list := func(op string, in ...*tensor.Tensor) *maker {
		return &maker{op: op, attrs: graph.Attrs{graph.Type("element_dtype", tensor.Float32), graph.Type("shape_type", tensor.Int32)}, in: in}
	}
	whole := list("TensorListReserve", tensor.Vector[int32](1), tensor.Scalar[int32](n))
	none := list("EmptyTensorList", tensor.Vector[int32](1), tensor.Scalar[int32](-1))
	floats := graph.Attrs{graph.Type("element_dtype", tensor.Float32)}
	ramp := func() *tensor.Tensor {
		at := make([]int32, n)
		for i := range at {
			at[i] = int32(i)
		}
		return tensor.Vector(at...)
	}()
	for _, c := range []struct {
		op    string
		attrs graph.Attrs
		list  *maker // the first input
		in    []*tensor.Tensor
	}{
		{"Substr", graph.Attrs{graph.String("unit", "BYTE")}, nil, []*tensor.Tensor{text("abc"), tensor.Scalar[int32](1), tensor.Scalar[int32](1)}},
		{"Substr", graph.Attrs{graph.String("unit", "UTF8_CHAR")}, nil, []*tensor.Tensor{text("äbc"), tensor.Scalar[int32](1), tensor.Scalar[int32](1)}},
		{"QuantizeV2", graph.Attrs{graph.Type("T", tensor.QUint8), graph.String("mode", "MIN_COMBINED")}, nil, []*tensor.Tensor{filled[float32](1, n), f(0), f(2)}},
		{"QuantizeV2", graph.Attrs{graph.Type("T", tensor.QInt8), graph.String("mode", "SCALED"), graph.Int("axis", 0)}, nil, []*tensor.Tensor{filled[float32](1, n), filled[float32](0, n), filled[float32](2, n)}},
		{"Dequantize", graph.Attrs{graph.String("mode", "MIN_FIRST")}, nil, []*tensor.Tensor{codes(tensor.QUint8, 1), f(0), f(2)}},
		{"QuantizeAndDequantizeV2", nil, nil, []*tensor.Tensor{filled[float32](1, n), f(0), f(2)}},
		{"QuantizeDownAndShrinkRange", graph.Attrs{graph.Type("out_type", tensor.QUint8)}, nil, []*tensor.Tensor{codes(tensor.QInt32, 4), f(0), f(2)}},
		{"RequantizationRange", nil, nil, []*tensor.Tensor{codes(tensor.QInt32, 4), f(0), f(2)}},
		{"Requantize", graph.Attrs{graph.Type("out_type", tensor.QUint8)}, nil, []*tensor.Tensor{codes(tensor.QInt32, 4), f(0), f(2), f(0), f(1)}},
		{"FakeQuantWithMinMaxArgsGradient", nil, nil, []*tensor.Tensor{filled[float32](1, n), filled[float32](1, n)}},
		{"FakeQuantWithMinMaxVarsGradient", nil, nil, []*tensor.Tensor{filled[float32](1, n), filled[float32](1, n), f(0), f(2)}},
		{"UniformQuantize", graph.Attrs{graph.Type("Tout", tensor.QInt8), graph.Int("quantization_min_val", -128), graph.Int("quantization_max_val", 127)}, nil,
			[]*tensor.Tensor{filled[float32](1, n), f(1), tensor.Scalar[int32](0)}},
		{"UniformDequantize", graph.Attrs{graph.Type("Tout", tensor.Float32), graph.Int("quantization_min_val", -128), graph.Int("quantization_max_val", 127)}, nil,
			[]*tensor.Tensor{codes(tensor.QInt8, 1), f(1), tensor.Scalar[int32](0)}},
		{"QuantizedRelu", nil, nil, []*tensor.Tensor{codes(tensor.QUint8, 1), f(0), f(2)}},
		{"TensorListResize", nil, none, []*tensor.Tensor{tensor.Scalar[int32](n)}},
		{"TensorListResize", nil, whole, []*tensor.Tensor{tensor.Scalar[int32](1)}},
		{"TensorListResize", nil, whole, []*tensor.Tensor{tensor.Scalar[int32](2 * n)}},
		{"TensorListSetItem", append(floats, graph.Bool("resize_if_index_out_of_bounds", true)), none, []*tensor.Tensor{tensor.Scalar[int32](n), tensor.Vector[float32](1)}},
		{"TensorListPushBack", floats, whole, []*tensor.Tensor{tensor.Vector[float32](1)}},
		{"TensorListStack", floats, whole, []*tensor.Tensor{tensor.Vector[int32](1)}},
		{"TensorListGather", floats, whole, []*tensor.Tensor{ramp, tensor.Vector[int32](1)}},
		{"TensorListConcatV2", floats, whole, []*tensor.Tensor{tensor.Vector[int32](1), tensor.Vector[int64]()}},
		{"TensorListScatterIntoExistingList", floats, none, []*tensor.Tensor{filled[float32](1, n, 1), ramp}},
		{"TensorListSplit", floats, nil, []*tensor.Tensor{filled[float32](1, n), tensor.Vector[int32](1), filled[int64](1, n)}},
	} {
		for _, ends := range []bool{false, true} {
			var instance engine.Instance
			env := &engine.Env{Arena: engine.NewArena(), Instance: &instance, Workers: engine.NewWorkers(0)}
			var in []engine.Value
			if c.list != nil {
				v, err := c.list.run(env)
				if err != nil {
					t.Fatal(err)
				}
				in = append(in, v)
			}
			for _, x := range c.in {
				in = append(in, engine.ValueOf(x))
			}
			p, err := kernel.All().PrepareEager(c.op, c.attrs, in)
			if err != nil {
				t.Fatalf("%s: %v", c.op, err)
			}
			ctx := context.Background()
			if ends {
				ctx = afterLooks(13)
			}
			var call engine.Runner
			call.Begin(ctx, env)
			for _, v := range in {
				call.Add(v)
			}
			switch err := call.Run(p); {
			case !ends && err != nil:
				t.Errorf("%s: %v", c.op, err)
			case ends && !errors.Is(err, context.Canceled):
				t.Errorf("%s: %v after all but %d looks, want the context's error", c.op, err, ctx.(*countedContext).left.Load())
			}
			env.Arena.Close()
		}
	}
}
