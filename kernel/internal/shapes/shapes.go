// Package shapes contains the kernels' common functions for shapes in memory:
// strides and small integer inputs. The shapes of outputs are computed by
// graph/shape. Many packages of kernels use it.
package shapes

import (
	"fmt"
	"unsafe"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Strides returns the row-major strides of a shape, in elements.
func Strides(s tensor.Shape) []int {
	out := make([]int, len(s))
	n := 1
	for i := len(s) - 1; i >= 0; i-- {
		out[i] = n
		n *= s[i]
	}
	return out
}

// BroadcastStrides returns the strides of a tensor of shape s that is broadcast
// to shape to: 0 for dimensions along which it is stretched.
func BroadcastStrides(s, to tensor.Shape) []int {
	out := make([]int, len(to))
	n, off := 1, len(to)-len(s)
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] != 1 {
			out[i+off] = n
		}
		n *= s[i]
	}
	return out
}

// Room is memory for the lists of a call: most shapes have few dimensions, and
// lists that fit in a variable of the kernel need no allocation.
type Room[T any] [8]T

// Ints returns the elements of a vector or scalar of int32, int64 or a narrower
// integer type. The second argument is its name in an error. For int64 the result
// is the tensor's storage, which must not be written.
func Ints(t *tensor.Tensor, what string) ([]int64, error) {
	if len(t.Shape()) > 1 {
		return nil, fmt.Errorf("%s is %v%v, not a vector", what, t.DType(), t.Shape())
	}
	return AllInts(t, what)
}

// AllInts returns the elements as Ints does, for a tensor of any shape, in
// row-major order.
func AllInts(t *tensor.Tensor, what string) ([]int64, error) {
	switch t.DType() {
	case tensor.Int64:
		return tensor.Values[int64](t), nil
	case tensor.Int32:
		v := tensor.Values[int32](t)
		out := make([]int64, len(v))
		for i, x := range v {
			out[i] = int64(x)
		}
		return out, nil
	case tensor.Int16, tensor.Int8, tensor.Uint8, tensor.Uint16, tensor.Uint32:
		return t.Int64s()
	}
	return nil, fmt.Errorf("%s is %v, not int32 or int64", what, t.DType())
}

// CallInts returns the elements as AllInts does, in memory that lasts until the
// kernel returns.
func CallInts(c *engine.Call, t *tensor.Tensor, what string) ([]int64, error) {
	if t.DType() != tensor.Int32 {
		return AllInts(t, what)
	}
	out, _ := engine.Scratch[int64](c, t.Len())
	for i, x := range tensor.Values[int32](t) {
		out[i] = int64(x)
	}
	return out, nil
}

// Int32s returns the storage of a vector or scalar of int32, the usual type of
// lists, or false for all others. The slice must not be written.
func Int32s(t *tensor.Tensor) ([]int32, bool) {
	if t.DType() != tensor.Int32 || len(t.Shape()) > 1 {
		return nil, false
	}
	b := t.Bytes()
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4), true
}

// Elems appends [Ints] to into, as elements for the rules of graph/shape.
func Elems(into []graph.Elem, t *tensor.Tensor, what string) ([]graph.Elem, error) {
	if len(t.Shape()) > 1 {
		return nil, fmt.Errorf("%s is %v%v, not a vector", what, t.DType(), t.Shape())
	}
	switch t.DType() {
	case tensor.Int64:
		for _, n := range tensor.Values[int64](t) {
			into = append(into, graph.ElemOf(n))
		}
	case tensor.Int32:
		for _, n := range tensor.Values[int32](t) {
			into = append(into, graph.ElemOf(int64(n)))
		}
	default:
		v, err := AllInts(t, what)
		if err != nil {
			return nil, err
		}
		for _, n := range v {
			into = append(into, graph.ElemOf(n))
		}
	}
	return into, nil
}

// Int returns the only element of an integer tensor.
func Int(t *tensor.Tensor, what string) (int64, error) {
	if t.Len() != 1 {
		return 0, fmt.Errorf("%s is %v%v, not one number", what, t.DType(), t.Shape())
	}
	if v, ok := Int32s(t); ok {
		return int64(v[0]), nil
	}
	switch t.DType() {
	case tensor.Int32:
		return int64(tensor.Values[int32](t)[0]), nil
	case tensor.Int64:
		return tensor.Values[int64](t)[0], nil
	}
	v, err := AllInts(t, what)
	if err != nil {
		return 0, err
	}
	return v[0], nil
}

// Dims returns the shape in an integer vector; a size below min is an error.
func Dims(t *tensor.Tensor, what string, min int64) (tensor.Shape, error) {
	return AppendDims(nil, t, what, min)
}

// AppendDims appends [Dims] to into.
func AppendDims(into tensor.Shape, t *tensor.Tensor, what string, min int64) (tensor.Shape, error) {
	if v, ok := Int32s(t); ok {
		for _, d := range v {
			if int64(d) < min {
				return nil, errSize(what, int64(d))
			}
			into = append(into, int(d))
		}
		return into, nil
	}
	v, err := Ints(t, what)
	if err != nil {
		return nil, err
	}
	for _, d := range v {
		if d < min || d != int64(int(d)) {
			return nil, errSize(what, d)
		}
		into = append(into, int(d))
	}
	return into, nil
}

func errSize(what string, d int64) error { return fmt.Errorf("%s holds the size %d", what, d) }

// Count returns the product of sizes, for shapes that are known to be valid.
func Count(s tensor.Shape) int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// SetInts sets output i to a vector of type d, int32 or int64.
func SetInts(c *engine.Call, i int, d tensor.DType, v []int64) error {
	out, err := c.Alloc(i, d, tensor.Shape{len(v)})
	if err != nil {
		return err
	}
	switch d {
	case tensor.Int64:
		copy(tensor.Values[int64](out), v)
	case tensor.Int32:
		for k, n := range v {
			tensor.Values[int32](out)[k] = int32(n)
		}
	default:
		return fmt.Errorf("output %d holds places, and can't have elements of %v; ask for int32 or int64", i, d)
	}
	return nil
}
