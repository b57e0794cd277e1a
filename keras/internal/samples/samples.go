// Package samples aligns the truths, predictions, weights and masks of samples as
// tf_keras's losses and metrics do.
package samples

import (
	"reflect"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Given reports whether an optional input is there: neither nil nor a nil pointer.
func Given(x ops.Input) bool {
	if x == nil {
		return false
	}
	v := reflect.ValueOf(x)
	return v.Kind() != reflect.Pointer || !v.IsNil()
}

// CastTo converts v to type d. A value of that type is returned itself, with its notes.
func CastTo(s *ops.Scope, x ops.Input, d tensor.DType) *ops.Value {
	v := ops.Const(s, x)
	if s.Err() != nil || v.DType() == d {
		return v
	}
	return ops.Cast(s, v, d)
}

// MatchRanks removes the last dimension, of size 1, of the truth or the predictions if
// the other one lacks it: tf_keras's losses_utils.remove_squeezable_dimensions.
func MatchRanks(s *ops.Scope, truth, predicted *ops.Value) (t, p *ops.Value) {
	if s.Err() != nil {
		return truth, predicted
	}
	ts, ps := truth.Fact().Shape, predicted.Fact().Shape
	if !ts.HasRank() || !ps.HasRank() {
		return matchUnknown(s, truth, predicted)
	}
	switch diff := ps.Rank() - ts.Rank(); {
	case diff == 1 && ps.Dim(-1) == 1:
		return truth, dropLast(s, predicted)
	case diff == -1 && (ts.Dim(-1) == 1 || ts.Dim(-1) < 0):
		return dropLast(s, truth), predicted
	}
	return truth, predicted
}

// matchUnknown does the same as [MatchRanks] for ranks that only a run shows.
func matchUnknown(s *ops.Scope, truth, predicted *ops.Value) (t, p *ops.Value) {
	diff := ops.Sub(s, ops.Rank(s, predicted), ops.Rank(s, truth))
	// A scalar's last size is taken as 0.
	sizes := ops.Concat(s, []*ops.Value{ops.Const(s, []int32{0}), ops.Shape(s, predicted)}, 0)
	last := ops.StridedSlice(s, sizes, ops.At(-1))
	column := ops.And(s, ops.Equal(s, diff, 1), ops.Equal(s, last, 1))
	return dropIf(s, truth, ops.Equal(s, diff, -1)), dropIf(s, predicted, column)
}

// dropIf removes the last dimension if cond, a bool scalar, is true.
func dropIf(s *ops.Scope, v, cond *ops.Value) *ops.Value {
	rank := ops.Sub(s, ops.Rank(s, v), ops.Cast(s, cond, tensor.Int32))
	head := s.Emit1("Slice", nil, ops.Shape(s, v), []int32{0}, ops.Reshape(s, rank, 1))
	return ops.ReshapeTo(s, v, head)
}

func dropLast(s *ops.Scope, v *ops.Value) *ops.Value {
	return ops.Squeeze(s, v, v.Fact().Shape.Rank()-1)
}

// MatchWeights adds a last dimension to the weights, or removes it, if that makes their
// rank that of the values. Scalars stay.
func MatchWeights(s *ops.Scope, values, weights *ops.Value) *ops.Value {
	if s.Err() != nil {
		return weights
	}
	vs, ws := values.Fact().Shape, weights.Fact().Shape
	if ws.HasRank() && ws.Rank() == 0 {
		return weights
	}
	if !vs.HasRank() || !ws.HasRank() {
		return matchWeightsUnknown(s, values, weights)
	}
	switch ws.Rank() - vs.Rank() {
	case 1:
		return dropLast(s, weights)
	case -1:
		return ops.ExpandDims(s, weights, -1)
	}
	return weights
}

func matchWeightsUnknown(s *ops.Scope, values, weights *ops.Value) *ops.Value {
	rank := ops.Rank(s, weights)
	diff := ops.Sub(s, rank, ops.Rank(s, values))
	some := ops.Greater(s, rank, 0)
	weights = dropIf(s, weights, ops.And(s, some, ops.Equal(s, diff, 1)))
	add := ops.Cast(s, ops.And(s, some, ops.Equal(s, diff, -1)), tensor.Int32)
	ones := s.Emit1("Fill", nil, ops.Reshape(s, add, 1), int32(1))
	return ops.ReshapeTo(s, weights, ops.Concat(s, []*ops.Value{ops.Shape(s, weights), ones}, 0))
}

// Masked multiplies weights, nil for ones, by a mask, nil for none. Both are converted to
// type d. The result is nil if there is neither.
func Masked(s *ops.Scope, weights ops.Input, mask *ops.Value, d tensor.DType) *ops.Value {
	var w *ops.Value
	if Given(weights) {
		w = CastTo(s, weights, d)
	}
	if mask == nil {
		return w
	}
	mask = CastTo(s, mask, d)
	if w == nil {
		return mask
	}
	return ops.Mul(s, MatchWeights(s, mask, w), mask)
}

// Evened scales a mask so that a mean over all of its elements is one over those that are
// true. Its type becomes d.
func Evened(s *ops.Scope, mask *ops.Value, d tensor.DType) *ops.Value {
	if mask == nil {
		return nil
	}
	mask = CastTo(s, mask, d)
	total := ops.Cast(s, ops.Size(s, mask), d)
	return ops.Mul(s, mask, ops.Div(s, total, ops.Sum(s, mask)))
}
