package array

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of TopK, TopKV2, InTopK, InTopKV2 and NthElement. Rows are the
// last dimension. The order of equal elements and of NaN is TensorFlow's.

// topK is the kernel of TopK and TopKV2, by element type.
var topK = elementwise.ByType{
	tensor.Float32: topKOf(itself[float32]), tensor.Float64: topKOf(itself[float64]),
	tensor.Float16: topKOf(tensor.F16.Float), tensor.BFloat16: topKOf(tensor.BF16.Float),
	tensor.Int8: topKOf(itself[int8]), tensor.Int16: topKOf(itself[int16]), tensor.Int32: topKOf(itself[int32]), tensor.Int64: topKOf(itself[int64]),
	tensor.Uint8: topKOf(itself[uint8]), tensor.Uint16: topKOf(itself[uint16]), tensor.Uint32: topKOf(itself[uint32]), tensor.Uint64: topKOf(itself[uint64]),
}

func itself[T any](x T) T { return x }

// kOf returns the number of elements that a row keeps: an attribute of the
// first version, an input of later ones.
func kOf(c *engine.Call) (int, error) {
	var k int64
	if c.Op() == "TopK" {
		if err := c.Need(1); err != nil {
			return 0, err
		}
		k = c.Attrs().Int("k", -1)
	} else {
		if err := c.Need(2); err != nil {
			return 0, err
		}
		var err error
		if k, err = shapes.Int(c.In(1), "k"); err != nil {
			return 0, err
		}
	}
	if k < 0 || k != int64(int(k)) {
		return 0, fmt.Errorf("k is %d, the input's shape %v", k, c.In(0).Shape())
	}
	return int(k), nil
}

// topKOf returns the k largest elements of each row, in falling order if the
// node requires it; of equal ones the first comes first. key converts an
// element to the number that orders it.
func topKOf[T tensor.Element, K vec.Real](key func(T) K) elementwise.Func {
	return func(c *engine.Call) error {
		k, err := kOf(c)
		if err != nil {
			return err
		}
		x := c.In(0)
		s := x.Shape()
		dims, err := shape.TopK(s, k)
		if err != nil {
			return err
		}
		n := s[len(s)-1]
		values, err := c.Alloc(0, x.DType(), dims)
		if err != nil {
			return err
		}
		d := c.Attrs().Type("index_type", tensor.Int32)
		put, err := indexOf(c, 1, d, dims, n)
		if err != nil || values.Len() == 0 {
			return err
		}
		src, dst := tensor.Values[T](x), tensor.Values[T](values)
		sorted := !c.Attrs().Has("sorted") || c.Attrs().Bool("sorted")
		top, row := newTopN[K](c, n, k), engine.Zeroed[K](c, n)
		for r := range len(src) / n {
			for i, v := range src[r*n : r*n+n] {
				row[i] = key(v)
			}
			for i, j := range top.find(row, k, sorted) {
				dst[r*k+i] = src[r*n+j]
				put(r*k+i, j)
			}
		}
		return nil
	}
}

// falling orders the larger number first.
func falling[K vec.Real](a, b K) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// indexOf sets output i to a tensor for indices below n, and returns a function
// that stores one.
func indexOf(c *engine.Call, i int, d tensor.DType, dims tensor.Shape, n int) (put func(at, index int), err error) {
	switch {
	case d != tensor.Int16 && d != tensor.Int32 && d != tensor.Int64:
		return nil, fmt.Errorf("index_type is %v, not int16, int32 or int64", d)
	case d == tensor.Int16 && n > math.MaxInt16:
		return nil, fmt.Errorf("int16 holds no indices of rows of %d elements; index_type int32 does", n)
	}
	out, err := c.Alloc(i, d, dims)
	if err != nil {
		return nil, err
	}
	switch d {
	case tensor.Int16:
		v := tensor.Values[int16](out)
		return func(at, index int) { v[at] = int16(index) }, nil
	case tensor.Int32:
		v := tensor.Values[int32](out)
		return func(at, index int) { v[at] = int32(index) }, nil
	}
	v := tensor.Values[int64](out)
	return func(at, index int) { v[at] = int64(index) }, nil
}

