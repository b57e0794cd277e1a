package array

import (
	"fmt"
	"math"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/parts"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of UnravelIndex, DataFormatDimMap and DataFormatVecPermute.

var unravelIndex = elementwise.ByType{tensor.Int32: unravelOf[int32], tensor.Int64: unravelOf[int64]}

// unravelOf converts indices of elements, a scalar or a vector of n, to index
// vectors of the shape in input 1. Output 0 is [rank] or [rank, n].
func unravelOf[T int32 | int64](c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	indices, sizes := c.In(0), c.In(1)
	if len(indices.Shape()) > 1 {
		return fmt.Errorf("the indices have shape %v, neither a scalar's nor a vector's", indices.Shape())
	}
	if sizes.DType() != indices.DType() {
		return fmt.Errorf("the indices are %v, the dims %v", indices.DType(), sizes.DType())
	}
	dims, err := shapes.Dims(sizes, "dims", 0)
	if err != nil {
		return err
	}
	// total is the number of elements of the shape
	total := int64(1)
	for _, n := range dims {
		if n == 0 {
			return fmt.Errorf("the dims %v hold a zero", dims)
		}
		if total > math.MaxInt64/int64(n) {
			return fmt.Errorf("the dims %v span more elements than can be counted", dims)
		}
		total *= int64(n)
	}
	v := tensor.Values[T](indices)
	for _, k := range v { // negative indices are divided like others, as in TensorFlow
		if int64(k) >= total {
			return fmt.Errorf("the index %d is out of bounds of the dims %v", k, dims)
		}
	}
	out, err := c.Alloc(0, indices.DType(), append(tensor.Shape{len(dims)}, indices.Shape()...))
	if err != nil {
		return err
	}
	dst := tensor.Values[T](out)
	for i, k := range v {
		for d := len(dims) - 1; d >= 0; d-- {
			dst[d*len(v)+i] = k % T(dims[d])
			k /= T(dims[d])
		}
	}
	return nil
}

// orders returns the two formats in the attributes. Formats with different
// letters are an error.
func orders(c *engine.Call) (from, to string, err error) {
	a := c.Attrs()
	return a.String("src_format", "NHWC"), a.String("dst_format", "NCHW"), shape.Formats(a)
}

var dimMap = elementwise.ByType{tensor.Int32: dimMapOf[int32], tensor.Int64: dimMapOf[int64]}

// dimMapOf converts dimensions of one format to those of another. Formats are
// strings of one letter for each dimension, such as NHWC; src_format and
// dst_format are the attributes.
func dimMapOf[T int32 | int64](c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	from, to, err := orders(c)
	if err != nil {
		return err
	}
	x := c.In(0)
	out, err := c.Alloc(0, x.DType(), x.Shape())
	if err != nil {
		return err
	}
	dst := tensor.Values[T](out)
	for i, d := range tensor.Values[T](x) {
		// Numbers outside of the dimensions wrap around. One below -n, for n
		// dimensions, may leave a negative remainder: it becomes the last dimension.
		k := (int64(d) + int64(len(from))) % int64(len(from))
		if k < 0 {
			k = int64(len(from)) - 1
		}
		dst[i] = T(strings.IndexByte(to, from[k]))
	}
	return nil
}

// vecPermute permutes numbers, or pairs of them, from the order of one format
// to that of another. The input is [n] or, for pairs, [n, 2]. It may have entries
// for the spatial dimensions only.
func vecPermute(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	from, to, err := orders(c)
	if err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	if len(s) != 1 && len(s) != 2 || len(s) == 2 && s[1] != 2 {
		return fmt.Errorf("takes a vector or pairs, not %v", s)
	}
	if s[0] == len(from)-2 {
		from, to = spatial(from), spatial(to)
	}
	if s[0] != len(from) {
		return fmt.Errorf("there are %d entries for the format %q", s[0], from)
	}
	out, err := c.Alloc(0, x.DType(), s)
	if err != nil {
		return err
	}
	n := shapes.Count(s[1:])
	for i := range to {
		parts.Copy(out, x, i*n, strings.IndexByte(from, to[i])*n, n)
	}
	return nil
}

// spatial returns a format without the batch and the channels.
func spatial(format string) string {
	return strings.Map(func(r rune) rune {
		if r == 'N' || r == 'C' {
			return -1
		}
		return r
	}, format)
}
