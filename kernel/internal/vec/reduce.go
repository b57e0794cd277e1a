package vec

import (
	"math"

	"github.com/cairnml/cairn/kernel/internal/simd"
)

// Sum adds the elements, in eight interleaved partial sums: faster than one
// after the other, and more exact for many.
func Sum[T Number](x []T) T {
	var p [8]T
	x = x[simd.Sum(&p, x):]
	s0, s1, s2, s3, s4, s5, s6, s7 := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
	for len(x) >= 8 {
		y := x[:8:8]
		s0 += y[0]
		s1 += y[1]
		s2 += y[2]
		s3 += y[3]
		s4 += y[4]
		s5 += y[5]
		s6 += y[6]
		s7 += y[7]
		x = x[8:]
	}
	s := ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7))
	for _, v := range x {
		s += v
	}
	return s
}

// sumBlock is how many elements Total adds before it starts a new partial sum.
const sumBlock = 4096

// Total sums in blocks, whose sums are added up: its error grows little with
// the length.
func Total[T Number](x []T) T {
	if len(x) <= sumBlock {
		return Sum(x)
	}
	half := (len(x)/2 + sumBlock - 1) / sumBlock * sumBlock
	return Total(x[:half]) + Total(x[half:])
}

// Prod multiplies the elements.
func Prod[T Number](x []T) T {
	p := T(1)
	for _, v := range x {
		p *= v
	}
	return p
}

// MaxOf returns the largest element, NaN if there is one; x isn't empty.
func MaxOf[T Real](x []T) T {
	m, rest := x[0], x[1:]
	if len(x) >= 16 {
		p := [8]T{m, m, m, m, m, m, m, m}
		if n := simd.MaximumOf(&p, x); n > 0 {
			best := max(max(max(p[0], p[1]), max(p[2], p[3])), max(max(p[4], p[5]), max(p[6], p[7])))
			if best != 0 { // of zeros it may have the wrong one
				m, rest = best, x[n:]
			}
		}
	}
	for _, v := range rest {
		m = max(m, v)
	}
	return m
}

// MinOf returns the smallest element, NaN if there is one; x isn't empty.
func MinOf[T Real](x []T) T {
	m, rest := x[0], x[1:]
	if len(x) >= 16 {
		p := [8]T{m, m, m, m, m, m, m, m}
		if n := simd.MinimumOf(&p, x); n > 0 {
			best := min(min(min(p[0], p[1]), min(p[2], p[3])), min(min(p[4], p[5]), min(p[6], p[7])))
			if best != 0 { // of zeros it may have the wrong one
				m, rest = best, x[n:]
			}
		}
	}
	for _, v := range rest {
		m = min(m, v)
	}
	return m
}

// AllOf reports whether all elements are true.
func AllOf(x []bool) bool {
	for _, v := range x {
		if !v {
			return false
		}
	}
	return true
}

// AnyOf reports whether an element is true.
func AnyOf(x []bool) bool {
	for _, v := range x {
		if v {
			return true
		}
	}
	return false
}

// SumSquares adds the squares of the elements.
func SumSquares[T Float](x []T) T {
	var s0, s1, s2, s3 T
	for len(x) >= 4 {
		y := x[:4:4]
		s0 += y[0] * y[0]
		s1 += y[1] * y[1]
		s2 += y[2] * y[2]
		s3 += y[3] * y[3]
		x = x[4:]
	}
	s := (s0 + s2) + (s1 + s3)
	for _, v := range x {
		s += v * v
	}
	return s
}

// Lowest returns the lower bound of all values of T: negative infinity for
// floats.
func Lowest[T Real]() T {
	var z T
	switch p := any(&z).(type) {
	case *float32:
		*p = float32(math.Inf(-1))
	case *float64:
		*p = math.Inf(-1)
	case *int8:
		*p = math.MinInt8
	case *int16:
		*p = math.MinInt16
	case *int32:
		*p = math.MinInt32
	case *int64:
		*p = math.MinInt64
	}
	return z // 0 for unsigned types
}

// Highest returns the upper bound of all values of T: infinity for floats.
func Highest[T Real]() T {
	var z T
	switch p := any(&z).(type) {
	case *float32:
		*p = float32(math.Inf(1))
	case *float64:
		*p = math.Inf(1)
	case *int8:
		*p = math.MaxInt8
	case *int16:
		*p = math.MaxInt16
	case *int32:
		*p = math.MaxInt32
	case *int64:
		*p = math.MaxInt64
	case *uint8:
		*p = math.MaxUint8
	case *uint16:
		*p = math.MaxUint16
	case *uint32:
		*p = math.MaxUint32
	case *uint64:
		*p = math.MaxUint64
	}
	return z
}

// FromInt returns n as an element.
func FromInt[T Number](n int) T {
	var z T
	switch p := any(&z).(type) {
	case *float32:
		*p = float32(n)
	case *float64:
		*p = float64(n)
	case *int8:
		*p = int8(n)
	case *int16:
		*p = int16(n)
	case *int32:
		*p = int32(n)
	case *int64:
		*p = int64(n)
	case *uint8:
		*p = uint8(n)
	case *uint16:
		*p = uint16(n)
	case *uint32:
		*p = uint32(n)
	case *uint64:
		*p = uint64(n)
	case *complex64:
		*p = complex(float32(n), 0)
	case *complex128:
		*p = complex(float64(n), 0)
	}
	return z
}
