package featurecolumn

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
)

// Sequence is implemented by columns that can have numbers for each step of a sequence, for
// a SequenceFeatures layer.
type Sequence interface {
	Column
	// Size is the number of numbers for each step.
	Size() int
	// ComputeSequence returns the numbers [batch, steps, Size], and the number of steps of
	// each row, int64. The numbers are float32, or of the feature's type for a
	// SequenceNumeric.
	ComputeSequence(s *ops.Scope, in *Inputs) (numbers, lengths *ops.Value)
}

// SequenceCategorical has categories for each step of a sequence:
// tf.feature_column.sequence_categorical_column_with_identity and related columns. An
// [Embedding] and an [Indicator] make numbers of it.
type SequenceCategorical struct {
	// Categorical are the categories. The elements of a feature's row are its steps. It is
	// required.
	Categorical Categorical `keras:"categorical_column"`
}

// MarshalConfig returns the column's JSON.
func (c *SequenceCategorical) MarshalConfig() (any, error) {
	return object("SequenceCategoricalColumn", config.Fields{{Name: "categorical_column", Value: c.Categorical}})
}

func (c *SequenceCategorical) columns() []Column { return []Column{c.Categorical} }

// Name returns the name of the categories.
func (c *SequenceCategorical) Name() string { return c.Categorical.Name() }

// Features returns the names of the features.
func (c *SequenceCategorical) Features() []string { return c.Categorical.Features() }

// Buckets returns the number of categories.
func (c *SequenceCategorical) Buckets() int { return c.Categorical.Buckets() }

// Categories returns an error: the categories of a step are no categories of a row.
func (c *SequenceCategorical) Categories(s *ops.Scope, _ *Inputs) (base.Sparse, *ops.Value) {
	return failed(s, c.Name(), fmt.Errorf("the categories are those of sequences; use a SequenceFeatures layer")), nil
}

// steps are the categories of all steps of all rows: each step has a separate row.
type steps struct {
	ids            base.Sparse
	weights        *ops.Value
	batch, longest *ops.Value // int64: the number of rows, and of the steps in each
	lengths        *ops.Value
}

// stepsOf returns the steps of categories, which must be of sequences.
func stepsOf(s *ops.Scope, c Categorical, in *Inputs) *steps {
	fail := func(err error) *steps {
		t := failed(s, c.Name(), err)
		return &steps{ids: t, batch: t.Shape, longest: t.Shape, lengths: t.Shape}
	}
	q, ok := c.(*SequenceCategorical)
	if !ok {
		return fail(fmt.Errorf("the categories are a %T, want a SequenceCategorical", c))
	}
	ids, weights := q.Categorical.Categories(s, &Inputs{Values: in.Values, deep: true})
	if s.Err() != nil {
		return fail(s.Err())
	}
	out := &steps{weights: weights, batch: ops.StridedSlice(s, ids.Shape, ops.At(0)), longest: ops.StridedSlice(s, ids.Shape, ops.At(1)),
		lengths: lengthsOf(s, ids, 1)}
	each := ops.Prod(s, ops.StridedSlice(s, ids.Shape, ops.From(2)), 0)
	indices, shape := raw.SparseReshape(s, ids.Indices, ids.Shape, ops.Stack(s, []ops.Input{ops.Mul(s, out.batch, out.longest), each}, 0))
	out.ids = base.Sparse{Indices: indices, Values: ids.Values, Shape: shape}
	return out
}

// matrix returns numbers of all steps [batch*steps, size] as those of the rows' steps.
func (t *steps) matrix(s *ops.Scope, numbers *ops.Value, size int) *ops.Value {
	return ops.ReshapeTo(s, numbers, ops.Stack(s, []ops.Input{t.batch, t.longest, int64(size)}, 0))
}

