package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// sparseSumRules are the rules of sums and products of sparse tensors: the values
// are differentiated.
var sparseSumRules = map[string]Rule{
	"SparseAdd": func(s *ops.Scope, op *Op) {
		if op.Grad(1) == nil {
			return
		}
		d := s.EmitN(2, "SparseAddGrad", nil, op.Grad(1), op.In(0), op.In(3), op.Out(0))
		op.Give(1, d[0])
		op.Give(4, d[1])
	},
	"SparseTensorDenseAdd": func(s *ops.Scope, op *Op) {
		op.Give(1, ops.GatherND(s, op.Grad(0), op.In(0)))
		op.Give(3, op.Grad(0))
	},
	"RaggedFillEmptyRows": func(s *ops.Scope, op *Op) {
		if dy := op.Grad(1); dy != nil {
			d := s.EmitN(2, "RaggedFillEmptyRowsGrad", nil, op.Out(3), dy)
			op.Give(1, d[0])
			op.Give(3, d[1])
		}
	},
	"RaggedTensorToVariant": func(s *ops.Scope, op *Op) {
		values := op.NumIn() - 1
		var splits ops.Input = int64(0)
		if values > 0 {
			splits = op.In(0)
		}
		attrs := graph.Attrs{graph.Type("Tvalues", op.In(values).DType())}
		op.Give(values, s.Emit1("RaggedTensorToVariantGradient", attrs, op.Grad(0), splits, sizesOf(s, op.In(values))))
	},
	"RaggedTensorFromVariant": func(s *ops.Scope, op *Op) {
		last := op.NumOut() - 1
		var in []ops.Input
		for i := range last {
			in = append(in, op.Out(i))
		}
		batched := rankOf(op.In(0)) > 0 || rankOf(op.In(0)) < 0 && last > 0
		op.Give(0, s.Emit1("RaggedTensorToVariant", graph.Attrs{graph.Int("RAGGED_RANK", int64(last)), graph.Bool("batched_input", batched)}, append(in, op.GradOrZero(last))...))
	},
	"SparseReduceSum": gradSparseReduceSum,
	"SparseDenseCwiseMul": func(s *ops.Scope, op *Op) {
		gradSparseCwise(s, op, func(dy, x, y *ops.Value) (dx, dd *ops.Value) { return ops.Mul(s, dy, y), ops.Mul(s, dy, x) })
	},
	"SparseDenseCwiseDiv": func(s *ops.Scope, op *Op) {
		gradSparseCwise(s, op, func(dy, x, y *ops.Value) (dx, dd *ops.Value) {
			return ops.Div(s, dy, y), ops.Mul(s, dy, ops.Neg(s, ops.Div(s, ops.Div(s, x, y), y)))
		})
	},
	"SparseSoftmax": func(s *ops.Scope, op *Op) {
		y, dy := op.Out(0), op.Grad(0)
		sums := s.Emit1("SparseReduceSum", graph.Attrs{graph.Bool("keep_dims", true)}, op.In(0), ops.Mul(s, y, dy), op.In(2), []int32{-1})
		rest := s.Emit1("SparseDenseCwiseAdd", nil, op.In(0), dy, op.In(2), ops.Neg(s, sums))
		op.Give(1, ops.Mul(s, rest, y))
	},
}

// gradSparseReduceSum sets the gradient of a value to that of the sum that
// contains it.
func gradSparseReduceSum(s *ops.Scope, op *Op) {
	shape := op.In(2)
	rank := ops.Size(s, shape)
	axes := ops.Reshape(s, s.Emit1("FloorMod", nil, op.In(3), rank), -1, 1)
	ones := s.Emit1("OnesLike", nil, ops.Reshape(s, axes, -1))
	reduced := s.Emit1("Greater", nil, s.Emit1("ScatterNd", nil, axes, ones, ops.Reshape(s, rank, 1)), ops.Const(s, int32(0)))
	one := s.Emit1("OnesLike", nil, shape)
	kept := s.Emit1("SelectV2", nil, reduced, one, shape)
	dy := s.Emit1("Reshape", nil, op.Grad(0), kept)
	at := s.Emit1("SelectV2", nil, reduced, s.Emit1("ZerosLike", nil, op.In(0)), op.In(0))
	op.Give(1, ops.GatherND(s, dy, at))
}

// gradSparseCwise gathers the dense elements that met values, and adds the results
// of f for them at their places.
func gradSparseCwise(s *ops.Scope, op *Op, f func(dy, x, y *ops.Value) (dx, dd *ops.Value)) {
	at, x, shape, dense := op.In(0), op.In(1), op.In(2), op.In(3)
	sizes := ops.Cast(s, sizesOf(s, dense), tensor.Int64)
	lead := ops.Sub(s, ops.Size(s, shape), ops.Size(s, sizes))
	// The sizes of the dense tensor, ones before them: a stretched dimension has
	// index 0.
	front := s.Emit1("Fill", nil, ops.Reshape(s, lead, 1), ops.Const(s, int64(1)))
	padded := s.Emit1("ConcatV2", nil, front, sizes, ops.Const(s, int32(0)))
	at = ops.FloorDiv(s, at, s.Emit1("FloorDiv", nil, shape, padded))
	begin := s.Emit1("Pack", nil, ops.Const(s, int32(0)), lead)
	at = s.Emit1("Slice", nil, at, begin, []int32{-1, -1})
	dx, dd := f(op.Grad(0), x, ops.GatherND(s, dense, at))
	op.Give(1, dx)
	if op.Needs(3) {
		op.Give(3, s.Emit1("ScatterNd", nil, at, dd, sizes))
	}
}
