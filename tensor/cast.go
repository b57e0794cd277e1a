package tensor

import (
	"fmt"
	"math"
)

// castChunk is the number of elements that a conversion keeps in its buffers. It may change.
const castChunk = 1024

// CanCast reports whether [Cast] knows a way from type a to type b: both are
// numbers or booleans, or both are the same.
func CanCast(a, b DType) bool {
	return a == b && a.Valid() || a.Fixed() && b.Fixed()
}

// Cast returns a tensor of type d with t's values, as tf.cast does:
//
//   - to a narrower floating type it rounds to the nearest, ties to even (from
//     float64 to the types under 32 bits by way of float32);
//   - between integers the low bits stay;
//   - from floating to integer it truncates toward zero; a value out of range
//     becomes the nearest one that the type can hold, and NaN becomes 0
//     (TensorFlow's result depends on the processor);
//   - to bool everything but zero is true; from complex the real part stays.
//
// Quantized types count as their plain integers. Strings, variants and
// resources can't be cast. A cast to t's own type is t itself.
func Cast(t *Tensor, d DType) (*Tensor, error) {
	if d == t.dtype {
		return t, nil
	}
	if !CanCast(t.dtype, d) {
		return nil, fmt.Errorf("tensor: can't cast %v to %v", t.dtype, d)
	}
	out, err := Zeros(d, t.shape...)
	if err != nil {
		return nil, err
	}
	size := d.Size()
	c := newCaster(t.dtype, d, t.Len())
	for lo := 0; lo < t.Len(); lo += castChunk {
		hi := min(lo+castChunk, t.Len())
		c.convert(out.data[lo*size:hi*size], t, lo, hi)
	}
	return out, nil
}

// CastRange converts elements lo to hi of t to type d and puts them at the
// start of dst, in native byte order, as [Cast] would. dst needs
// (hi-lo)*d.Size() bytes. It serves writers that convert as they stream.
func CastRange(dst []byte, t *Tensor, d DType, lo, hi int) error {
	switch {
	case !CanCast(t.dtype, d) || !d.Fixed():
		return fmt.Errorf("tensor: can't cast %v to %v", t.dtype, d)
	case lo < 0 || hi < lo || hi > t.Len():
		return fmt.Errorf("tensor: elements %d to %d are outside of a tensor with %d", lo, hi, t.Len())
	case len(dst) < (hi-lo)*d.Size():
		return fmt.Errorf("tensor: %d bytes don't hold %d elements of %v", len(dst), hi-lo, d)
	}
	c := newCaster(t.dtype, d, hi-lo)
	for ; lo < hi; lo += castChunk {
		n := min(castChunk, hi-lo)
		c.convert(dst[:n*d.Size()], t, lo, lo+n)
		dst = dst[n*d.Size():]
	}
	return nil
}

// Float64s returns a copy of t's elements as float64. Integers of 64 bits are
// rounded; all other real types are exact. Booleans are 0 and 1. Complex
// numbers and strings are an error.
func (t *Tensor) Float64s() ([]float64, error) {
	if !t.dtype.Fixed() || t.dtype.IsComplex() {
		return nil, fmt.Errorf("tensor: the elements are %v, no real numbers", t.dtype)
	}
	out := make([]float64, t.Len())
	t.readFloats(out, 0)
	return out, nil
}

// AppendFloat64s appends elements lo to hi of t as float64 to dst; see
// [Tensor.Float64s].
func (t *Tensor) AppendFloat64s(dst []float64, lo, hi int) ([]float64, error) {
	if !t.dtype.Fixed() || t.dtype.IsComplex() {
		return dst, fmt.Errorf("tensor: the elements are %v, no real numbers", t.dtype)
	}
	if lo < 0 || hi < lo || hi > t.Len() {
		return dst, fmt.Errorf("tensor: elements %d to %d are outside of a tensor with %d", lo, hi, t.Len())
	}
	n := len(dst)
	dst = append(dst, make([]float64, hi-lo)...)
	t.readFloats(dst[n:], lo)
	return dst, nil
}

