package math

import (
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// castWhole casts real and complex numbers to integers; of a complex number it
// takes the real part. It returns false for other types.
//
// C++ doesn't define the result for a number that the type can't represent.
// This returns TensorFlow's result on amd64 in one thread, which depends on the
// element's place. Elements that fill whole vectors saturate. The rest at the
// end is cut to 32 or 64 bits: a number that doesn't fit becomes their least
// number, and the result is its low bits.
func castWhole(c *engine.Call, out, x *tensor.Tensor) bool {
	switch out.DType() {
	case tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64:
	default:
		return false
	}
	from, n := x.DType(), x.Len()
	to := integers{dst: out, vectors: n - n%vectorOf(from, out.DType(), n), odd: from != tensor.Float32 && from != tensor.BFloat16}
	switch {
	case from == tensor.Float32:
		v := tensor.Values[float32](x)
		c.Parallel(n, 2, func(lo, hi int) { toWhole(to, v[lo:hi], lo) })
		return true
	case from == tensor.Float64:
		v := tensor.Values[float64](x)
		c.Parallel(n, 2, func(lo, hi int) { toWhole(to, v[lo:hi], lo) })
		return true
	case from.IsComplex():
		real, err := tensor.Cast(x, tensor.Float64)
		if err != nil {
			return false
		}
		toWhole(to, tensor.Values[float64](real), 0)
		return true
	case from.IsFloating():
		c.Parallel(n, 3, func(lo, hi int) {
			const tile = 1 << 10
			v := make([]float64, 0, tile)
			for ; lo < hi; lo += tile {
				// The type and the range are right: nothing can fail.
				v, _ = x.AppendFloat64s(v[:0], lo, min(lo+tile, hi))
				toWhole(to, v, lo)
			}
		})
		return true
	}
	return false
}

// vectorOf returns how many elements TensorFlow's build for amd64 casts at
// once. It is n+1 if each is cast by itself, or if that makes no difference.
func vectorOf(from, to tensor.DType, n int) int {
	switch to {
	case tensor.Uint32:
		if from != tensor.Complex128 {
			return 8
		}
	case tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Uint16:
		switch from {
		case tensor.BFloat16:
			return 8
		case tensor.Float16, tensor.Float64, tensor.Complex128:
			return 16
		case tensor.Float32:
			return 32
		}
	}
	return n + 1
}

// integers is the destination of a cast.
type integers struct {
	dst     *tensor.Tensor
	vectors int  // number of elements that are cast in vectors
	odd     bool // in vectors, numbers above the range of int16 become 0 as uint8
}

// toWhole writes x to the elements from lo on.
func toWhole[S float32 | float64](to integers, x []S, lo int) {
	vectors := min(max(to.vectors-lo, 0), len(x))
	switch dst := to.dst; dst.DType() {
	case tensor.Int8:
		toNarrow(tensor.Values[int8](dst)[lo:][:len(x)], x, vectors, math.MaxInt32)
	case tensor.Int16:
		toNarrow(tensor.Values[int16](dst)[lo:][:len(x)], x, vectors, math.MaxInt32)
	case tensor.Uint8:
		most := int32(math.MaxInt32)
		if to.odd {
			most = math.MaxInt16
		}
		toNarrow(tensor.Values[uint8](dst)[lo:][:len(x)], x, vectors, most)
	case tensor.Uint16:
		toNarrow(tensor.Values[uint16](dst)[lo:][:len(x)], x, vectors, math.MaxInt32)
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
		for i, v := range x[:vectors] {
			if d[i] = 1 << 31; v > math.MinInt32-1 && v < 1<<32 {
				d[i] = uint32(long(float64(v)))
			}
		}
		for i, v := range x[vectors:] {
			d[vectors+i] = uint32(long(float64(v)))
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

// toNarrow casts x to integers of at most 16 bits. The first vectors numbers
// saturate, but those above odd become 0; the others wrap.
func toNarrow[T int8 | int16 | uint8 | uint16, S float32 | float64](dst []T, x []S, vectors int, odd int32) {
	least, most := int32(vec.Lowest[T]()), int32(vec.Highest[T]())
	for i, v := range x[:vectors] {
		w := word(float64(v))
		if w > odd {
			w = 0
		}
		dst[i] = T(min(max(w, least), most))
	}
	for i, v := range x[vectors:] {
		dst[vectors+i] = T(word(float64(v)))
	}
}

// word returns v cut to 32 bits, or the least int32 if v doesn't fit.
func word(v float64) int32 {
	if v > math.MinInt32-1 && v < 1<<31 {
		return int32(v)
	}
	return math.MinInt32
}

// long returns v cut to 64 bits, or the least int64 if v doesn't fit.
func long(v float64) int64 {
	if v >= -1<<63 && v < 1<<63 {
		return int64(v)
	}
	return math.MinInt64
}
