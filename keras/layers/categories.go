package layers

import (
	"errors"
	"fmt"
	"math"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
)

// Output modes of the layers for categories.
const (
	// OutputInt is the category's number.
	OutputInt = "int"
	// OutputOneHot is a vector for each input, 1 at the category's number.
	OutputOneHot = "one_hot"
	// OutputMultiHot is a vector for each sample, 1 at the numbers of its categories.
	OutputMultiHot = "multi_hot"
	// OutputCount is a vector for each sample that counts its categories.
	OutputCount = "count"
	// OutputTFIDF is as OutputCount, with counts multiplied by the weights of the categories.
	OutputTFIDF = "tf_idf"
)

// encoding turns the numbers of categories into the outputs of a layer.
type encoding struct {
	mode   string
	depth  int          // the number of categories
	dtype  tensor.DType // of the outputs
	sparse bool
	counts *ops.Value // weights of the inputs, nil for 1
	idf    ops.Input  // weights of the categories in the mode OutputTFIDF
}

// checkMode returns an error unless mode is one of the modes that a layer has.
func checkMode(mode string, sparse bool, modes ...string) error {
	for _, m := range modes {
		if m == mode {
			if sparse && mode == OutputInt {
				return errors.New("the OutputMode int has no sparse outputs")
			}
			return nil
		}
	}
	return fmt.Errorf("unknown OutputMode %q, want one of %q", mode, modes)
}

// categoryType returns the type of a layer for categories: int64 for numbers unless the
// policy is another integer type.
func categoryType(p base.Policy, mode string) base.Policy {
	if mode == OutputInt && (p == "" || p == "float32") {
		return "int64"
	}
	return p
}

// checkNumbers returns an error if numbers of categories can't be of the type.
func checkNumbers(p base.Policy, mode string) error {
	if d := p.Compute(); mode == OutputInt && !d.IsInteger() {
		return fmt.Errorf("the dtype is %s, want an integer type with the OutputMode int", p)
	}
	return nil
}

// encode returns the output for numbers of categories, which may be sparse or ragged. The shapes of
// outputs are those of tf_keras's preprocessing_utils.encode_categorical_inputs: the mode one_hot
// adds a dimension unless the last one is 1.
func (e *encoding) encode(s *ops.Scope, layer string, x *ops.Value) *ops.Value {
	if e.mode == OutputInt {
		return base.MapElements(s, x, func(x *ops.Value) *ops.Value { return ops.Cast(s, x, e.dtype) })
	}
	if e.depth < 1 || e.depth > math.MaxInt32 {
		return s.Fail(layer, fmt.Errorf("there are %d categories, want 1 to %d", e.depth, math.MaxInt32))
	}
	sparse, isSparse := base.SparseOf(x)
	ragged, isRagged := base.RaggedOf(x)
	shape := x.Fact().Shape
	if isSparse {
		known, _, err := sparse.Shape.Fact().AsShape()
		if err != nil {
			return s.Fail(layer, err)
		}
		shape = known
	}
	rank := shape.Rank()
	if isRagged {
		rank += len(ragged.Splits)
	}
	if rank < 0 {
		return s.Fail(layer, errors.New("the input has an unknown rank"))
	}
	if rank == 0 || e.mode == OutputOneHot && (isRagged || shape.Dim(rank-1) != 1) {
		rank++
		switch {
		case isSparse:
			sparse.Indices = ops.Pad(s, sparse.Indices, [2]int{}, [2]int{0, 1})
			sparse.Shape = ops.Concat(s, []ops.Input{sparse.Shape, []int64{1}}, 0)
		case isRagged:
			return s.Fail(layer, errors.New("a ragged input has no OutputMode one_hot, want multi_hot or count"))
		default:
			x = ops.ExpandDims(s, x, -1)
		}
	}
	if rank > 2 {
		return s.Fail(layer, fmt.Errorf("the input has the shape %v; the OutputMode %s has outputs of at most 2 dimensions", shape, e.mode))
	}
	if isRagged && len(ragged.Splits) != 1 {
		return s.Fail(layer, fmt.Errorf("the ragged input has %d ragged dimensions, want 1", len(ragged.Splits)))
	}
	whole := func(v *ops.Value) *ops.Value {
		if d := v.DType(); !d.IsInteger() {
			return ops.Cast(s, v, tensor.Int32)
		}
		return v
	}
	in := base.MapElements(s, x, whole)
	if isSparse {
		in = base.Sparse{Indices: sparse.Indices, Values: whole(sparse.Values), Shape: sparse.Shape}.Value(s)
	}
	if e.sparse {
		return e.sparseCounts(s, in, rank)
	}
	y := e.counted(s, in)
	if e.mode == OutputTFIDF {
		y = ops.Mul(s, y, e.idf)
	}
	return y
}

