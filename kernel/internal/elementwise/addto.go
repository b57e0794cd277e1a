package elementwise

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// Sums of tensors in place. Optimizers, accumulators and gradients use them
// outside of kernels' loops. Halves are rounded once for each call.

// Summands lists the types that [AddTo] and [SubFrom] take.
func Summands() []tensor.DType { return adds.Types() }

// AddTo adds x to dst, which has its type and shape.
func AddTo(dst, x *tensor.Tensor) error { return inPlace(adds, dst, x) }

// SubFrom subtracts x from dst, which has its type and shape.
func SubFrom(dst, x *tensor.Tensor) error { return inPlace(subs, dst, x) }

func inPlace(table engine.ByType[func(dst, x *tensor.Tensor)], dst, x *tensor.Tensor) error {
	if dst.DType() != x.DType() || !dst.Shape().Equal(x.Shape()) {
		return fmt.Errorf("%v%v and %v%v don't fit", dst.DType(), dst.Shape(), x.DType(), x.Shape())
	}
	f, err := table.Of(x.DType())
	if err != nil {
		return err
	}
	f(dst, x)
	return nil
}

type number interface {
	vec.Number
	tensor.Element
}

func add[T number](dst, x *tensor.Tensor) {
	d := tensor.Values[T](dst)
	vec.AddVV(d, d, tensor.Values[T](x))
}

func sub[T number](dst, x *tensor.Tensor) {
	d := tensor.Values[T](dst)
	vec.SubVV(d, d, tensor.Values[T](x))
}

func halfWith[H Half](f func(dst, a, b []float32)) func(dst, x *tensor.Tensor) {
	return func(dst, x *tensor.Tensor) {
		a, b := make([]float32, dst.Len()), make([]float32, x.Len())
		Widen(a, tensor.Values[H](dst))
		Widen(b, tensor.Values[H](x))
		f(a, a, b)
		Narrow(tensor.Values[H](dst), a)
	}
}

var adds = engine.ByType[func(dst, x *tensor.Tensor)]{
	tensor.Float32: add[float32], tensor.Float64: add[float64],
	tensor.Float16: halfWith[tensor.F16](vec.AddVV[float32]), tensor.BFloat16: halfWith[tensor.BF16](vec.AddVV[float32]),
	tensor.Int8: add[int8], tensor.Int16: add[int16], tensor.Int32: add[int32], tensor.Int64: add[int64],
	tensor.Uint8: add[uint8], tensor.Uint16: add[uint16], tensor.Uint32: add[uint32], tensor.Uint64: add[uint64],
	tensor.Complex64: add[complex64], tensor.Complex128: add[complex128],
}

var subs = engine.ByType[func(dst, x *tensor.Tensor)]{
	tensor.Float32: sub[float32], tensor.Float64: sub[float64],
	tensor.Float16: halfWith[tensor.F16](vec.SubVV[float32]), tensor.BFloat16: halfWith[tensor.BF16](vec.SubVV[float32]),
	tensor.Int8: sub[int8], tensor.Int16: sub[int16], tensor.Int32: sub[int32], tensor.Int64: sub[int64],
	tensor.Uint8: sub[uint8], tensor.Uint16: sub[uint16], tensor.Uint32: sub[uint32], tensor.Uint64: sub[uint64],
	tensor.Complex64: sub[complex64], tensor.Complex128: sub[complex128],
}
