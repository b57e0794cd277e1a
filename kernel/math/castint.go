package math

import (
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// castWhole casts real and complex numbers to integers; of the latter it takes the
// real part. It returns false for other types.
//
// C++ leaves open what becomes of a number that the type can't hold. This does
// what TensorFlow does on amd64: a conversion to 32 or 64 bits, which makes the
// least number of all that doesn't fit, and of that the low bits. From bfloat16
// the narrow types saturate.
func castWhole(c *engine.Call, out, x *tensor.Tensor) bool {
	switch out.DType() {
	case tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64:
	default:
		return false
	}
	from := x.DType()
	switch {
	case from == tensor.Float32:
		v := tensor.Values[float32](x)
		c.Parallel(len(v), 2, func(lo, hi int) { toWhole(out, v[lo:hi], lo, false) })
		return true
	case from == tensor.Float64:
		v := tensor.Values[float64](x)
		c.Parallel(len(v), 2, func(lo, hi int) { toWhole(out, v[lo:hi], lo, false) })
		return true
	case from.IsComplex():
		real, err := tensor.Cast(x, tensor.Float64)
		if err != nil {
			return false
		}
		toWhole(out, tensor.Values[float64](real), 0, false)
		return true
	case from.IsFloating():
		c.Parallel(x.Len(), 3, func(lo, hi int) {
			const tile = 1 << 10
			v := make([]float64, 0, tile)
			for ; lo < hi; lo += tile {
				// The type and the range are right: nothing can fail.
				v, _ = x.AppendFloat64s(v[:0], lo, min(lo+tile, hi))
				toWhole(out, v, lo, from == tensor.BFloat16)
			}
		})
		return true
	}
	return false
}

// toWhole writes x as the elements of dst from lo on.
func toWhole[S float32 | float64](dst *tensor.Tensor, x []S, lo int, saturate bool) {
	switch dst.DType() {
	case tensor.Int8:
		toNarrow(tensor.Values[int8](dst)[lo:][:len(x)], x, saturate)
	case tensor.Int16:
		toNarrow(tensor.Values[int16](dst)[lo:][:len(x)], x, saturate)
	case tensor.Uint8:
		toNarrow(tensor.Values[uint8](dst)[lo:][:len(x)], x, saturate)
	case tensor.Uint16:
		toNarrow(tensor.Values[uint16](dst)[lo:][:len(x)], x, saturate)
	case tensor.Int32:
		d := tensor.Values[int32](dst)[lo:][:len(x)]
		for i, v := range x {
			d[i] = word(float64(v))
		}
	case tensor.Int64:
		d := tensor.Values[int64](dst)[lo:][:len(x)]
		for i, v := range x {
			d[i] = long(float64(v))
		}
	case tensor.Uint32:
		d := tensor.Values[uint32](dst)[lo:][:len(x)]
		for i, v := range x {
			if d[i] = 1 << 31; math.Abs(float64(v)) < 1<<63 {
				d[i] = uint32(long(float64(v)))
			}
		}
	case tensor.Uint64:
		d := tensor.Values[uint64](dst)[lo:][:len(x)]
		for i, v := range x {
			if v >= 1<<63 && v < 1<<64 {
				d[i] = uint64(v)
			} else {
				d[i] = uint64(long(float64(v)))
			}
		}
	}
}

func toNarrow[T int8 | int16 | uint8 | uint16, S float32 | float64](dst []T, x []S, saturate bool) {
	if saturate {
		least, most := int32(vec.Lowest[T]()), int32(vec.Highest[T]())
		for i, v := range x {
			dst[i] = T(min(max(word(float64(v)), least), most))
		}
		return
	}
	for i, v := range x {
		dst[i] = T(word(float64(v)))
	}
}

// word returns v cut to 32 bits, their least number where v doesn't fit.
func word(v float64) int32 {
	if v > math.MinInt32-1 && v < 1<<31 {
		return int32(v)
	}
	return math.MinInt32
}

// long returns v cut to 64 bits, their least number where v doesn't fit.
func long(v float64) int64 {
	if v >= -1<<63 && v < 1<<63 {
		return int64(v)
	}
	return math.MinInt64
}
