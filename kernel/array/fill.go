package array

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/variant"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of Fill, ZerosLike, OnesLike, Range, LinSpace and
// InvertPermutation.

// fill returns a tensor of the shape in input 0 whose elements are the scalar
// in input 1. A vector of one element is accepted as a scalar, as in
// TensorFlow.
func fill(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	dims, err := shapes.Dims(c.In(0), "the shape", 0)
	if err != nil {
		return err
	}
	v := c.In(1)
	if s := v.Shape(); len(s) > 1 || len(s) == 1 && s[0] != 1 {
		return fmt.Errorf("the value has shape %v, a scalar is needed", s)
	}
	out, err := c.Alloc(0, v.DType(), dims)
	if err == nil {
		move(c, out, v, dims, view{strides: shapes.Strides(dims)}, view{strides: make([]int, len(dims))})
	}
	return err
}

// zerosLike returns zeros of input 0's type and shape. A variant, such as a
// list, has zeros of the same structure.
func zerosLike(c *engine.Call) error {
	if c.NumIn() == 1 && c.In(0) == nil {
		v, err := variant.Zeros(c, c.Input(0))
		if err == nil {
			c.Refs().Output(0, v)
		}
		return err
	}
	if err := c.Need(1); err != nil {
		return err
	}
	_, err := c.AllocZero(0, c.In(0).DType(), c.In(0).Shape())
	return err
}

// onesLike returns ones of input 0's type and shape.
func onesLike(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	x := c.In(0)
	one, err := tensor.Cast(tensor.Scalar(int32(1)), x.DType())
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, x.DType(), x.Shape())
	if err == nil {
		move(c, out, one, x.Shape(), view{strides: shapes.Strides(x.Shape())}, view{strides: make([]int, len(x.Shape()))})
	}
	return err
}

var rangeOp = elementwise.ByType{
	tensor.Float32: rangeFloat[float32], tensor.Float64: rangeFloat[float64],
	tensor.Int8: rangeInt[int8], tensor.Int16: rangeInt[int16], tensor.Int32: rangeInt[int32], tensor.Int64: rangeInt[int64],
	tensor.Uint16: rangeInt[uint16], tensor.Uint32: rangeInt[uint32],
	tensor.Float16: rangeHalf[tensor.F16], tensor.BFloat16: rangeHalf[tensor.BF16],
}

// rangeArgs returns the three scalar inputs of Range, of one type.
func rangeArgs[T tensor.Element](c *engine.Call) (start, limit, delta T, err error) {
	if err = c.Need(3); err != nil {
		return
	}
	for i := range 3 {
		x := c.In(i)
		if x.Len() != 1 || x.DType() != c.In(0).DType() {
			err = fmt.Errorf("start, limit and delta must be scalars of one type")
			return
		}
	}
	start, limit, delta = tensor.Values[T](c.In(0))[0], tensor.Values[T](c.In(1))[0], tensor.Values[T](c.In(2))[0]
	return
}

// rangeFloat computes start + i·delta for each i, rather than adding up delta:
// the rounding is TensorFlow's.
func rangeFloat[T interface {
	vec.Float
	tensor.Element
}](c *engine.Call) error {
	start, limit, delta, err := rangeArgs[T](c)
	if err != nil {
		return err
	}
	count, err := shape.RangeFloat(start, limit, delta)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tensor.TypeOf[T](), tensor.Shape{count})
	if err != nil {
		return err
	}
	for i, dst := 0, tensor.Values[T](out); i < len(dst); i++ {
		dst[i] = start + T(i)*delta
	}
	return nil
}

// rangeHalf rounds after each step, as arithmetic on halves does.
func rangeHalf[H elementwise.Half](c *engine.Call) error {
	start, limit, delta, err := rangeArgs[H](c)
	if err != nil {
		return err
	}
	var v [3]float32
	elementwise.Widen(v[:], []H{start, limit, delta})
	half := func(x float32) float32 {
		h, w := [1]H{}, [1]float32{x}
		elementwise.Narrow(h[:], w[:])
		elementwise.Widen(w[:], h[:])
		return w[0]
	}
	count, err := shape.RangeHalf(v[0], v[1], v[2], half)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tensor.TypeOf[H](), tensor.Shape{count})
	if err != nil {
		return err
	}
	x := elementwise.Wide(c, count)
	for i := range x {
		x[i] = v[0] + half(half(float32(i))*v[2])
	}
	elementwise.Narrow(tensor.Values[H](out), x)
	return nil
}

// rangeInt adds up delta.
func rangeInt[T interface {
	vec.Int
	tensor.Element
}](c *engine.Call) error {
	start, limit, delta, err := rangeArgs[T](c)
	if err != nil {
		return err
	}
	count, err := shape.RangeInt(int64(start), int64(limit), int64(delta))
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tensor.TypeOf[T](), tensor.Shape{count})
	if err != nil {
		return err
	}
	dst := tensor.Values[T](out)
	for i, v := 0, start; i < len(dst); i, v = i+1, v+delta {
		dst[i] = v
	}
	return nil
}

var linSpace = elementwise.ByType{
	tensor.Float32: linSpaceOf[float32], tensor.Float64: linSpaceOf[float64],
}

// linSpaceOf returns num values from start to stop. The first and the last are
// these, exactly.
func linSpaceOf[T interface {
	vec.Float
	tensor.Element
}](c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	a, b := c.In(0), c.In(1)
	if a.Len() != 1 || b.Len() != 1 || a.DType() != b.DType() {
		return fmt.Errorf("start and stop must be scalars of one type")
	}
	n, err := shapes.Int(c.In(2), "the number of values")
	if err != nil {
		return err
	}
	count, err := shape.LinSpace(n)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, a.DType(), tensor.Shape{count})
	if err != nil {
		return err
	}
	dst, start, stop := tensor.Values[T](out), tensor.Values[T](a)[0], tensor.Values[T](b)[0]
	dst[0] = start
	if n > 1 {
		step := (stop - start) / T(n-1)
		for i := 1; i < len(dst)-1; i++ {
			dst[i] = start + step*T(i)
		}
		dst[n-1] = stop
	}
	return nil
}

// invertPermutation returns the vector y with y[x[i]] = i.
func invertPermutation(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	x := c.In(0)
	if len(x.Shape()) != 1 {
		return fmt.Errorf("takes a vector, not shape %v", x.Shape())
	}
	v, err := shapes.Ints(x, "the permutation")
	if err != nil {
		return err
	}
	inverse, err := shape.Inverse(v)
	if err != nil {
		return err
	}
	return putLike(c, 0, inverse)
}
