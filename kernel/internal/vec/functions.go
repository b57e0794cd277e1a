package vec

import (
	"math"

	"github.com/cairnml/cairn/kernel/internal/simd"
)

// Functions of float32 are computed in float64 and rounded once: a polynomial of
// few terms is then enough for results that are nearly always the closest
// float32, no intermediate result overflows, and subnormal numbers need no care.
//
// Package simd has the same functions by vectors. Every product that is added to
// something is converted to float64, which it is already: so the compiler must not
// fuse the two operations, as it would on some architectures, and the results have
// the same bits everywhere.

const (
	// expRange is beyond the exponents of float32, and far below those n for
	// which 2ⁿ has no exponent in float64.
	expRange = 128
	// tanhRange is beyond the numbers whose tanh rounds to less than 1.
	tanhRange = 20
	// erfRange is beyond the numbers whose erfc rounds to more than 0.
	erfRange = 11

	// rounding makes a sum so large that its last bit counts 1. So adding it rounds to
	// an integer, and the low bits contain that.
	rounding = 3 << 51

	oneBits  = 0x3ff << 52
	rootBits = 0x3fe6a09e667f3bcd // of √½
)

// clamp returns x, brought between lo and hi; NaN stays.
func clamp(x, lo, hi float64) float64 {
	if x < lo {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

// expParts returns p and s with exp(x) = p·s + s: s is a power of two, and p is
// exp(r) - 1 for the rest r, exact for small r.
func expParts(x float64) (p, s float64) {
	k := float64(x*math.Log2E) + rounding
	n := k - rounding
	r := x - float64(n*math.Ln2)
	return expm1Polynomial(r) * r, math.Float64frombits(math.Float64bits(k)<<52 + oneBits)
}

// expOf returns exp(x) for an x between -expRange and expRange.
func expOf(x float64) float64 {
	p, s := expParts(x)
	return float64(p*s) + s
}

// expm1Of returns exp(x)-1 for such an x.
func expm1Of(x float64) float64 {
	p, s := expParts(x)
	return float64(p*s) + (s - 1)
}

// exp32 returns exp(x). It and the functions below take any number, NaN included.
func exp32(x float32) float32 { return float32(expOf(clamp(float64(x), -expRange, expRange))) }

func expm1_32(x float32) float32 {
	return float32(math.Copysign(expm1Of(clamp(float64(x), -expRange, expRange)), float64(x)))
}

func tanh32(x float32) float32 {
	y := clamp(float64(x), -tanhRange, tanhRange)
	t := expm1Of(y + y)
	return float32(math.Copysign(t/(t+2), float64(x)))
}

func sigmoid32(x float32) float32 {
	return float32(1 / (expOf(-clamp(float64(x), -expRange, expRange)) + 1))
}

// Swish sets dst to x times its sigmoid, which is rounded before. It may be x.
func Swish(dst, x []float32) {
	x = x[:len(dst)]
	for i := simd.Swish(dst, x); i < len(dst); i++ {
		dst[i] = x[i] * sigmoid32(x[i])
	}
}

// split returns e and m with x = m·2ᵉ and m between √½ and √2.
func split(x float64) (e, m float64) {
	t := math.Float64bits(x) + (oneBits - rootBits)
	e = math.Float64frombits(t>>52|math.Float64bits(1<<52)) - (1<<52 + 0x3ff)
	return e, math.Float64frombits(t&(1<<52-1) + rootBits)
}

// logOf returns log(m·2ᵉ) by log(m) = 2·atanh((m-1)/(m+1)), given m-1.
func logOf(e, less1, m float64) float64 {
	s := less1 / (m + 1)
	y := logPolynomial(s*s) * s
	return float64(e*math.Ln2) + y
}

// logOf1p returns log(u) for u = 1+x, rounded: near 0, x is more precise than
// u-1.
func logOf1p(u, x float64) float64 {
	e, m := split(u)
	if e == 0 {
		return logOf(e, x, m)
	}
	return logOf(e, m-1, m)
}

func log32(f float32) float32 {
	x := float64(f)
	switch {
	case x == 0:
		return float32(math.Inf(-1))
	case x < 0:
		return float32(math.NaN())
	case !(x < math.Inf(1)):
		return f
	}
	e, m := split(x)
	return float32(logOf(e, m-1, m))
}

func log1p32(f float32) float32 {
	x := float64(f)
	switch {
	case x == -1:
		return float32(math.Inf(-1))
	case x < -1:
		return float32(math.NaN())
	case !(x < math.Inf(1)):
		return f
	}
	return float32(math.Copysign(logOf1p(x+1, x), x))
}

func softplus32(f float32) float32 {
	x := float64(f)
	if !(x < 30) {
		return f
	}
	e := expOf(clamp(x, -expRange, expRange))
	return float32(logOf1p(e+1, e))
}

// erfcOf returns erfc(a) for a from 0 to erfRange.
func erfcOf(a float64) float64 {
	e := expOf(-(a * a))
	t := 1 / (float64(a*0.4) + 1)
	return e * (t * erfcPolynomial(t))
}

func erf32(f float32) float32 {
	x := float64(f)
	a := clamp(math.Abs(x), 0, erfRange)
	var y float64
	if z := a * a; z < 0.25 {
		y = a * erfPolynomial(z)
	} else {
		y = 1 - float64(erfcOf(a))
	}
	return float32(math.Copysign(y, x))
}

func erfc32(f float32) float32 {
	x := float64(f)
	y := erfcOf(clamp(math.Abs(x), 0, erfRange))
	if x < 0 {
		y = 2 - float64(y)
	}
	return float32(y)
}

func elu32(x float32) float32 {
	if x < 0 {
		return float32(expm1Of(clamp(float64(x), -expRange, expRange)))
	}
	return x
}

func selu32(x float32) float32 {
	if x < 0 {
		return float32(expm1Of(clamp(float64(x), -expRange, expRange)) * (seluScale * seluAlpha))
	}
	return float32(float64(x) * float64(float32(seluScale)))
}

func rsqrt32(x float32) float32 { return float32(1 / math.Sqrt(float64(x))) }
