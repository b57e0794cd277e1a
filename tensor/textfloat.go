package tensor

import (
	"math"
	"strconv"
	"strings"
)

// floatFormat prints the floating-point numbers of one tensor with a common
// width, as numpy's FloatingFormat does with its default mode: the digits that
// distinguish a number, at most precision of them, and the point in one column.
type floatFormat struct {
	d           DType
	precision   int  // the most digits after the point; with fixed, the number that all have
	exp         bool // scientific notation
	expDigits   int  // digits of the exponent
	left, right int  // columns before and after the point
	plus        bool // positive numbers have a sign, as imaginary parts
	fixed       bool // exactly precision digits follow the point
}

// newFloatFormat returns the format for the numbers v of type d: the notation and the widths that
// numpy chooses. plus requires a sign before positive numbers.
func newFloatFormat(d DType, v []float64, precision int, plus bool) *floatFormat {
	f := &floatFormat{d: d, precision: precision, plus: plus}
	lo, hi, finite := math.Inf(1), 0.0, 0
	var nan, inf, negInf bool
	for _, x := range v {
		switch {
		case math.IsNaN(x):
			nan = true
			continue
		case math.IsInf(x, 0):
			inf, negInf = true, negInf || x < 0
			continue
		}
		finite++
		if a := math.Abs(x); a != 0 {
			lo, hi = min(lo, a), max(hi, a)
		}
	}
	f.exp = hi > 0 && (hi >= 1e8 || lo < 1e-4 || hi/lo > 1000)
	most := 0
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		s := f.digits(x)
		if f.exp {
			mant, e, _ := strings.Cut(s, "e")
			f.expDigits = max(f.expDigits, len(e)-1)
			s = mant
		}
		whole, frac, _ := strings.Cut(s, ".")
		f.left = max(f.left, len(whole))
		most = max(most, len(frac))
	}
	f.right = most
	if f.exp {
		f.precision, f.fixed = most, true
		f.right = most + f.expDigits + 2
	}
	if finite == 0 {
		f.right = 0
	}
	offset := f.right + 1
	if nan {
		f.left = max(f.left, 3-offset)
	}
	if inf {
		n := 3
		if negInf || f.plus {
			n++
		}
		f.left = max(f.left, n-offset)
	}
	return f
}

// digits prints a finite x without padding; there is always a point.
func (f *floatFormat) digits(x float64) string {
	verb := byte('f')
	if f.exp {
		verb = 'e'
	}
	s := shortest(f.d, x, verb)
	mant, e, _ := strings.Cut(s, "e")
	if _, frac, _ := strings.Cut(mant, "."); len(frac) > f.precision {
		mant, e, _ = strings.Cut(strconv.FormatFloat(x, verb, f.precision, 64), "e")
		mant = strings.TrimRight(mant, "0")
	} else if f.fixed && len(frac) < f.precision {
		// numpy continues with the number's true digits if it must pad.
		mant, e, _ = strings.Cut(strconv.FormatFloat(x, verb, f.precision, 64), "e")
	}
	if !strings.Contains(mant, ".") {
		mant += "."
	}
	if f.plus && !strings.HasPrefix(mant, "-") {
		mant = "+" + mant
	}
	if f.exp {
		return mant + "e" + e
	}
	return mant
}

func (f *floatFormat) format(x float64) string {
	switch {
	case math.IsNaN(x):
		return f.special("nan", f.plus)
	case math.IsInf(x, 1):
		return f.special("inf", f.plus)
	case math.IsInf(x, -1):
		return f.special("-inf", false)
	}
	s := f.digits(x)
	mant, e, _ := strings.Cut(s, "e")
	whole, frac, _ := strings.Cut(mant, ".")
	var b strings.Builder
	for range f.left - len(whole) {
		b.WriteByte(' ')
	}
	b.WriteString(mant)
	if f.exp {
		for range f.precision - len(frac) {
			b.WriteByte('0')
		}
		b.WriteByte('e')
		b.WriteByte(e[0])
		for range f.expDigits - (len(e) - 1) {
			b.WriteByte('0')
		}
		b.WriteString(e[1:])
		return b.String()
	}
	for range f.right - len(frac) {
		b.WriteByte(' ')
	}
	return b.String()
}

func (f *floatFormat) special(s string, plus bool) string {
	if plus {
		s = "+" + s
	}
	if n := f.left + f.right + 1 - len(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return s
}

// shortest prints x with as few digits as distinguish it from its neighbours in
// type d; the exponent of 'e' has at least two digits.
func shortest(d DType, x float64, verb byte) string {
	switch d {
	case Float64:
		return strconv.FormatFloat(x, verb, -1, 64)
	case Float32:
		return strconv.FormatFloat(x, verb, -1, 32)
	}
	if d != Float16 {
		// As the float32 that it is: few digits would distinguish 0.31054688 from its
		// neighbours in bfloat16, but 0.31 is read as another number.
		return strconv.FormatFloat(x, verb, -1, 32)
	}
	// The fewest significant digits that read back as x.
	for p := range 10 {
		s := strconv.FormatFloat(x, 'e', p, 64)
		y, err := strconv.ParseFloat(s, 64)
		if err == nil && roundTo(d, y) == x {
			if verb == 'e' {
				return s
			}
			return strconv.FormatFloat(y, 'f', -1, 64)
		}
	}
	return strconv.FormatFloat(x, verb, -1, 32)
}

// roundTo returns v rounded to a floating type.
func roundTo(d DType, v float64) float64 {
	var buf [2]uint64
	b := bytesOf(buf[:])[:d.Size()]
	writeFloats(b, d, []float64{v})
	t := Tensor{dtype: d, shape: Shape{}, data: b}
	var out [1]float64
	t.readFloats(out[:], 0)
	return out[0]
}
