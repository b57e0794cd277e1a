package tensor

import "math"

// minifloat describes a floating-point type of up to eight bits.
type minifloat struct {
	exp, man uint // widths of the exponent and mantissa fields in bits
	bias     int
	special  nonFinite
}

// nonFinite is the encoding of NaN and infinity in a small float type.
type nonFinite uint8

const (
	ieee nonFinite = iota // exponent all ones: infinities and NaNs
	fn                    // one NaN a sign, all ones; overflow becomes NaN
	fnuz                  // one NaN, the pattern of -0; overflow becomes NaN
	sat                   // neither; overflow becomes the largest number
)

var (
	f8e5m2        = minifloat{5, 2, 15, ieee}
	f8e4m3fn      = minifloat{4, 3, 7, fn}
	f8e4m3fnuz    = minifloat{4, 3, 8, fnuz}
	f8e4m3b11fnuz = minifloat{4, 3, 11, fnuz}
	f8e5m2fnuz    = minifloat{5, 2, 16, fnuz}
	f4e2m1fn      = minifloat{2, 1, 1, sat}
)

// Decoded values of every bit pattern, so that widening is one look-up.
var (
	f8e5m2Values        = f8e5m2.table()
	f8e4m3fnValues      = f8e4m3fn.table()
	f8e4m3fnuzValues    = f8e4m3fnuz.table()
	f8e4m3b11fnuzValues = f8e4m3b11fnuz.table()
	f8e5m2fnuzValues    = f8e5m2fnuz.table()
	f4e2m1fnValues      = f4e2m1fn.table()
)

func (m minifloat) table() *[256]float32 {
	var t [256]float32
	for i := range t {
		t[i] = m.decode(uint8(i))
	}
	return &t
}

// decode returns the value of the low 1+exp+man bits of b.
func (m minifloat) decode(b uint8) float32 {
	width := 1 + m.exp + m.man
	bits := uint32(b) & (1<<width - 1)
	sign := bits >> (width - 1)
	e, f := bits>>m.man&(1<<m.exp-1), bits&(1<<m.man-1)
	neg := math.Float32frombits(sign << 31)
	switch {
	case m.special == ieee && e == 1<<m.exp-1:
		if f == 0 {
			return math.Float32frombits(sign<<31 | 0x7f800000)
		}
		return math.Float32frombits(sign<<31 | 0x7fc00000)
	case m.special == fn && bits&(1<<(width-1)-1) == 1<<(width-1)-1:
		return math.Float32frombits(sign<<31 | 0x7fc00000)
	case m.special == fnuz && bits == 1<<(width-1):
		return math.Float32frombits(0xffc00000)
	case e == 0 && f == 0:
		return neg
	case e == 0: // subnormal
		v := float32(f) * exp2(1-m.bias-int(m.man))
		return math.Float32frombits(math.Float32bits(v) | sign<<31)
	}
	return math.Float32frombits(sign<<31 | uint32(int(e)-m.bias+127)<<23 | f<<(23-m.man))
}

// exp2 returns 2 to the power e, for normal results.
func exp2(e int) float32 { return math.Float32frombits(uint32(e+127) << 23) }

// encode rounds v to the nearest number of the type, ties to even, as ml_dtypes
// and TensorFlow do.
func (m minifloat) encode(v float32) uint8 {
	bits := math.Float32bits(v)
	sign := bits >> 31
	signBit := uint8(sign << (m.exp + m.man))
	abs := bits & 0x7fffffff
	nan := uint8(1 << (m.exp + m.man)) // fnuz: the pattern of -0
	top := uint8(1<<(m.exp+m.man) - 1) // all ones below the sign
	switch m.special {
	case ieee:
		nan = signBit | top&^(1<<m.man-1) | 1<<(m.man-1)
	case fn:
		nan = signBit | top
	case sat:
		// ml_dtypes turns NaN into the zero of the opposite sign.
		nan ^= signBit
	}
	if abs > 0x7f800000 {
		return nan
	}
	over := nan // replacement of a number that is too large
	last := top // the pattern of the largest finite number
	switch m.special {
	case ieee:
		over = signBit | top&^(1<<m.man-1)
		last = over&^signBit - 1
	case fn:
		last--
	case sat:
		over = signBit | top
	}
	if abs == 0x7f800000 {
		return over
	}
	e := int(abs>>23) - 127
	sig := uint64(abs&0x7fffff | 0x800000)
	if abs < 0x800000 { // a float32 subnormal is far below every type's smallest
		e, sig = -126, uint64(abs)
	}
	shift := 23 - m.man
	emin := 1 - m.bias
	if e < emin {
		shift += uint(emin - e)
	}
	var q uint64
	if shift < 40 {
		q = sig >> shift
		rest, half := sig&(1<<shift-1), uint64(1)<<(shift-1)
		if rest > half || rest == half && q&1 == 1 {
			q++
		}
	}
	if e > emin {
		q += uint64(e-emin) << m.man // the carry of the rounding moves the exponent up
	}
	switch {
	case q > uint64(last):
		return over
	case q == 0 && m.special == fnuz:
		return 0 // there is no negative zero
	}
	return signBit | uint8(q)
}

