package metrics

import (
	"fmt"

	"github.com/cairnml/cairn/keras/internal/samples"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// The accuracies. Values, and shapes for unusual ranks, are those of tf_keras's metrics_utils.py
// and accuracy_metrics.py, and must stay.

// Accuracy is the part of the predictions that equal the truth.
type Accuracy struct{ Averaged }

// Update takes a batch into account.
func (m *Accuracy) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, equal, truth, predicted, weights)
}

func equal(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	t := ops.Const(s, truth)
	if s.Err() != nil {
		return t
	}
	return right(s, t, samples.CastTo(s, predicted, t.DType()))
}

// right returns 1 where values are equal, and 0 elsewhere.
func right(s *ops.Scope, x, y ops.Input) *ops.Value {
	return ops.Cast(s, ops.Equal(s, x, y), tensor.Float32)
}

// BinaryAccuracy is the part of the elements in which the truth is 1 and the prediction
// above Threshold, or the truth 0 and the prediction not above it.
type BinaryAccuracy struct {
	Averaged
	// Threshold parts the predictions. Default: 0.5.
	Threshold *float64 `keras:",default=0.5"`
}

// Update takes a batch into account.
func (m *BinaryAccuracy) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, m.matches, truth, predicted, weights)
}

func (m *BinaryAccuracy) matches(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	p := ops.Const(s, predicted)
	if s.Err() != nil {
		return p
	}
	yes := ops.Greater(s, p, or(m.Threshold, 0.5))
	return right(s, samples.CastTo(s, truth, p.DType()), ops.Cast(s, yes, p.DType()))
}

// binaryAccuracy returns the same as tf_keras's function: the mean along the last
// axis.
func binaryAccuracy(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	return ops.Mean(s, new(BinaryAccuracy).matches(s, truth, predicted), -1)
}

// CategoricalAccuracy is the part of the examples in which the largest element of the
// truth, a one-hot vector or a distribution, and of the prediction along the last axis
// have the same place.
type CategoricalAccuracy struct{ Averaged }

// Update takes a batch into account.
func (m *CategoricalAccuracy) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, categoricalAccuracy, truth, predicted, weights)
}

func categoricalAccuracy(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	return sparseMatches(s, ops.ArgMax(s, truth, -1), predicted)
}

// SparseCategoricalAccuracy compares class numbers with the place of the largest element
// of the predictions along the last axis.
type SparseCategoricalAccuracy struct{ Averaged }

// Update takes a batch into account.
func (m *SparseCategoricalAccuracy) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, sparseMatches, truth, predicted, weights)
}

// sparseMatches compares class numbers with the largest prediction. The truth may have a
// last dimension of 1, which the result has too.
func sparseMatches(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	t, p := ops.Const(s, truth), ops.Const(s, predicted)
	if s.Err() != nil {
		return t
	}
	best := ops.ArgMax(s, p, -1)
	if s.Err() != nil {
		return t
	}
	whole := ops.Shape(s, t)
	ts, ps := t.Fact().Shape, p.Fact().Shape
	known := ts.HasRank() && ps.HasRank()
	column := known && ts.Rank() == ps.Rank()
	if column || !known {
		t = ops.ReshapeTo(s, t, ops.Shape(s, best))
	}
	matches := right(s, t, samples.CastTo(s, best, t.DType()))
	if column {
		matches = ops.ReshapeTo(s, matches, whole)
	}
	return matches
}

// sparseCategoricalAccuracy returns the same as tf_keras's function: matches without a
// last dimension of 1.
func sparseCategoricalAccuracy(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	matches := sparseMatches(s, truth, predicted)
	if s.Err() != nil {
		return matches
	}
	if shape := matches.Fact().Shape; shape.HasRank() && shape.Rank() > 1 && shape.Dim(-1) == 1 {
		return ops.Squeeze(s, matches, shape.Rank()-1)
	}
	return matches
}

// TopKCategoricalAccuracy is the part of the examples whose true class, that of the
// largest element of the truth, is among the K largest predictions.
type TopKCategoricalAccuracy struct {
	Averaged
	// K is the number of predictions. Default: 5.
	K int `keras:",default=5"`
}

// Update takes a batch into account.
func (m *TopKCategoricalAccuracy) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, m.matches, truth, predicted, weights)
}

func (m *TopKCategoricalAccuracy) matches(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	return topMatches(s, ops.ArgMax(s, truth, -1), predicted, m.K)
}

// SparseTopKCategoricalAccuracy is [TopKCategoricalAccuracy] for a truth of class numbers.
type SparseTopKCategoricalAccuracy struct {
	Averaged
	// K is the number of predictions. Default: 5.
	K int `keras:",default=5"`
}

// Update takes a batch into account.
func (m *SparseTopKCategoricalAccuracy) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, m.matches, truth, predicted, weights)
}

func (m *SparseTopKCategoricalAccuracy) matches(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	return topMatches(s, truth, predicted, m.K)
}

// topMatches returns 1 where the class is among the k largest predictions; k is 5 if it is 0.
func topMatches(s *ops.Scope, truth, predicted ops.Input, k int) *ops.Value {
	if k == 0 {
		k = 5
	}
	t, p := ops.Const(s, truth), ops.Const(s, predicted)
	if s.Err() != nil {
		return t
	}
	if k < 0 {
		return s.Fail("TopKCategoricalAccuracy", fmt.Errorf("the K is %d, want 1 or more", k))
	}
	whole := ops.Shape(s, t)
	classes := ops.StridedSlice(s, ops.Shape(s, p), ops.From(-1))
	p = ops.ReshapeTo(s, p, ops.Concat(s, []*ops.Value{ops.Const(s, []int32{-1}), classes}, 0))
	t = ops.Reshape(s, ops.Cast(s, t, tensor.Int32), -1)
	in := s.Emit1("InTopKV2", nil, p, t, int32(k))
	return ops.ReshapeTo(s, ops.Cast(s, in, tensor.Float32), whole)
}

// or returns *p, or the default.
func or[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}