// Int64s returns a copy of the elements of an integer, quantized or boolean
// tensor; uint64 values above the largest int64 are an error, as is any other
// type.
func (t *Tensor) Int64s() ([]int64, error) {
	if !isInt(t.dtype) {
		return nil, fmt.Errorf("tensor: the elements are %v, no integers", t.dtype)
	}
	out := make([]int64, t.Len())
	t.readInts(out, 0)
	if t.dtype == Uint64 {
		for _, v := range out {
			if v < 0 {
				return nil, fmt.Errorf("tensor: %d doesn't fit an int64", uint64(v))
			}
		}
	}
	return out, nil
}

func isInt(d DType) bool { return d.IsInteger() || d.IsQuantized() || d == Bool }

// caster converts runs of elements; it owns the buffers in between.
type caster struct {
	from, to DType
	ints     []int64
	floats   []float64
	complexs []complex128
}

// newCaster returns a caster for n elements in all.
func newCaster(from, to DType, n int) *caster {
	n = min(n, castChunk)
	c := &caster{from: from, to: to}
	switch {
	case isInt(from):
		c.ints = make([]int64, n)
	case from.IsComplex():
		c.complexs = make([]complex128, n)
		c.floats = make([]float64, n)
	default:
		c.floats = make([]float64, n)
	}
	return c
}

// convert writes t's elements lo to hi, at most castChunk, to dst.
func (c *caster) convert(dst []byte, t *Tensor, lo, hi int) {
	n := hi - lo
	switch {
	case c.from == c.to:
		copy(dst, t.data[lo*c.to.Size():hi*c.to.Size()])
	case isInt(c.from):
		t.readInts(c.ints[:n], lo)
		writeInts(dst, c.to, c.ints[:n], c.from == Uint64)
	case c.from.IsComplex():
		v := c.complexs[:n]
		t.readComplex(v, lo)
		switch c.to {
		case Complex64:
			d := cast[complex64](dst)
			for i := range v {
				d[i] = complex64(v[i])
			}
		case Complex128:
			copy(cast[complex128](dst), v)
		case Bool:
			for i := range v {
				dst[i] = b2u(v[i] != 0)
			}
		default:
			for i := range v {
				c.floats[i] = real(v[i])
			}
			writeFloats(dst, c.to, c.floats[:n])
		}
	default:
		t.readFloats(c.floats[:n], lo)
		writeFloats(dst, c.to, c.floats[:n])
	}
}

func b2u(b bool) byte {
	if b {
		return 1
	}
	return 0
}

type plainInt interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

func intsOf[T plainInt](dst []int64, data []byte, lo int) {
	for i, v := range cast[T](data)[lo : lo+len(dst)] {
		dst[i] = int64(v)
	}
}

type narrowInt interface {
	I4 | U4 | I2 | U2
	Int() int
}

func narrowIntsOf[T narrowInt](dst []int64, data []byte, lo int) {
	for i, v := range cast[T](data)[lo : lo+len(dst)] {
		dst[i] = int64(v.Int())
	}
}

// readInts widens len(dst) elements from lo on; uint64 keeps its bits.
func (t *Tensor) readInts(dst []int64, lo int) {
	if len(dst) == 0 {
		return
	}
	switch t.dtype {
	case Int8, QInt8:
		intsOf[int8](dst, t.data, lo)
	case Int16, QInt16:
		intsOf[int16](dst, t.data, lo)
	case Int32, QInt32:
		intsOf[int32](dst, t.data, lo)
	case Int64:
		intsOf[int64](dst, t.data, lo)
	case Uint8, QUint8:
		intsOf[uint8](dst, t.data, lo)
	case Uint16, QUint16:
		intsOf[uint16](dst, t.data, lo)
	case Uint32:
		intsOf[uint32](dst, t.data, lo)
	case Uint64:
		intsOf[uint64](dst, t.data, lo)
	case Int4:
		narrowIntsOf[I4](dst, t.data, lo)
	case Uint4:
		narrowIntsOf[U4](dst, t.data, lo)
	case Int2:
		narrowIntsOf[I2](dst, t.data, lo)
	case Uint2:
		narrowIntsOf[U2](dst, t.data, lo)
	case Bool:
		for i, v := range t.data[lo : lo+len(dst)] {
			dst[i] = int64(b2u(v != 0))
		}
	}
}