// Float returns the element's value, exactly.
func (v F16) Float() float32 {
	sign, e, f := uint32(v>>15)<<31, uint32(v>>10&0x1f), uint32(v&0x3ff)
	switch e {
	case 0:
		s := float32(f) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(s) | sign)
	case 0x1f:
		if f != 0 {
			f |= 0x200 // quiet, as the hardware's conversion does
		}
		return math.Float32frombits(sign | 0x7f800000 | f<<13)
	}
	return math.Float32frombits(sign | (e+112)<<23 | f<<13)
}

// Float returns the element's value, exactly.
func (v BF16) Float() float32 { return math.Float32frombits(uint32(v) << 16) }

// Float returns the element's value, exactly.
func (v F8E5M2) Float() float32 { return f8e5m2Values[v] }

// Float returns the element's value, exactly.
func (v F8E4M3FN) Float() float32 { return f8e4m3fnValues[v] }

// Float returns the element's value, exactly.
func (v F8E4M3FNUZ) Float() float32 { return f8e4m3fnuzValues[v] }

// Float returns the element's value, exactly.
func (v F8E4M3B11FNUZ) Float() float32 { return f8e4m3b11fnuzValues[v] }

// Float returns the element's value, exactly.
func (v F8E5M2FNUZ) Float() float32 { return f8e5m2fnuzValues[v] }

// Float returns the element's value, exactly; the upper four bits are ignored.
func (v F4E2M1FN) Float() float32 { return f4e2m1fnValues[v] }

// ToF16 rounds f to half precision: to the nearest, ties to even. A number that
// is too large becomes an infinity. Like TensorFlow, [Cast] rounds a float64 to
// float32 before it calls this function, or another one for a narrow float.
func ToF16(f float32) F16 {
	b := math.Float32bits(f)
	sign, abs := F16(b>>16&0x8000), b&0x7fffffff
	switch {
	case abs > 0x7f800000:
		return sign | 0x7e00 | F16(abs>>13&0x3ff)
	case abs >= 0x477ff000: // 65520, the first that rounds to infinity
		return sign | 0x7c00
	case abs < 0x38800000: // below 2^-14: subnormal
		// Adding 0.5 aligns the smallest half's last place with float32's,
		// so that the addition itself rounds.
		s := math.Float32frombits(abs) + 0.5
		return sign | F16(math.Float32bits(s)-0x3f000000)
	}
	abs += 0xfff + abs>>13&1
	return sign | F16((abs-0x38000000)>>13)
}

// ToBF16 rounds f to bfloat16: to the nearest, ties to even. A NaN becomes the
// quiet NaN of its sign.
func ToBF16(f float32) BF16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return BF16(b>>16&0x8000 | 0x7fc0)
	}
	return BF16((b + 0x7fff + b>>16&1) >> 16)
}

// ToF8E5M2 rounds f to the nearest, ties to even; too large becomes an
// infinity.
func ToF8E5M2(f float32) F8E5M2 { return F8E5M2(f8e5m2.encode(f)) }

// ToF8E4M3FN rounds f to the nearest, ties to even; too large becomes NaN.
func ToF8E4M3FN(f float32) F8E4M3FN { return F8E4M3FN(f8e4m3fn.encode(f)) }

// ToF8E4M3FNUZ rounds f to the nearest, ties to even; too large becomes NaN and
// -0 becomes 0.
func ToF8E4M3FNUZ(f float32) F8E4M3FNUZ { return F8E4M3FNUZ(f8e4m3fnuz.encode(f)) }

// ToF8E4M3B11FNUZ rounds f to the nearest, ties to even; too large becomes NaN
// and -0 becomes 0.
func ToF8E4M3B11FNUZ(f float32) F8E4M3B11FNUZ { return F8E4M3B11FNUZ(f8e4m3b11fnuz.encode(f)) }

// ToF8E5M2FNUZ rounds f to the nearest, ties to even; too large becomes NaN and
// -0 becomes 0.
func ToF8E5M2FNUZ(f float32) F8E5M2FNUZ { return F8E5M2FNUZ(f8e5m2fnuz.encode(f)) }

// ToF4E2M1FN rounds f to the nearest, ties to even; too large becomes 6 or -6.
// NaN becomes a zero of the opposite sign, as in ml_dtypes.
func ToF4E2M1FN(f float32) F4E2M1FN { return F4E2M1FN(f4e2m1fn.encode(f)) }

// Int returns the element's value, -8 to 7.
func (v I4) Int() int { return int(int8(v<<4) >> 4) }

// Int returns the element's value, 0 to 15.
func (v U4) Int() int { return int(v & 0xf) }

// Int returns the element's value, -2 to 1.
func (v I2) Int() int { return int(int8(v<<6) >> 6) }

// Int returns the element's value, 0 to 3.
func (v U2) Int() int { return int(v & 3) }

// ToI4 keeps the lower four bits of i.
func ToI4(i int64) I4 { return I4(i & 0xf) }

// ToU4 keeps the lower four bits of i.
func ToU4(i int64) U4 { return U4(i & 0xf) }

// ToI2 keeps the lower two bits of i.
func ToI2(i int64) I2 { return I2(i & 3) }

// ToU2 keeps the lower two bits of i.
func ToU2(i int64) U2 { return U2(i & 3) }
