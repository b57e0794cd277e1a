package kernel_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// BenchmarkSmallOps runs kernels on tensors of a few elements, to measure the
// cost around the loop.
func BenchmarkSmallOps(b *testing.B) {
	x, row := tensor.Vector[float32](1, 2, 3, 4), tensor.Must(tensor.New([]float32{1, 2, 3, 4}, 1, 4))
	m := tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 2, 4))
	for _, c := range []struct {
		name, op string
		attrs    graph.Attrs
		in       []*tensor.Tensor
	}{
		{"Add", "AddV2", nil, []*tensor.Tensor{x, x}},
		{"AddScalar", "AddV2", nil, []*tensor.Tensor{x, tensor.Scalar[float32](1)}},
		{"AddRow", "AddV2", nil, []*tensor.Tensor{m, row}},
		{"Reshape", "Reshape", nil, []*tensor.Tensor{m, tensor.Vector[int32](-1, 2)}},
		{"StridedSlice", "StridedSlice", nil, []*tensor.Tensor{m, tensor.Vector[int32](0, 1), tensor.Vector[int32](2, 3), tensor.Vector[int32](1, 1)}},
		{"Slice", "Slice", nil, []*tensor.Tensor{m, tensor.Vector[int32](0, 1), tensor.Vector[int32](2, 2)}},
		{"Concat", "ConcatV2", nil, []*tensor.Tensor{m, m, tensor.Scalar[int32](0)}},
		{"Transpose", "Transpose", nil, []*tensor.Tensor{m, tensor.Vector[int32](1, 0)}},
		{"Sum", "Sum", nil, []*tensor.Tensor{m, tensor.Vector[int32](0)}},
		{"MatMul", "MatMul", graph.Attrs{graph.Bool("transpose_b", true)}, []*tensor.Tensor{m, m}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			in := make([]engine.Value, len(c.in))
			for i, t := range c.in {
				in[i] = engine.Value{Tensor: t}
			}
			p, err := kernel.All().PrepareEager(c.op, c.attrs, in)
			if err != nil {
				b.Fatal(err)
			}
			var call engine.Runner
			env := &engine.Env{}
			ctx := context.Background()
			for b.Loop() {
				call.Begin(ctx, env)
				for _, v := range in {
					call.Add(v)
				}
				if err := call.Run(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
