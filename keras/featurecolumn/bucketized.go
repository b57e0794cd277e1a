package featurecolumn

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
)

// Bucketized has the bins of numbers: tf.feature_column.bucketized_column. As numbers they
// are vectors with a 1; as categories, the bins of each number have separate numbers.
type Bucketized struct {
	// Source are the numbers. It is required.
	Source *Numeric `keras:"source_column"`
	// Boundaries are the lower bounds of the bins from 1, in order.
	Boundaries []float64
}

// MarshalConfig returns the column's JSON.
func (b *Bucketized) MarshalConfig() (any, error) {
	return object("BucketizedColumn", config.Fields{{Name: "source_column", Value: b.Source}, {Name: "boundaries", Value: b.Boundaries}})
}

func (b *Bucketized) columns() []Column {
	if b.Source == nil {
		return []Column{nil}
	}
	return []Column{b.Source}
}

func (b *Bucketized) check() error {
	if len(b.Boundaries) == 0 || !slices.IsSorted(b.Boundaries) {
		return fmt.Errorf("column %s: Boundaries is empty or not in order", b.Name())
	}
	return nil
}

// Name returns the feature's name with the ending "_bucketized".
func (b *Bucketized) Name() string { return b.Source.Key + "_bucketized" }

// Features returns the feature's name.
func (b *Bucketized) Features() []string { return b.Source.Features() }

func (b *Bucketized) bins() int { return len(b.Boundaries) + 1 }

// Size returns the number of bins for all numbers of a row.
func (b *Bucketized) Size() int { return b.Source.Size() * b.bins() }

// Buckets returns the number of bins for the first dimension of the numbers.
func (b *Bucketized) Buckets() int { return b.bins() * b.Source.shape()[0] }

// Compute returns vectors with a 1 at the number of the bin.
func (b *Bucketized) Compute(s *ops.Scope, in *Inputs) *ops.Value {
	bins := ops.Cast(s, raw.Bucketize(s, b.Source.numbers(s, in), b.Boundaries), tensor.Int64)
	return ops.Reshape(s, ops.OneHot(s, bins, b.bins(), tensor.Float32), -1, b.Size())
}

// Categories returns the numbers of the bins: for the number i of a row, its bin plus i times the
// number of bins.
func (b *Bucketized) Categories(s *ops.Scope, in *Inputs) (base.Sparse, *ops.Value) {
	bins := ops.Cast(s, raw.Bucketize(s, b.Source.numbers(s, in), b.Boundaries), tensor.Int64)
	n := int64(b.Source.shape()[0])
	bins = ops.Reshape(s, bins, -1, int(n))
	shape := ops.Cast(s, ops.Shape(s, bins), tensor.Int64)
	first := ops.Mul(s, ops.Cast(s, ops.Range(s, 0, int(n), 1), tensor.Int64), int64(b.bins()))
	return base.Sparse{Indices: ops.WhereIndices(s, ops.GreaterEqual(s, bins, int64(0))), Values: ops.Reshape(s, ops.Add(s, bins, first), -1), Shape: shape}, nil
}
