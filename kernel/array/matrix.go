package array

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

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
				copyRun(out, x, at+lo, at+lo, hi-lo)
			}
		}
	}
	return nil
}

// where lists the index vectors of the elements that aren't zero.
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
	isFloat := x.DType().IsFloating() || x.DType().IsComplex()
	for i, b := 0, x.Bytes(); i < x.Len(); i++ {
		e := b[i*size : (i+1)*size]
		if isFloat && allZeroFloat(x, i) {
			continue
		}
		if slices.ContainsFunc(e, func(b byte) bool { return b != 0 }) {
			found = append(found, i)
		}
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

// allZeroFloat knows that negative zero is zero too.
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

var topK = elementwise.ByType{
	tensor.Float32: topKOf[float32], tensor.Float64: topKOf[float64],
	tensor.Int8: topKOf[int8], tensor.Int16: topKOf[int16], tensor.Int32: topKOf[int32], tensor.Int64: topKOf[int64],
	tensor.Uint8: topKOf[uint8], tensor.Uint16: topKOf[uint16], tensor.Uint32: topKOf[uint32], tensor.Uint64: topKOf[uint64],
}

// topKOf lists the k largest of each row in falling order; of equal ones the
// first comes first.
func topKOf[T interface {
	vec.Real
	tensor.Element
}](c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	k, err := shapes.Int(c.In(1), "k")
	if err != nil {
		return err
	}
	if k < 0 || k != int64(int(k)) {
		return fmt.Errorf("k is %d, the input's shape %v", k, s)
	}
	dims, err := shape.TopK(s, int(k))
	if err != nil {
		return err
	}
	n := s[len(s)-1]
	values, err := c.Alloc(0, x.DType(), dims)
	if err != nil {
		return err
	}
	d := c.Attrs().Type("index_type", tensor.Int32)
	if d != tensor.Int32 && d != tensor.Int64 {
		return fmt.Errorf("index_type is %v, not int32 or int64", d)
	}
	indices, err := c.Alloc(1, d, dims)
	if err != nil || values.Len() == 0 {
		return err
	}
	src, dst := tensor.Values[T](x), tensor.Values[T](values)
	order := make([]int, n)
	for r := range len(src) / n {
		row := src[r*n : r*n+n]
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int {
			switch {
			case row[i] != row[i] || row[j] != row[j]: // a NaN comes last
				return cmp.Compare(row[j], row[i])
			case row[i] > row[j]:
				return -1
			case row[i] < row[j]:
				return 1
			}
			return 0
		})
		for i, j := range order[:k] {
			at := r*int(k) + i
			dst[at] = row[j]
			if d == tensor.Int32 {
				tensor.Values[int32](indices)[at] = int32(j)
			} else {
				tensor.Values[int64](indices)[at] = int64(j)
			}
		}
	}
	return nil
}
