package sparse

import (
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of SparseDenseCwiseAdd, SparseDenseCwiseMul, SparseDenseCwiseDiv,
// SparseTensorDenseAdd and SparseSoftmax.

// cwise is an operation on a sparse value and the dense value at its index.
type cwise uint8

const (
	plus cwise = iota
	times
	over
)

// cwiseTypes returns the table of an operation. Inputs 1 and 3 and output 0 have the element type.
func cwiseTypes(op cwise) elementwise.ByType {
	return withHalves(elementwise.ByType{
		tensor.Float32: cwiseOf[float32](op), tensor.Float64: cwiseOf[float64](op),
		tensor.Int8: cwiseOf[int8](op), tensor.Int16: cwiseOf[int16](op), tensor.Int32: cwiseOf[int32](op), tensor.Int64: cwiseOf[int64](op),
		tensor.Uint8: cwiseOf[uint8](op), tensor.Uint16: cwiseOf[uint16](op), tensor.Uint32: cwiseOf[uint32](op), tensor.Uint64: cwiseOf[uint64](op),
	}, []int{1, 3}, []int{0})
}

// cwiseOf computes new values of a sparse tensor with those of a dense one,
// which broadcasts to its shape.
func cwiseOf[T ordered](op cwise) elementwise.Func {
	return func(c *engine.Call) error {
		m, err := input(c, 0, 1, 2)
		if err == nil {
			err = m.check()
		}
		if err != nil {
			return err
		}
		dense := c.In(3)
		s := dense.Shape()
		if len(s) > m.rank || dense.DType() != m.values.DType() {
			return fmt.Errorf("a dense tensor %v%v can't be stretched to the shape %v", dense.DType(), s, m.shape)
		}
		lead := m.rank - len(s)
		for d, n := range s {
			if n != 1 && int64(n) != m.shape[lead+d] {
				return fmt.Errorf("the shape %v can't be stretched to %v", s, m.shape)
			}
		}
		// Of the larger shape only the rank counts.
		strides := shapes.BroadcastStrides(s, make(tensor.Shape, m.rank))
		out, err := c.Alloc(0, m.values.DType(), tensor.Shape{m.n})
		if err != nil {
			return err
		}
		v, x, y := tensor.Values[T](out), tensor.Values[T](m.values), tensor.Values[T](dense)
		whole := dense.DType().IsInteger()
		for i := range m.n {
			place := 0
			for d, k := range m.row(i) {
				place += int(k) * strides[d]
			}
			switch b := y[place]; op {
			case plus:
				v[i] = x[i] + b
			case times:
				v[i] = x[i] * b
			default:
				if whole && b == 0 {
					return fmt.Errorf("a division by zero")
				}
				v[i] = x[i] / b
			}
		}
		return nil
	}
}

// denseAddTypes has denseAdd by element type, that of inputs 1 and 3 and output 0.
var denseAddTypes = withHalves(elementwise.ByType{
	tensor.Float32: denseAdd[float32], tensor.Float64: denseAdd[float64], tensor.Complex64: denseAdd[complex64], tensor.Complex128: denseAdd[complex128],
	tensor.Int8: denseAdd[int8], tensor.Int16: denseAdd[int16], tensor.Int32: denseAdd[int32], tensor.Int64: denseAdd[int64],
	tensor.Uint8: denseAdd[uint8], tensor.Uint16: denseAdd[uint16], tensor.Uint32: denseAdd[uint32], tensor.Uint64: denseAdd[uint64],
}, []int{1, 3}, []int{0})

// denseAdd adds sparse values to a dense tensor of the same shape.
func denseAdd[T numeric](c *engine.Call) error {
	m, err := input(c, 0, 1, 2)
	if err != nil {
		return err
	}
	b := c.In(3)
	if len(b.Shape()) != m.rank || b.DType() != m.values.DType() {
		return fmt.Errorf("a sparse tensor of shape %v and a dense %v%v", m.shape, b.DType(), b.Shape())
	}
	for d, n := range b.Shape() {
		if int64(n) != m.shape[d] {
			return fmt.Errorf("a sparse tensor of shape %v and a dense one of %v", m.shape, b.Shape())
		}
	}
	if err := m.check(); err != nil {
		return err
	}
	out, err := c.Alloc(0, b.DType(), b.Shape())
	if err != nil {
		return err
	}
	copy(out.Bytes(), b.Bytes())
	v, x, strides := tensor.Values[T](out), tensor.Values[T](m.values), shapes.Strides(b.Shape())
	for i := range m.n {
		place := 0
		for d, k := range m.row(i) {
			place += int(k) * strides[d]
		}
		v[place] += x[i]
	}
	return nil
}

// softmaxTypes has softmax by element type.
var softmaxTypes = func() elementwise.ByType {
	t := elementwise.ByType{tensor.Float32: softmax[float32], tensor.Float64: softmax[float64]}
	t[tensor.Float16] = narrow(t[tensor.Float32], tensor.Float16, []int{1}, []int{0})
	return t
}()

// softmax computes the softmax of each row, the last dimension. The output is
// in the order of the indices, even if the input isn't.
func softmax[T float32 | float64](c *engine.Call) error {
	m, err := input(c, 0, 1, 2)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return err
	}
	if m.rank < 2 {
		return fmt.Errorf("the tensor has %d dimensions, less than 2", m.rank)
	}
	out, err := c.Alloc(0, m.values.DType(), tensor.Shape{m.n})
	if err != nil {
		return err
	}
	v, order := tensor.Values[T](out), m.order()
	for i, from := range order {
		v[i] = tensor.Values[T](m.values)[from]
	}
	for begin := 0; begin < m.n; {
		end := begin
		for end < m.n && slices.Equal(m.row(order[begin])[:m.rank-1], m.row(order[end])[:m.rank-1]) {
			end++
		}
		top := slices.Max(v[begin:end])
		var sum T
		for i := begin; i < end; i++ {
			v[i] = T(math.Exp(float64(v[i] - top)))
			sum += v[i]
		}
		for i := begin; i < end; i++ {
			v[i] /= sum
		}
		begin = end
	}
	return nil
}
