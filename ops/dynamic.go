package ops

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The functions of this file up to UnsortedSegmentSumOf take sizes that are values. A traced
// function has such sizes if it doesn't know its arguments' shapes. The others take indices.

// FillTo fills as [Fill], to a shape that is a value: an int32 or int64 vector.
func FillTo(s *Scope, x, shape Input) *Value { return s.Emit1("Fill", nil, shape, Const(s, x)) }

// TileBy repeats x as [Tile], by multiples that are a value: an int32 or int64 vector.
func TileBy(s *Scope, x, multiples Input) *Value { return s.Emit1("Tile", nil, x, multiples) }

// BroadcastToShape broadcasts x as [BroadcastTo], to a shape that is a value: an int32
// or int64 vector.
func BroadcastToShape(s *Scope, x, shape Input) *Value {
	return s.Emit1("BroadcastTo", nil, x, shape)
}

// PadBy pads x as [Pad], by paddings that are a value: an int32 or int64 matrix with a
// row for each axis.
func PadBy(s *Scope, x, paddings Input) *Value { return s.Emit1("Pad", nil, x, paddings) }

// PadWithBy pads x as [PadWith], by paddings that are a value, as in [PadBy].
func PadWithBy(s *Scope, x, value, paddings Input) *Value {
	return s.Emit1("PadV2", nil, x, paddings, s.cast(value, s.typeOf(x)))
}

// TopKOf returns the same as [TopK], for a count that is a value: an int32
// scalar.
func TopKOf(s *Scope, x, k Input) (values, indices *Value) {
	if !s.alive() {
		return s.failed(), s.failed()
	}
	return s.topK(x, Const(s, k))
}

// OneHotOf returns the same as [OneHot], for a depth that is a value: an int32
// scalar.
func OneHotOf(s *Scope, indices, depth Input, d tensor.DType, o ...*OneHotOptions) *Value {
	return s.oneHot(indices, Const(s, depth), d, o)
}

// UnsortedSegmentSumOf returns the same as [UnsortedSegmentSum], for a count that is a
// value: an int32 or int64 scalar.
func UnsortedSegmentSumOf(s *Scope, x, ids, n Input) *Value {
	return s.Emit1("UnsortedSegmentSum", nil, x, Const(s, ids), Const(s, n))
}

// GatherBatch picks the slices of x at the indices along an axis, for each of the first
// batchDims dimensions, which x and indices have in common: result[b, i] is x[b, indices[b,
// i]] for one such dimension and axis 1. An index out of range is an error.
func GatherBatch(s *Scope, x, indices Input, axis, batchDims int) *Value {
	return s.Emit1("GatherV2", graph.Attrs{graph.Int("batch_dims", int64(batchDims))}, x, Const(s, indices), s.scalar32(axis))
}

// TensorScatterUpdate returns x with updates at the index vectors in the last dimension of
// indices. If an index comes twice, one of its updates is taken.
func TensorScatterUpdate(s *Scope, x, indices, updates Input) *Value {
	return s.Emit1("TensorScatterUpdate", nil, x, Const(s, indices), updates)
}

// TensorScatterAdd returns x with updates added at the index vectors in the last dimension
// of indices.
func TensorScatterAdd(s *Scope, x, indices, updates Input) *Value {
	return s.Emit1("TensorScatterAdd", nil, x, Const(s, indices), updates)
}

// TensorScatterSub returns x with updates subtracted at the index vectors in the last
// dimension of indices.
func TensorScatterSub(s *Scope, x, indices, updates Input) *Value {
	return s.Emit1("TensorScatterSub", nil, x, Const(s, indices), updates)
}

// TensorScatterMax returns x with the larger of its elements and updates at the index
// vectors in the last dimension of indices.
func TensorScatterMax(s *Scope, x, indices, updates Input) *Value {
	return s.Emit1("TensorScatterMax", nil, x, Const(s, indices), updates)
}

// TensorScatterMin returns x with the smaller of its elements and updates at the index
// vectors in the last dimension of indices.
func TensorScatterMin(s *Scope, x, indices, updates Input) *Value {
	return s.Emit1("TensorScatterMin", nil, x, Const(s, indices), updates)
}
