package layers

import (
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/ops"
)

// activate applies an activation; nil and Linear leave x as it is.
func activate(s *ops.Scope, a activations.Activation, x *ops.Value) *ops.Value {
	if a == nil || a == activations.Activation(activations.Linear) {
		return x
	}
	return a.Call(s, x)
}

// flatten makes a matrix of x in which all dimensions but the last are rows, since one
// product over all rows is faster than one for each. restore returns a matrix with
// these rows in the dimensions of x, except that the last one is n.
func flatten(s *ops.Scope, x *ops.Value) (rows *ops.Value, restore func(y *ops.Value, n int) *ops.Value) {
	in := x.Fact().Shape
	rank := in.Rank()
	switch {
	case rank == 2:
		return x, func(y *ops.Value, _ int) *ops.Value { return y }
	case in.HasRank() && in.Dim(-1) >= 0:
		rows = ops.Reshape(s, x, -1, in.Dim(-1))
	default:
		last := ops.StridedSlice(s, ops.Shape(s, x), ops.From(-1))
		rows = ops.ReshapeTo(s, x, ops.Concat(s, []ops.Input{[]int32{-1}, last}, 0))
	}
	return rows, func(y *ops.Value, n int) *ops.Value {
		if in.Known() {
			return ops.Reshape(s, y, append(in.Dims()[:rank-1:rank-1], n)...)
		}
		outer := ops.StridedSlice(s, ops.Shape(s, x), ops.To(-1))
		return ops.ReshapeTo(s, y, ops.Concat(s, []ops.Input{outer, []int32{int32(n)}}, 0))
	}
}
