// Package sparse implements the kernels of sparse tensors: indices, values and a shape, in three tensors, or compressed row by row
// in a variant. It also has those of sets in the rows of tensors, and of crosses of features.
package sparse

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	return append(csrKernels(), []engine.Kernel{
		{Op: "SparseToDense", Run: toDense},
		{Op: "SparseReshape", Run: reshape},
		{Op: "SparseReorder", Run: reorder},
		{Op: "SparseConcat", Prepare: concat},
		{Op: "SparseSlice", Run: slice},
		{Op: "SparseFillEmptyRows", Run: fillEmptyRows},
		{Op: "SparseFillEmptyRowsGrad", Run: FillEmptyRowsGrad, Precision: engine.Accumulated},
		{Op: "SparseSegmentSum", Prepare: segments(sum), Precision: engine.Accumulated},
		{Op: "SparseSegmentMean", Prepare: segments(mean), Precision: engine.Accumulated},
		{Op: "SparseSegmentSqrtN", Prepare: segments(sqrtN), Precision: engine.Accumulated},
		{Op: "SparseSegmentSumWithNumSegments", Prepare: segments(sum), Precision: engine.Accumulated},
		{Op: "SparseSegmentMeanWithNumSegments", Prepare: segments(mean), Precision: engine.Accumulated},
		{Op: "SparseSegmentSqrtNWithNumSegments", Prepare: segments(sqrtN), Precision: engine.Accumulated},
		byValues("SparseAdd", 7, 1, addTypes, engine.Exact),
		byValues("SparseAddGrad", 4, 0, addGradTypes, engine.Exact),
		byValues("SparseSparseMaximum", 6, 1, extremeTypes(true), engine.Exact),
		byValues("SparseSparseMinimum", 6, 1, extremeTypes(false), engine.Exact),
		{Op: "SparseSplit", Prepare: split},
		byValues("SparseSliceGrad", 4, 0, sliceGradTypes, engine.Exact),
		byValues("SparseReduceSum", 4, 1, sumTypes(true), engine.Accumulated),
		byValues("SparseReduceSumSparse", 4, 1, sumTypes(false), engine.Accumulated),
		byValues("SparseReduceMax", 4, 1, maxTypes(true), engine.Exact),
		byValues("SparseReduceMaxSparse", 4, 1, maxTypes(false), engine.Exact),
		byValues("SparseDenseCwiseAdd", 4, 1, cwiseTypes(plus), engine.Exact),
		byValues("SparseDenseCwiseMul", 4, 1, cwiseTypes(times), engine.Exact),
		byValues("SparseDenseCwiseDiv", 4, 1, cwiseTypes(over), engine.Exact),
		byValues("SparseTensorDenseAdd", 4, 1, denseAddTypes, engine.Exact),
		byValues("SparseSoftmax", 3, 1, softmaxTypes, engine.Rounded),
		{Op: "SerializeSparse", Prepare: serialize(false)},
		{Op: "SerializeManySparse", Prepare: serialize(true)},
		{Op: "DeserializeSparse", Prepare: deserialize(true)},
		{Op: "DeserializeManySparse", Prepare: deserialize(false)},
		{Op: "AddSparseToTensorsMap", Prepare: addToMap(false)},
		{Op: "AddManySparseToTensorsMap", Prepare: addToMap(true)},
		{Op: "TakeManySparseFromTensorsMap", Prepare: takeFromMap},
		counts("SparseCountSparseOutput", 4, sparseRows),
		counts("DenseCountSparseOutput", 2, denseRows),
		counts("RaggedCountSparseOutput", 3, raggedRows),
		bincounts("SparseBincount", 3, sparseRows),
		bincounts("RaggedBincount", 2, raggedRows),
		segmentsGrad("SparseSegmentSumGrad", sum, false),
		segmentsGrad("SparseSegmentMeanGrad", mean, false),
		segmentsGrad("SparseSegmentSqrtNGrad", sqrtN, false),
		segmentsGrad("SparseSegmentSumGradV2", sum, true),
		segmentsGrad("SparseSegmentMeanGradV2", mean, true),
		segmentsGrad("SparseSegmentSqrtNGradV2", sqrtN, true),
		{Op: "EditDistance", Run: editDistance},
		setOperation("DenseToDenseSetOperation", false, false),
		setOperation("DenseToSparseSetOperation", false, true),
		setOperation("SparseToSparseSetOperation", true, true),
		byValues("SetSize", 3, 1, setSizeTypes, engine.Exact),
		{Op: "SparseCross", Prepare: cross},
		{Op: "SparseCrossV2", Prepare: crossV2},
		{Op: "SparseCrossHashed", Prepare: crossHashed},
		{Op: "RaggedCross", Prepare: raggedCross},
		{Op: "SparseTensorDenseMatMul", Run: matMul, Precision: engine.Accumulated},
	}...)
}

// matrix is a sparse tensor: a row of indices a value.
type matrix struct {
	n, rank int
	at      []int64 // n rows of rank indices
	values  *tensor.Tensor
	shape   []int64
}

// input reads a sparse tensor from inputs: indices, values, shape.
func input(c *engine.Call, indices, values, shape int) (m matrix, err error) {
	at, v, s := c.In(indices), c.In(values), c.In(shape)
	if len(at.Shape()) != 2 || len(v.Shape()) != 1 || len(s.Shape()) != 1 || at.Shape()[0] != v.Len() || at.Shape()[1] != s.Len() {
		return m, fmt.Errorf("indices of shape %v, values of %v and a shape of %v make no sparse tensor", at.Shape(), v.Shape(), s.Shape())
	}
	m = matrix{n: v.Len(), rank: s.Len(), values: v}
	if m.at, err = shapes.AllInts(at, "the indices"); err != nil {
		return m, err
	}
	m.shape, err = shapes.Ints(s, "the shape")
	return m, err
}

// row returns the indices of value i.
func (m *matrix) row(i int) []int64 { return m.at[i*m.rank : (i+1)*m.rank] }

// check returns an error for indices outside of the shape.
func (m *matrix) check() error {
	for d, n := range m.shape {
		if n < 0 {
			return fmt.Errorf("dimension %d of the shape is %d", d, n)
		}
	}
	for i := range m.n {
		for d, k := range m.row(i) {
			if k < 0 || k >= m.shape[d] {
				return fmt.Errorf("the indices %v are outside of the shape %v", m.row(i), m.shape)
			}
		}
	}
	return nil
}

// copyElements copies n elements between tensors of one type.
func copyElements(dst, src *tensor.Tensor, to, from, n int) {
	if size := dst.DType().Size(); size > 0 {
		copy(dst.Bytes()[to*size:(to+n)*size], src.Bytes()[from*size:(from+n)*size])
		return
	}
	copy(dst.Strings()[to:to+n], src.Strings()[from:from+n])
}

// setInts sets output i to a tensor of int64.
func setInts(c *engine.Call, i int, v []int64, dims ...int) error {
	t, err := tensor.New(v, dims...)
	if err == nil {
		c.Set(i, t)
	}
	return err
}

// pick sets output i to the listed values.
func (m *matrix) pick(c *engine.Call, i int, list []int) error {
	out, err := c.Alloc(i, m.values.DType(), tensor.Shape{len(list)})
	if err != nil {
		return err
	}
	for to, from := range list {
		copyElements(out, m.values, to, from, 1)
	}
	return nil
}
