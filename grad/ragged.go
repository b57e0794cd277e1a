package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// raggedRules are the rules of ops on ragged tensors, given as splits of rows and flat values: the values have
// gradients. The rules follow TensorFlow's (python/ops/ragged). Splits, indices and partitions have no
// gradient.
var raggedRules = map[string]Rule{
	"RaggedTensorToSparse": func(s *ops.Scope, op *Op) {
		last := op.NumIn() - 1
		giveValues(s, op, last, 1, func(dy *ops.Value) *ops.Value { return reshapeLike(s, dy, op.In(last)) })
	},
	"RaggedGather":         gradRaggedGather,
	"RaggedTensorToTensor": gradRaggedToTensor,
}

// gradRaggedGather returns the gradients of the rows as slices of the values that they were made of. The inputs
// are n vectors of row splits, outermost first, the flat values, and the indices of rows. The last output has
// the gathered flat values; dy is its gradient. places are the rows of the flat values that the op has copied,
// in the order of its output.
func gradRaggedGather(s *ops.Scope, op *Op) {
	n := op.NumIn() - 2
	giveValues(s, op, n, op.NumOut()-1, func(dy *ops.Value) *ops.Value {
		// The starts of the outermost rows among the flat values.
		splits := op.In(0)
		for i := 1; i < n; i++ {
			splits = ops.Gather(s, op.In(i), splits)
		}
		rows := ops.Reshape(s, op.In(n+1), -1)
		limits := ops.StridedSlice(s, splits, ops.From(1))
		places := s.EmitN(2, "RaggedRange", nil, ops.Gather(s, splits, rows), ops.Gather(s, limits, rows), ops.OnesLike(s, ops.StridedSlice(s, splits, ops.At(0))))[1]
		return ops.IndexedSlices{Values: dy, Indices: places, Shape: sizesOf(s, op.In(n))}.Value(s)
	})
}

// gradRaggedToTensor passes the gradients of the tensor's elements to the values and to the default value, by
// making a tensor of the values' places. The inputs are the shape, the values [n, …], the default value and the
// row partitions. The op runs again on the numbers 0 to n-1 in place of the values, with the default -1. The
// result places therefore has for each element of the output the row of its value, and -1 where the default
// value was used.
func gradRaggedToTensor(s *ops.Scope, op *Op) {
	values, fill, dy := op.In(1), op.In(2), op.Grad(0)
	partitions := op.Attrs().Strings("row_partition_types")
	dims := 1
	for _, p := range partitions {
		if p != "FIRST_DIM_SIZE" {
			dims++
		}
	}
	sizes := ops.Shape(s, dy)
	outer := ops.StridedSlice(s, sizes, ops.To(dims))
	in := []ops.Input{outer, upTo(s, sizeAt(s, values, ops.Const(s, int32(0)))), ops.Const(s, int32(-1))}
	for i := 3; i < op.NumIn(); i++ {
		in = append(in, op.In(i))
	}
	places := s.Emit1("RaggedTensorToTensor", graph.Attrs{graph.Strings("row_partition_types", partitions...)}, in...)
	flat := ops.Reshape(s, places, -1)
	inner := ops.StridedSlice(s, sizes, ops.From(dims))
	elements := s.Emit1("Reshape", nil, dy, joinVectors(s, ops.Reshape(s, ops.Size(s, flat), 1), inner))
	pick := func(which *ops.Value) (rows, at *ops.Value) {
		at = ops.Reshape(s, ops.WhereIndices(s, which), -1)
		return ops.Gather(s, elements, at), at
	}
	if op.Needs(1) {
		rows, at := pick(ops.GreaterEqual(s, flat, 0))
		op.Give(1, ops.IndexedSlices{Values: rows, Indices: ops.Gather(s, flat, at), Shape: sizesOf(s, values)}.Value(s))
	}
	if op.Needs(2) {
		rows, _ := pick(ops.Less(s, flat, 0))
		op.Give(2, Unbroadcast(s, rows, fill))
	}
}