type narrowFloat interface {
	F16 | BF16 | F8E5M2 | F8E4M3FN | F8E4M3FNUZ | F8E4M3B11FNUZ | F8E5M2FNUZ | F4E2M1FN
	Float() float32
}

func floatsOf[T narrowFloat](dst []float64, data []byte, lo int) {
	for i, v := range cast[T](data)[lo : lo+len(dst)] {
		dst[i] = float64(v.Float())
	}
}

// readFloats widens len(dst) elements of a real type from lo on.
func (t *Tensor) readFloats(dst []float64, lo int) {
	if len(dst) == 0 {
		return
	}
	switch t.dtype {
	case Float32:
		for i, v := range cast[float32](t.data)[lo : lo+len(dst)] {
			dst[i] = float64(v)
		}
	case Float64:
		copy(dst, cast[float64](t.data)[lo:])
	case Float16:
		floatsOf[F16](dst, t.data, lo)
	case BFloat16:
		floatsOf[BF16](dst, t.data, lo)
	case Float8E5M2:
		floatsOf[F8E5M2](dst, t.data, lo)
	case Float8E4M3FN:
		floatsOf[F8E4M3FN](dst, t.data, lo)
	case Float8E4M3FNUZ:
		floatsOf[F8E4M3FNUZ](dst, t.data, lo)
	case Float8E4M3B11FNUZ:
		floatsOf[F8E4M3B11FNUZ](dst, t.data, lo)
	case Float8E5M2FNUZ:
		floatsOf[F8E5M2FNUZ](dst, t.data, lo)
	case Float4E2M1FN:
		floatsOf[F4E2M1FN](dst, t.data, lo)
	case Uint64:
		for i, v := range cast[uint64](t.data)[lo : lo+len(dst)] {
			dst[i] = float64(v)
		}
	default:
		var buf [256]int64
		for len(dst) > 0 {
			n := min(len(buf), len(dst))
			t.readInts(buf[:n], lo)
			for i, v := range buf[:n] {
				dst[i] = float64(v)
			}
			dst, lo = dst[n:], lo+n
		}
	}
}

func (t *Tensor) readComplex(dst []complex128, lo int) {
	if t.dtype == Complex128 {
		copy(dst, cast[complex128](t.data)[lo:])
		return
	}
	for i, v := range cast[complex64](t.data)[lo : lo+len(dst)] {
		dst[i] = complex128(v)
	}
}

// fill sets the elements of dst, of type T, to f of those of src.
func fill[T any, S int64 | float64](dst []byte, src []S, f func(S) T) {
	d := cast[T](dst)
	for i, v := range src {
		d[i] = f(v)
	}
}

func keep[T plainInt](v int64) T { return T(v) }

// writeInts writes src to dst as type d; unsigned means that src holds the bits
// of uint64 values.
func writeInts(dst []byte, d DType, src []int64, unsigned bool) {
	single := func(v int64) float32 {
		if unsigned {
			return float32(uint64(v))
		}
		return float32(v)
	}
	double := func(v int64) float64 {
		if unsigned {
			return float64(uint64(v))
		}
		return float64(v)
	}
	switch d {
	case Int8, QInt8:
		fill(dst, src, keep[int8])
	case Int16, QInt16:
		fill(dst, src, keep[int16])
	case Int32, QInt32:
		fill(dst, src, keep[int32])
	case Int64:
		fill(dst, src, keep[int64])
	case Uint8, QUint8:
		fill(dst, src, keep[uint8])
	case Uint16, QUint16:
		fill(dst, src, keep[uint16])
	case Uint32:
		fill(dst, src, keep[uint32])
	case Uint64:
		fill(dst, src, keep[uint64])
	case Int4:
		fill(dst, src, ToI4)
	case Uint4:
		fill(dst, src, ToU4)
	case Int2:
		fill(dst, src, ToI2)
	case Uint2:
		fill(dst, src, ToU2)
	case Bool:
		fill(dst, src, func(v int64) byte { return b2u(v != 0) })
	case Float32:
		fill(dst, src, single)
	case Float64:
		fill(dst, src, double)
	case Complex64:
		fill(dst, src, func(v int64) complex64 { return complex(single(v), 0) })
	case Complex128:
		fill(dst, src, func(v int64) complex128 { return complex(double(v), 0) })
	default:
		narrowFloats(dst, d, src, single)
	}
}

