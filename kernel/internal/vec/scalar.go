package vec

import (
	"math"
	"math/cmplx"
)

// The functions of one element that the expressions in gen.go call. Values at the edges (zero,
// infinity, NaN) are TensorFlow's, with the Rounded tolerance elsewhere.

// floorDivInt rounds toward negative infinity; y isn't 0.
func floorDivInt[T Int](x, y T) T {
	q := x / y
	if (x < 0) != (y < 0) && q*y != x {
		q--
	}
	return q
}

// floorModInt has y's sign; y isn't 0.
func floorModInt[T Int](x, y T) T {
	r := x % y
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	}
	return r
}

// floorModFloat has y's sign.
func floorModFloat[T Float](x, y T) T {
	r := T(math.Mod(float64(x), float64(y)))
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	}
	return r
}

// powInt multiplies; y isn't negative.
func powInt[T Int](x, y T) T {
	r := T(1)
	for y > 0 {
		if y&1 == 1 {
			r *= x
		}
		x *= x
		y >>= 1
	}
	return r
}

// powFloat returns x to the power y. A square is a product, so it is rounded correctly.
func powFloat[T Float](x, y T) T {
	switch y {
	case 2:
		return x * x
	case 1:
		return x
	}
	return T(math.Pow(float64(x), float64(y)))
}

// powComplex returns 1 for 0 to the power 0, and 0 for 0 to any other power.
func powComplex[T Complex](x, y T) T {
	if x == 0 {
		if y == 0 {
			return 1
		}
		return 0
	}
	return T(cmplx.Pow(complex128(x), complex128(y)))
}

// conj returns the conjugate of x.
func conj[T Complex](x T) T {
	z := complex128(x)
	return T(complex(real(z), -imag(z)))
}

// xlogy returns x·log(y), and 0 for an x of 0.
func xlogy[T Float](x, y T) T {
	if x == 0 {
		return 0
	}
	return T(float64(x) * math.Log(float64(y)))
}

// xlog1py returns x·log(1+y), and 0 for an x of 0.
func xlog1py[T Float](x, y T) T {
	if x == 0 {
		return 0
	}
	return T(float64(x) * math.Log1p(float64(y)))
}

// xlogyComplex works as xlogy.
func xlogyComplex[T Complex](x, y T) T {
	if x == 0 {
		return 0
	}
	return T(complex128(x) * cmplx.Log(complex128(y)))
}

// xlog1pyComplex works as xlog1py.
func xlog1pyComplex[T Complex](x, y T) T {
	if x == 0 {
		return 0
	}
	return T(complex128(x) * log1pComplex(complex128(y)))
}

// log1pComplex returns the logarithm of 1+z. Its real part keeps its digits for
// small z.
func log1pComplex(z complex128) complex128 {
	a, b := real(z), imag(z)
	if math.Abs(a) > 0.5 || math.Abs(b) > 0.5 {
		return cmplx.Log(1 + z)
	}
	return complex(math.Log1p(2*a+a*a+b*b)/2, math.Atan2(b, 1+a))
}

// expm1Complex returns exp(z)-1. Its real part keeps its digits for small z.
func expm1Complex(z complex128) complex128 {
	grown, half := math.Expm1(real(z)), math.Sin(imag(z)/2)
	return complex(grown-2*(grown+1)*half*half, (grown+1)*math.Sin(imag(z)))
}

// xdivy returns x/y, and 0 for an x of 0.
func xdivy[T Float | Complex](x, y T) T {
	if x == 0 {
		return 0
	}
	return x / y
}

// signReal returns 1, -1, or x for 0 and NaN.
func signReal[T Real](x T) T {
	switch {
	case x > 0:
		return 1
	case x < 0:
		var z T
		return z - 1
	}
	return x // 0 or NaN
}

// signComplex returns x divided by its magnitude, and 0 for 0.
func signComplex[T Complex](x T) T {
	if x == 0 {
		return 0
	}
	z := complex128(x)
	return T(z / complex(cmplx.Abs(z), 0))
}

