// Package ragged implements the kernels of ragged tensors: values, and splits that
// divide them into rows.
package ragged

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/sparse"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	return []engine.Kernel{
		{Op: "RaggedTensorToTensor", Prepare: toTensor},
		{Op: "RaggedTensorToSparse", Run: toSparse},
		{Op: "RaggedRange", Run: rangeTypes.Run},
		{Op: "RaggedGather", Run: gather},
		{Op: "RaggedTensorToVariant", Prepare: toVariant},
		{Op: "RaggedTensorFromVariant", Prepare: fromVariant},
		{Op: "RaggedTensorToVariantGradient", Prepare: toVariantGrad},
		{Op: "RaggedFillEmptyRows", Run: fillEmptyRows},
		{Op: "RaggedFillEmptyRowsGrad", Run: sparse.FillEmptyRowsGrad, Precision: engine.Accumulated},
	}
}

// copyElements copies n elements between tensors of one type. to and from are
// indices of elements.
func copyElements(dst, src *tensor.Tensor, to, from, n int) {
	if size := dst.DType().Size(); size > 0 {
		copy(dst.Bytes()[to*size:(to+n)*size], src.Bytes()[from*size:(from+n)*size])
		return
	}
	copy(dst.Strings()[to:to+n], src.Strings()[from:from+n])
}

// checkSplits checks that splits begin with 0, never fall and end with n.
func checkSplits(splits []int64, n int) error {
	if len(splits) == 0 || splits[0] != 0 || splits[len(splits)-1] != int64(n) {
		return fmt.Errorf("the splits don't go from 0 to %d", n)
	}
	for i := 1; i < len(splits); i++ {
		if splits[i] < splits[i-1] {
			return fmt.Errorf("the splits fall from %d to %d", splits[i-1], splits[i])
		}
	}
	return nil
}