// writeFloats puts src to dst as type d.
func writeFloats(dst []byte, d DType, src []float64) {
	switch d {
	case Float32:
		fill(dst, src, func(v float64) float32 { return float32(v) })
	case Float64:
		copy(cast[float64](dst), src)
	case Complex64:
		fill(dst, src, func(v float64) complex64 { return complex(float32(v), 0) })
	case Complex128:
		fill(dst, src, func(v float64) complex128 { return complex(v, 0) })
	case Bool:
		fill(dst, src, func(v float64) byte { return b2u(v != 0) })
	case Uint64:
		fill(dst, src, func(v float64) uint64 {
			switch {
			case !(v > 0):
				return 0
			case v >= 1<<64:
				return math.MaxUint64
			}
			return uint64(v)
		})
	default:
		if !isInt(d) {
			narrowFloats(dst, d, src, func(v float64) float32 { return float32(v) })
			return
		}
		lo, hi := intRange(d)
		ints := make([]int64, len(src))
		for i, v := range src {
			switch {
			case v != v:
			case v <= float64(lo):
				ints[i] = lo
			case v >= float64(hi): // for int64 this is 2^63, above the largest
				ints[i] = hi
			default:
				ints[i] = int64(v)
			}
		}
		writeInts(dst, d, ints, false)
	}
}

// intRange returns the smallest and the largest value of an integer type; for
// uint64 the largest is int64's.
func intRange(d DType) (lo, hi int64) {
	bits := d.Size() * 8
	switch d {
	case Int4, Uint4:
		bits = 4
	case Int2, Uint2:
		bits = 2
	}
	switch d {
	case Uint8, Uint16, Uint32, Uint64, Uint4, Uint2, QUint8, QUint16:
		if bits == 64 {
			return 0, math.MaxInt64
		}
		return 0, 1<<bits - 1
	}
	return -1 << (bits - 1), 1<<(bits-1) - 1
}

func narrowFloats[S int64 | float64](dst []byte, d DType, src []S, single func(S) float32) {
	switch d {
	case Float16:
		fill(dst, src, func(v S) F16 { return ToF16(single(v)) })
	case BFloat16:
		fill(dst, src, func(v S) BF16 { return ToBF16(single(v)) })
	case Float8E5M2:
		fill(dst, src, func(v S) F8E5M2 { return ToF8E5M2(single(v)) })
	case Float8E4M3FN:
		fill(dst, src, func(v S) F8E4M3FN { return ToF8E4M3FN(single(v)) })
	case Float8E4M3FNUZ:
		fill(dst, src, func(v S) F8E4M3FNUZ { return ToF8E4M3FNUZ(single(v)) })
	case Float8E4M3B11FNUZ:
		fill(dst, src, func(v S) F8E4M3B11FNUZ { return ToF8E4M3B11FNUZ(single(v)) })
	case Float8E5M2FNUZ:
		fill(dst, src, func(v S) F8E5M2FNUZ { return ToF8E5M2FNUZ(single(v)) })
	case Float4E2M1FN:
		fill(dst, src, func(v S) F4E2M1FN { return ToF4E2M1FN(single(v)) })
	}
}
