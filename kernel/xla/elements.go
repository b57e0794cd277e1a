package xla

import (
	"fmt"

	"github.com/cairnml/cairn/tensor"
)

// Products and convolutions (dot.go, conv.go) sum in float64, int64 or complex128. The
// functions of this file store the sums as elements of the output's type.

// storeAll sets the elements of t to those of v, each converted by to. They have
// equal lengths.
func storeAll[D tensor.Element, S any](t *tensor.Tensor, v []S, to func(S) D) {
	dst := tensor.Values[D](t)
	for i, x := range v {
		dst[i] = to(x)
	}
}

// storeFloats rounds numbers to the type of t. Halves are rounded twice, to float32
// first, from which package tensor makes them. [engine.Accumulated] allows that.
func storeFloats(t *tensor.Tensor, v []float64) error {
	switch t.DType() {
	case tensor.Float64:
		copy(tensor.Values[float64](t), v)
	case tensor.Float32:
		storeAll(t, v, func(x float64) float32 { return float32(x) })
	case tensor.Float16:
		storeAll(t, v, func(x float64) tensor.F16 { return tensor.ToF16(float32(x)) })
	case tensor.BFloat16:
		storeAll(t, v, func(x float64) tensor.BF16 { return tensor.ToBF16(float32(x)) })
	default:
		return fmt.Errorf("has no products of %v", t.DType())
	}
	return nil
}

// storeInts stores integers, which wrap in types of fewer bits and in unsigned types.
func storeInts(t *tensor.Tensor, v []int64) error {
	switch t.DType() {
	case tensor.Int64:
		copy(tensor.Values[int64](t), v)
	case tensor.Int32:
		storeAll(t, v, func(x int64) int32 { return int32(x) })
	case tensor.Int16:
		storeAll(t, v, func(x int64) int16 { return int16(x) })
	case tensor.Int8:
		storeAll(t, v, func(x int64) int8 { return int8(x) })
	case tensor.Uint64:
		storeAll(t, v, func(x int64) uint64 { return uint64(x) })
	case tensor.Uint32:
		storeAll(t, v, func(x int64) uint32 { return uint32(x) })
	case tensor.Uint16:
		storeAll(t, v, func(x int64) uint16 { return uint16(x) })
	case tensor.Uint8:
		storeAll(t, v, func(x int64) uint8 { return uint8(x) })
	default:
		return fmt.Errorf("has no products of %v", t.DType())
	}
	return nil
}

// complexes returns complex elements in double precision.
func complexes(t *tensor.Tensor) ([]complex128, error) {
	switch t.DType() {
	case tensor.Complex128:
		return tensor.Values[complex128](t), nil
	case tensor.Complex64:
		v := tensor.Values[complex64](t)
		out := make([]complex128, len(v))
		for i, x := range v {
			out[i] = complex128(x)
		}
		return out, nil
	}
	return nil, fmt.Errorf("is %v, not complex", t.DType())
}

// storeComplexes rounds numbers to the type of t, complex64 or complex128.
func storeComplexes(t *tensor.Tensor, v []complex128) error {
	if t.DType() == tensor.Complex128 {
		copy(tensor.Values[complex128](t), v)
		return nil
	}
	storeAll(t, v, func(x complex128) complex64 { return complex64(x) })
	return nil
}