// lengthsOf returns the number of steps of each row of a sparse tensor, up to the row's last
// element. A step takes size elements.
func lengthsOf(s *ops.Scope, t base.Sparse, size int) *ops.Value {
	rows, places := ops.StridedSlice(s, t.Indices, ops.Whole(), ops.At(0)), ops.StridedSlice(s, t.Indices, ops.Whole(), ops.At(1))
	n := raw.UnsortedSegmentMax(s, ops.Add(s, places, int64(1)), rows, ops.StridedSlice(s, t.Shape, ops.At(0)))
	n = ops.Maximum(s, n, int64(0)) // of rows without elements, too
	if size > 1 {
		n = ops.FloorDiv(s, ops.Add(s, n, int64(size-1)), int64(size))
	}
	return n
}

// SequenceNumeric has the numbers of each step of a sequence:
// tf.feature_column.sequence_numeric_column. The feature is a sparse tensor.
type SequenceNumeric struct {
	// Key is the name of the feature. It is required.
	Key string
	// Shape is the shape of the numbers of a step. Default: one number.
	Shape []int `keras:",default=[1]"`
	// DefaultValue is the number after the end of a row.
	DefaultValue float64
	// DType is the type of the feature in examples. Default: float32.
	DType string `keras:"dtype,default=float32"`
	// NormalizerFn must be nil: it is a Python function.
	NormalizerFn any
	// Normalizer is applied to the elements of the feature. It has no config. Default: none.
	Normalizer func(s *ops.Scope, x *ops.Value) *ops.Value `keras:"-"`
}

func (n *SequenceNumeric) numeric() *Numeric {
	out := &Numeric{Key: n.Key, Shape: n.Shape, DType: n.DType, NormalizerFn: n.NormalizerFn, Normalizer: n.Normalizer}
	out.DefaultValue = n.DefaultValue
	return out
}

// MarshalConfig returns the column's JSON.
func (n *SequenceNumeric) MarshalConfig() (any, error) {
	fields, err := n.numeric().fields()
	if err != nil {
		return nil, err
	}
	return object("SequenceNumericColumn", fields)
}

func (n *SequenceNumeric) check() error { return n.numeric().check() }

// Name returns the feature's name.
func (n *SequenceNumeric) Name() string { return n.Key }

// Features returns the feature's name.
func (n *SequenceNumeric) Features() []string { return []string{n.Key} }

// Size returns the number of numbers of a step.
func (n *SequenceNumeric) Size() int { return n.numeric().Size() }

// ComputeSequence returns the numbers. The elements of a row of a sparse matrix are those of
// its steps, Size of them each.
func (n *SequenceNumeric) ComputeSequence(s *ops.Scope, in *Inputs) (numbers, lengths *ops.Value) {
	fail := func(err error) (_, _ *ops.Value) {
		v := s.Fail("Column", fmt.Errorf("column %s: %w", n.Key, err))
		return v, v
	}
	t, ok := base.Sparse{}, false
	if x := in.Values[n.Key]; x != nil {
		t, ok = base.SparseOf(x)
	}
	if !ok {
		return fail(fmt.Errorf("the feature %q isn't a sparse tensor, as numbers of sequences must be", n.Key))
	}
	t, err := (&Inputs{deep: true}).matrix(s, n.Key, t)
	if err != nil {
		return fail(err)
	}
	if n.Normalizer != nil {
		t.Values = n.Normalizer(s, t.Values)
	}
	size := n.Size()
	each := 1
	if shape, _, err := t.Shape.Fact().AsShape(); err == nil && shape.Rank() == 2 {
		each = size
	}
	var rest any = n.DefaultValue
	if d := t.Values.DType(); d.IsInteger() && n.DefaultValue == math.Trunc(n.DefaultValue) {
		rest = int64(n.DefaultValue)
	}
	dense := raw.SparseToDense(s, t.Indices, t.Shape, t.Values, ops.ConstOf(s, t.Values.DType(), rest), nil)
	batch := ops.StridedSlice(s, t.Shape, ops.At(0))
	dense = ops.ReshapeTo(s, dense, ops.Stack(s, []ops.Input{batch, int64(-1), int64(size)}, 0))
	return dense, lengthsOf(s, t, each)
}
