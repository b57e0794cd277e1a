package featurecolumn

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Indicator has a vector for each row that counts its categories:
// tf.feature_column.indicator_column. With weights it has their sums.
type Indicator struct {
	// Categorical are the categories. It is required.
	Categorical Categorical `keras:"categorical_column"`
}

// MarshalConfig returns the column's JSON.
func (i *Indicator) MarshalConfig() (any, error) {
	return object("IndicatorColumn", config.Fields{{Name: "categorical_column", Value: i.Categorical}})
}

func (i *Indicator) columns() []Column { return []Column{i.Categorical} }

// Name returns the name of the categories with the ending "_indicator".
func (i *Indicator) Name() string { return i.Categorical.Name() + "_indicator" }

// Features returns the names of the features.
func (i *Indicator) Features() []string { return i.Categorical.Features() }

// Size returns the number of categories.
func (i *Indicator) Size() int { return i.Categorical.Buckets() }

// Compute returns the counts. Categories out of range are not counted.
func (i *Indicator) Compute(s *ops.Scope, in *Inputs) *ops.Value {
	ids, weights := i.Categorical.Categories(s, in)
	return i.counts(s, ids, weights)
}

// ComputeSequence returns the counts of each step.
func (i *Indicator) ComputeSequence(s *ops.Scope, in *Inputs) (numbers, lengths *ops.Value) {
	t := stepsOf(s, i.Categorical, in)
	return t.matrix(s, i.counts(s, t.ids, t.weights), i.Size()), t.lengths
}

func (i *Indicator) counts(s *ops.Scope, ids base.Sparse, weights *ops.Value) *ops.Value {
	n := int64(i.Size())
	if weights == nil {
		weights = ops.Cast(s, ops.OnesLike(s, ids.Values), tensor.Float32)
	}
	batch := ops.StridedSlice(s, ids.Shape, ops.At(0))
	rows := ops.StridedSlice(s, ids.Indices, ops.Whole(), ops.At(0))
	known := ops.And(s, ops.GreaterEqual(s, ids.Values, int64(0)), ops.Less(s, ids.Values, n))
	places := ops.Where(s, known, ops.Add(s, ops.Mul(s, rows, n), ids.Values), int64(-1))
	return ops.Reshape(s, ops.UnsortedSegmentSumOf(s, weights, places, ops.Mul(s, batch, n)), -1, int(n))
}