// binary reports whether the outputs are 0 and 1.
func (e *encoding) binary() bool { return e.mode == OutputOneHot || e.mode == OutputMultiHot }

// counted counts the categories of each row.
func (e *encoding) counted(s *ops.Scope, x *ops.Value) *ops.Value {
	size := ops.ConstOf(s, x.DType(), e.depth)
	weights := ops.Input(e.counts)
	if e.counts == nil {
		weights = ops.Zeros(s, e.dtype, 0)
	}
	if t, ok := base.SparseOf(x); ok {
		return raw.SparseBincount(s, t.Indices, t.Values, t.Shape, size, weights, &raw.SparseBincountOptions{BinaryOutput: e.binary()})
	}
	if t, ok := base.RaggedOf(x); ok {
		return raw.RaggedBincount(s, t.Splits[0], t.Values, size, weights, &raw.RaggedBincountOptions{BinaryOutput: e.binary()})
	}
	return raw.DenseBincount(s, x, size, weights, &raw.DenseBincountOptions{BinaryOutput: e.binary()})
}

// sparseCounts counts the categories of each row, in a sparse tensor.
func (e *encoding) sparseCounts(s *ops.Scope, x *ops.Value, rank int) *ops.Value {
	weights := ops.Input(e.counts)
	if e.counts == nil {
		weights = ops.Zeros(s, x.DType(), 0)
	}
	depth := int64(e.depth)
	var out base.Sparse
	if t, ok := base.SparseOf(x); ok {
		out.Indices, out.Values, out.Shape = raw.SparseCountSparseOutput(s, t.Indices, t.Values, t.Shape, weights, e.binary(),
			&raw.SparseCountSparseOutputOptions{Minlength: raw.Set(depth), Maxlength: raw.Set(depth)})
	} else if t, ok := base.RaggedOf(x); ok {
		out.Indices, out.Values, out.Shape = raw.RaggedCountSparseOutput(s, t.Splits[0], t.Values, weights, e.binary(),
			&raw.RaggedCountSparseOutputOptions{Minlength: raw.Set(depth), Maxlength: raw.Set(depth)})
	} else {
		out.Indices, out.Values, out.Shape = raw.DenseCountSparseOutput(s, x, weights, e.binary(),
			&raw.DenseCountSparseOutputOptions{Minlength: raw.Set(depth), Maxlength: raw.Set(depth)})
	}
	out.Values = ops.Cast(s, out.Values, e.dtype)
	if rank == 1 {
		out.Shape = ops.Const(s, []int64{depth})
	} else {
		out.Shape = ops.Concat(s, []ops.Input{ops.StridedSlice(s, out.Shape, ops.To(1)), []int64{depth}}, 0)
	}
	if e.mode == OutputTFIDF {
		column := ops.StridedSlice(s, out.Indices, ops.Whole(), ops.At(-1))
		out.Values = ops.Mul(s, ops.Gather(s, e.idf, column), out.Values)
	}
	return out.Value(s)
}
