package array

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/parts"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of MatrixDiag, MatrixDiagPart, MatrixBandPart and their Batch
// forms, and of Where. Matrices are the last two dimensions of a tensor.

// matrixDiag returns a square matrix [..., n, n] of zeros for each row [...,
// n], which is its diagonal.
func matrixDiag(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	dims, err := shape.MatrixDiag(s)
	if err != nil {
		return err
	}
	n := s[len(s)-1]
	out, err := c.AllocZero(0, x.DType(), dims)
	if err != nil {
		return err
	}
	b := shapes.Count(s[:len(s)-1])
	move(c, out, x, []int{b, n}, view{strides: []int{n * n, n + 1}}, view{strides: []int{n, 1}})
	return nil
}

// matrixDiagPart returns the main diagonal of each matrix.
func matrixDiagPart(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	dims, err := shape.MatrixDiagPart(s)
	if err != nil {
		return err
	}
	rows, cols, n := s[len(s)-2], s[len(s)-1], dims[len(dims)-1]
	out, err := c.Alloc(0, x.DType(), dims)
	if err != nil {
		return err
	}
	b := shapes.Count(s[:len(s)-2])
	move(c, out, x, []int{b, n}, view{strides: []int{n, 1}}, view{strides: []int{rows * cols, cols + 1}})
	return nil
}

// matrixBandPart sets the elements outside of a band to zero. The band has
// num_lower diagonals below the main one and num_upper above it; a negative
// number keeps all.
func matrixBandPart(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	lower, err := shapes.Int(c.In(1), "num_lower")
	if err != nil {
		return err
	}
	upper, err := shapes.Int(c.In(2), "num_upper")
	if err != nil {
		return err
	}
	if err := shape.Band(s, lower, upper); err != nil {
		return err
	}
	rows, cols := s[len(s)-2], s[len(s)-1]
	out, err := c.AllocZero(0, x.DType(), s)
	if err != nil {
		return err
	}
	for b := range shapes.Count(s[:len(s)-2]) {
		for i := range rows {
			lo, hi := 0, cols
			if lower >= 0 {
				lo = max(0, i-int(lower))
			}
			if upper >= 0 {
				hi = min(cols, i+int(upper)+1)
			}
			if at := (b*rows + i) * cols; lo < hi {
				parts.Copy(out, x, at+lo, at+lo, hi-lo)
			}
		}
	}
	return nil
}

// where returns the index vectors of the elements that aren't zero, as
// int64[count, rank], in row-major order. -0 is zero and NaN isn't.
func where(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	x := c.In(0)
	size := x.DType().Size()
	if size == 0 {
		return fmt.Errorf("isn't defined for %v", x.DType())
	}
	s := x.Shape()
	var found []int
	reserved := 0
	isFloat := x.DType().IsFloating() || x.DType().IsComplex()
	for i, b := 0, x.Bytes(); i < x.Len(); i++ {
		e := b[i*size : (i+1)*size]
		if isFloat && allZeroFloat(x, i) {
			continue
		}
		if slices.ContainsFunc(e, func(b byte) bool { return b != 0 }) {
			if len(found) == reserved { // twice as many, and those that are copied
				c.Reserve(8 * max(reserved, 1<<10))
				reserved = 2*reserved + 1<<10
				found = slices.Grow(found, reserved-len(found))
			}
			found = append(found, i)
		}
		c.Step(i)
	}
	out, err := c.Alloc(0, tensor.Int64, tensor.Shape{len(found), len(s)})
	if err != nil {
		return err
	}
	dst := tensor.Values[int64](out)
	for i, at := range found {
		for d := len(s) - 1; d >= 0; d-- {
			dst[i*len(s)+d] = int64(at % s[d])
			at /= s[d]
		}
	}
	return nil
}

// allZeroFloat reports whether element i is zero, of either sign.
func allZeroFloat(x *tensor.Tensor, i int) bool {
	switch x.DType() {
	case tensor.Float32:
		return tensor.Values[float32](x)[i] == 0
	case tensor.Float64:
		return tensor.Values[float64](x)[i] == 0
	case tensor.Float16:
		return tensor.Values[tensor.F16](x)[i].Float() == 0
	case tensor.BFloat16:
		return tensor.Values[tensor.BF16](x)[i].Float() == 0
	case tensor.Complex64:
		return tensor.Values[complex64](x)[i] == 0
	case tensor.Complex128:
		return tensor.Values[complex128](x)[i] == 0
	}
	return false
}
