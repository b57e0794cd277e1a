package image

import (
	"unsafe"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// Conversions of images of all element types from and to float32, for the
// kernels of this package.

// scratch returns temporary memory of n float32s.
func scratch(c *engine.Call, n int) ([]float32, func()) {
	mem, free := c.Scratch(4 * n)
	if n == 0 {
		return nil, free
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&mem[0])), n), free
}

type number interface {
	vec.Real
	tensor.Element
}

func convert[T number](dst []float32, t *tensor.Tensor) {
	for i, v := range tensor.Values[T](t) {
		dst[i] = float32(v)
	}
}

var toFloat = engine.ByType[func([]float32, *tensor.Tensor)]{
	tensor.Float32: convert[float32],
	tensor.Float64: convert[float64],
	tensor.Float16: func(dst []float32, t *tensor.Tensor) { elementwise.Widen(dst, tensor.Values[tensor.F16](t)) },
	tensor.BFloat16: func(dst []float32, t *tensor.Tensor) {
		elementwise.Widen(dst, tensor.Values[tensor.BF16](t))
	},
	tensor.Int8: convert[int8], tensor.Int16: convert[int16], tensor.Int32: convert[int32], tensor.Int64: convert[int64],
	tensor.Uint8: convert[uint8], tensor.Uint16: convert[uint16], tensor.Uint32: convert[uint32], tensor.Uint64: convert[uint64],
}

// floats returns a tensor's elements as float32. The caller calls the second
// result after the last use.
func floats(c *engine.Call, t *tensor.Tensor) ([]float32, func(), error) {
	if t.DType() == tensor.Float32 {
		return tensor.Values[float32](t), func() {}, nil
	}
	f, err := toFloat.Of(t.DType())
	if err != nil {
		return nil, nil, err
	}
	v, free := scratch(c, t.Len())
	f(v, t)
	return v, free, nil
}

// store writes float32s to a tensor of floats.
func store(t *tensor.Tensor, v []float32) {
	switch t.DType() {
	case tensor.Float32:
		copy(tensor.Values[float32](t), v)
	case tensor.Float64:
		for i, x := range v {
			tensor.Values[float64](t)[i] = float64(x)
		}
	case tensor.Float16:
		elementwise.Narrow(tensor.Values[tensor.F16](t), v)
	case tensor.BFloat16:
		elementwise.Narrow(tensor.Values[tensor.BF16](t), v)
	}
}
