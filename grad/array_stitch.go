package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// stitchRules are the rules of ops that gather rows, distribute them to several
// tensors, or join them again.
var stitchRules = map[string]Rule{
	"Gather": func(s *ops.Scope, op *Op) {
		op.Give(0, slicesOf(s, op.Grad(0), op.In(1), sizesOf(s, op.In(0))))
	},
	"DynamicStitch":         gradStitch,
	"ParallelDynamicStitch": gradStitch,
	"DynamicPartition": func(s *ops.Scope, op *Op) {
		x, ids := op.In(0), op.In(1)
		places := reshapeLike(s, upTo(s, ops.Size(s, ids)), ids)
		n := op.NumOut()
		parted := s.EmitN(n, "DynamicPartition", graph.Attrs{graph.Int("num_partitions", int64(n))}, places, ids)
		joined := s.Emit1("ParallelDynamicStitch", nil, append(inputs(parted), inputs(parts(op))...)...)
		op.Give(0, reshapeLike(s, joined, x))
	},
	"ResourceGatherNd": func(s *ops.Scope, op *Op) {
		op.Give(0, gatheredAt(s, op, s.Emit1("VariableShape", graph.Attrs{graph.Type("out_type", op.In(1).DType())}, op.In(0))))
	},
	"GatherNd": func(s *ops.Scope, op *Op) {
		op.Give(0, gatheredAt(s, op, ops.Const(s, shapeAs(s, op.In(0), op.In(1).DType()))))
	},
}

// gradStitch sets the gradient of each row to that of its destination.
func gradStitch(s *ops.Scope, op *Op) {
	n := op.NumIn() / 2
	for i := range n {
		if op.Needs(n + i) {
			op.Give(n+i, ops.Gather(s, op.Grad(0), op.In(i)))
		}
	}
}

// gatheredAt returns the gradient of a gather of single places from a tensor whose shape
// is a vector: slices if the places are rows.
func gatheredAt(s *ops.Scope, op *Op, shape *ops.Value) *ops.Value {
	places, dy := op.In(1), op.Grad(0)
	if s.Err() != nil {
		return nil
	}
	ignored := op.Attrs().String("bad_indices_policy", "") == "IGNORE" // slices can't be at places that aren't there
	if !ignored && rankOf(places) == 2 && lastDim(places) == 1 {
		if shape.DType() != tensor.Int32 {
			shape = ops.Cast(s, shape, tensor.Int32)
		}
		return ops.IndexedSlices{Values: dy, Indices: ops.Squeeze(s, places, -1), Shape: shape}.Value(s)
	}
	return s.Emit1("ScatterNd", policy(op), places, dy, shape)
}

// lastDim returns the size of the last dimension, -1 for an unknown one.
func lastDim(v *ops.Value) int {
	r := rankOf(v)
	if r <= 0 {
		return -1
	}
	if !v.IsSymbolic() {
		return v.Shape()[r-1]
	}
	if d := v.Fact().Shape.Dim(r - 1); graph.KnownDim(d) {
		return int(d)
	}
	return -1
}
