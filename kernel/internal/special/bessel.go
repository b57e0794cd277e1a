// Package special computes special functions in double precision. It uses
// series for arguments for which they converge fast, and asymptotic series,
// continued fractions and integrals for others. Package kernel/math uses it.
// Algorithms may change within the precision of the kernels. The values at the
// ends of the domains are TensorFlow's and must stay.
package special

import "math"

// euler is Euler's constant.
const euler = 0.57721566490153286060651209008240243

// asymptotic is the argument from which on the asymptotic series of the
// modified Bessel functions reach double precision.
const asymptotic = 25

// seriesI returns the series of the modified Bessel function of the first kind
// and order n, of which all terms are positive.
func seriesI(n int, x float64) float64 {
	q := x * x / 4
	term, sum := 1.0, 1.0
	for k := 1; k < 500 && term > sum*1e-18; k++ {
		term *= q / (float64(k) * float64(k+n))
		sum += term
	}
	if n == 1 {
		return sum * x / 2
	}
	return sum
}

// largeI returns the asymptotic series of order n, scaled by exp(-x).
func largeI(n int, x float64) float64 {
	mu := float64(4 * n * n)
	term, sum := 1.0, 1.0
	for k := 1; k < 60; k++ {
		odd := float64(2*k - 1)
		next := -term * (mu - odd*odd) / (float64(k) * 8 * x)
		if math.Abs(next) >= math.Abs(term) || next == 0 {
			break
		}
		term = next
		sum += term
		if math.Abs(term) < 1e-18 {
			break
		}
	}
	return sum / math.Sqrt(2*math.Pi*x)
}

// BesselI0 returns the modified Bessel function of the first kind, order 0.
func BesselI0(x float64) float64 {
	x = math.Abs(x)
	if x < asymptotic {
		return seriesI(0, x)
	}
	return scaleUp(largeI(0, x), x)
}

// scaleUp multiplies by exp(x) in two steps, so that only a result that is
// itself too large is infinite.
func scaleUp(y, x float64) float64 {
	half := math.Exp(x / 2)
	return y * half * half // NaN for infinity, as in TensorFlow
}

// BesselI0e returns BesselI0 scaled by exp(-|x|).
func BesselI0e(x float64) float64 {
	x = math.Abs(x)
	switch {
	case x < asymptotic:
		return seriesI(0, x) * math.Exp(-x)
	case math.IsInf(x, 1):
		return 0
	}
	return largeI(0, x)
}

// BesselI1 returns the modified Bessel function of the first kind, order 1.
func BesselI1(x float64) float64 {
	if math.Abs(x) < asymptotic {
		return seriesI(1, x)
	}
	return math.Copysign(scaleUp(largeI(1, math.Abs(x)), math.Abs(x)), x)
}

// BesselI1e returns BesselI1 scaled by exp(-|x|).
func BesselI1e(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a < asymptotic:
		return seriesI(1, x) * math.Exp(-a)
	case math.IsInf(a, 1):
		return 0
	}
	return math.Copysign(largeI(1, a), x)
}

// scaledK returns the modified Bessel function of the second kind and order n,
// scaled by exp(x), by the trapezoidal rule over its integral: the integrand
// falls so fast that the rule has no error in double precision.
//
// The larger x is, the narrower the integrand: the steps follow it.
func scaledK(n int, x float64) float64 {
	h := 0.125 / max(1, math.Sqrt(x/16))
	sum := 0.5
	for k := 1; k < 4096; k++ {
		t := h * float64(k)
		s := math.Sinh(t / 2)
		y := math.Exp(-2 * x * s * s)
		if n == 1 {
			y *= math.Cosh(t)
		}
		sum += y
		if y < sum*1e-19 {
			break
		}
	}
	return h * sum
}

// smallK0 and smallK1 are series for arguments up to 1.
func smallK0(x float64) float64 {
	q := x * x / 4
	term, harmonic, sum := 1.0, 0.0, 0.0
	for k := 1; k < 30; k++ {
		term *= q / float64(k*k)
		harmonic += 1 / float64(k)
		sum += term * harmonic
	}
	return sum - (math.Log(x/2)+euler)*seriesI(0, x)
}

func smallK1(x float64) float64 {
	q := x * x / 4
	// psi(k+1) + psi(k+2)
	psi := 1 - 2*euler
	term, sum := 1.0, psi
	for k := 1; k < 30; k++ {
		term *= q / float64(k*(k+1))
		psi += 1/float64(k) + 1/float64(k+1)
		sum += term * psi
	}
	return 1/x + math.Log(x/2)*seriesI(1, x) - x/4*sum
}

// besselK returns a modified Bessel function of the second kind, scaled by
// exp(x) or not.
//
// It is infinite for negative numbers, as in TensorFlow.
func besselK(x float64, n int, small func(float64) float64, scaled bool) float64 {
	switch {
	case x != x:
		return x
	case x <= 0:
		return math.Inf(1)
	case math.IsInf(x, 1):
		return 0
	case x <= 1 && scaled:
		return small(x) * math.Exp(x)
	case x <= 1:
		return small(x)
	case scaled:
		return scaledK(n, x)
	}
	return scaledK(n, x) * math.Exp(-x)
}

// BesselK0 returns the modified Bessel function of the second kind, order 0.
func BesselK0(x float64) float64 { return besselK(x, 0, smallK0, false) }

// BesselK0e returns BesselK0 scaled by exp(x).
func BesselK0e(x float64) float64 { return besselK(x, 0, smallK0, true) }

// BesselK1 returns the modified Bessel function of the second kind, order 1.
func BesselK1(x float64) float64 { return besselK(x, 1, smallK1, false) }

// BesselK1e returns BesselK1 scaled by exp(x).
func BesselK1e(x float64) float64 { return besselK(x, 1, smallK1, true) }