// inTopK reports whether a target's prediction is among the k largest of its
// row. The predictions are float32[batch, classes], the targets [batch].
func inTopK(c *engine.Call) error {
	k := c.Attrs().Int("k", 0)
	n := 2
	if c.Op() == "InTopKV2" {
		n = 3
	}
	if err := c.Need(n); err != nil {
		return err
	}
	if n == 3 {
		var err error
		if k, err = shapes.Int(c.In(2), "k"); err != nil {
			return err
		}
	}
	x, targets := c.In(0), c.In(1)
	s := x.Shape()
	if x.DType() != tensor.Float32 || len(s) != 2 {
		return fmt.Errorf("the predictions are %v%v, not a matrix of float32", x.DType(), s)
	}
	if !targets.Shape().Equal(s[:1]) {
		return fmt.Errorf("the targets have shape %v, not %v", targets.Shape(), s[:1])
	}
	at, err := shapes.AllInts(targets, "the targets")
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tensor.Bool, s[:1])
	if err != nil {
		return err
	}
	v, dst := tensor.Values[float32](x), tensor.Values[bool](out)
	for i := range dst {
		dst[i] = among(v[i*s[1]:(i+1)*s[1]], at[i], k)
	}
	return nil
}

// among reports whether fewer than k elements of a row are larger than the one
// at target. It returns false if a number of the row isn't finite. TensorFlow's
// InTopK does the same: a target out of range or a number that isn't finite is
// never among the first.
func among(row []float32, target, k int64) bool {
	if target < 0 || target >= int64(len(row)) {
		return false
	}
	above := int64(0)
	for _, v := range row {
		if v-v != 0 {
			return false
		}
		if v > row[target] {
			above++
		}
	}
	return above < k
}

// nthElement is the kernel of NthElement, by element type.
var nthElement = elementwise.ByType{
	tensor.Float32: nthOf(itself[float32]), tensor.Float64: nthOf(itself[float64]),
	tensor.Float16: nthOf(tensor.F16.Float), tensor.BFloat16: nthOf(tensor.BF16.Float),
	tensor.Int8: nthOf(itself[int8]), tensor.Int16: nthOf(itself[int16]), tensor.Int32: nthOf(itself[int32]), tensor.Int64: nthOf(itself[int64]),
	tensor.Uint8: nthOf(itself[uint8]), tensor.Uint16: nthOf(itself[uint16]), tensor.Uint32: nthOf(itself[uint32]), tensor.Uint64: nthOf(itself[uint64]),
}

// nthOf returns the element of each row that is at index n in sorted order. It
// sorts each row; TensorFlow's std::nth_element returns the same element.
func nthOf[T tensor.Element, K vec.Real](key func(T) K) elementwise.Func {
	return func(c *engine.Call) error {
		if err := c.Need(2); err != nil {
			return err
		}
		x := c.In(0)
		s := x.Shape()
		n, err := shapes.Int(c.In(1), "n")
		if err != nil {
			return err
		}
		if len(s) < 1 || n < 0 || n >= int64(s[len(s)-1]) {
			return fmt.Errorf("n is %d, the input's shape %v", n, s)
		}
		out, err := c.Alloc(0, x.DType(), s[:len(s)-1])
		if err != nil {
			return err
		}
		size := s[len(s)-1]
		reverse := c.Attrs().Bool("reverse")
		dst, row, compared := tensor.Values[T](out), engine.Zeroed[T](c, size), 0
		for i := range dst {
			copy(row, tensor.Values[T](x)[i*size:(i+1)*size])
			slices.SortFunc(row, func(a, b T) int {
				c.Step(compared)
				compared++
				if reverse {
					return cmp.Compare(key(b), key(a))
				}
				return cmp.Compare(key(a), key(b))
			})
			dst[i] = row[n]
		}
		return nil
	}
}