// sigmoid returns the logistic function of x.
func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// softplus returns log(1+exp(x)). Above 30 the difference from x has no digit.
func softplus(x float64) float64 {
	if x > 30 {
		return x
	}
	return math.Log1p(math.Exp(x))
}

// The constants of the scaled exponential linear unit.
const (
	seluScale = 1.0507009873554804934193349852946
	seluAlpha = 1.6732632423543772848170429916717
)

// unlessZero returns z, or zero if the gradient y is zero: parts of z may be
// infinite there.
func unlessZero[T Float | Complex](y, z T) T {
	if y == 0 {
		return 0
	}
	return z
}

// lgamma returns the logarithm of the gamma function's magnitude: infinity at both ends.
func lgamma(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.Inf(1)
	}
	y, _ := math.Lgamma(x)
	return y
}

// digamma returns the derivative of lgamma: reflection for negative x,
// recurrence up to 16, then the asymptotic series.
func digamma(x float64) float64 {
	if x <= 0 {
		if x == math.Floor(x) {
			return math.NaN()
		}
		return digamma(1-x) - math.Pi/math.Tan(math.Pi*x)
	}
	y := 0.0
	for x < 16 {
		y -= 1 / x
		x++
	}
	f := 1 / (x * x)
	return y + math.Log(x) - 0.5/x -
		f*(1.0/12-f*(1.0/120-f*(1.0/252-f*(1.0/240-f*(1.0/132)))))
}

// acosh returns the inverse hyperbolic cosine of z.
func acosh(z complex128) complex128 {
	if cmplx.IsInf(z) {
		return complex(math.Inf(1), math.Atan2(imag(z), real(z)))
	}
	return cmplx.Log(z + cmplx.Sqrt(z+1)*cmplx.Sqrt(z-1))
}

// asinh computes in the right half-plane, in which no digits cancel each other.
func asinh(z complex128) complex128 {
	if math.Signbit(real(z)) {
		return -cmplx.Asinh(-z)
	}
	return cmplx.Asinh(z)
}

// tanh returns 1 or -1 for arguments whose exponentials leave no digit of the
// rest.
func tanh(z complex128) complex128 {
	if x := math.Abs(real(z)); x > 300 && !math.IsInf(imag(z), 0) {
		sin, cos := math.Sincos(imag(z))
		return complex(math.Copysign(1, real(z)), 4*sin*cos*math.Exp(-2*x))
	}
	return cmplx.Tanh(z)
}

// tan returns the tangent of z, by tanh far from the real axis, as cmplx.Tan overflows there.
func tan(z complex128) complex128 {
	if math.Abs(imag(z)) > 300 {
		t := tanh(complex(-imag(z), real(z))) // of iz
		return complex(imag(t), -real(t))
	}
	return cmplx.Tan(z)
}

// atan returns a quarter turn less 1/z far from zero: the next term has no digit there.
func atan(z complex128) complex128 {
	if a := cmplx.Abs(z); a > 1e6 && !math.IsInf(a, 0) {
		return complex(math.Copysign(math.Pi/2, real(z)), 0) - 1/z
	}
	return cmplx.Atan(z)
}

// asinReal and acosReal keep the digits that 1-x has near one.
func asinReal(x float64) float64 { return math.Atan2(x, math.Sqrt((1-x)*(1+x))) }

// erfReal returns NaN if the square of x overflows, as TensorFlow does for
// float64.
func erfReal(x float64) float64 {
	if math.IsInf(x*x, 0) {
		return math.NaN()
	}
	return math.Erf(x)
}

// acosReal returns the inverse cosine of x.
func acosReal(x float64) float64 { return math.Atan2(math.Sqrt((1-x)*(1+x)), x) }

// asin returns the inverse sine of z.
func asin(z complex128) complex128 {
	t := asinh(complex(-imag(z), real(z))) // of iz
	return complex(imag(t), -real(t))
}

// acos returns the inverse cosine of z.
func acos(z complex128) complex128 { return math.Pi/2 - asin(z) }
