package math

import (
	"math"

	"github.com/cairnml/cairn/tensor"
)

// fractionBits are the stored bits of the fraction of the types that Cast's
// Truncate rounds towards zero.
var fractionBits = map[tensor.DType]int{
	tensor.Float32: 23, tensor.Float16: 10, tensor.BFloat16: 7, tensor.Float8E5M2: 2, tensor.Float8E4M3FN: 3,
}

// truncated returns x without the fraction bits that type d can't store, so
// that a cast doesn't round up. x itself is not changed: the result is x or a
// copy, which isn't the Call's memory. Infinities and NaN stay. Only float32
// and float64 are truncated, and only to the types above; TensorFlow's
// cast_op.h does the same (LSBZeroSetter).
func truncated(x *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	bits, ok := fractionBits[d]
	if !ok {
		return x
	}
	switch x.DType() {
	case tensor.Float32:
		y := x.Clone()
		for i, v := range tensor.Values[float32](y) {
			if !math.IsInf(float64(v), 0) && v == v {
				tensor.Values[float32](y)[i] = math.Float32frombits(math.Float32bits(v) &^ (1<<(23-bits) - 1))
			}
		}
		return y
	case tensor.Float64:
		if d == tensor.BFloat16 {
			return x // TensorFlow rounds this type despite Truncate
		}
		y := x.Clone()
		for i, v := range tensor.Values[float64](y) {
			if !math.IsInf(v, 0) && v == v {
				tensor.Values[float64](y)[i] = math.Float64frombits(math.Float64bits(v) &^ (1<<(52-bits) - 1))
			}
		}
		return y
	}
	return x
}
