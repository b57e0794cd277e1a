package special

import (
	"math"
	"math/cmplx"
)

// The integrals of Dawson and Fresnel, the exponential integral, the
// dilogarithm and the normal quantile.

// Dawsn returns Dawson's integral.
func Dawsn(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x:
		return x
	case a < 1: // the series
		term, sum := x, x
		for k := 1; k < 60; k++ {
			term *= -2 * x * x / float64(2*k+1)
			sum += term
		}
		return sum
	case a > 1e8:
		return 0.5 / x
	}
	// Rybicki's sum over odd multiples of h, around the one next to x.
	const h = 0.2
	n0 := 2 * math.Round(a/(2*h))
	sum := 0.0
	for k := -37.0; k <= 37; k += 2 {
		d := a - (n0+k)*h
		sum += math.Exp(-d*d) / (n0 + k)
	}
	return math.Copysign(sum/math.Sqrt(math.Pi), x)
}

// Expint returns the exponential integral Ei of a positive number.
func Expint(x float64) float64 {
	switch {
	case x != x:
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return x
	case x > 40:
		term, sum := 1.0, 1.0
		for k := 1; k < 60; k++ {
			next := term * float64(k) / x
			if next >= term || next < 1e-18 {
				break
			}
			term = next
			sum += term
		}
		return scaleUp(sum/x, x)
	}
	term, sum := 1.0, 0.0
	for k := 1; k < 300; k++ {
		term *= x / float64(k)
		sum += term / float64(k)
		if term < sum*1e-19 {
			break
		}
	}
	return euler + math.Log(x) + sum
}

// Fresnel returns the Fresnel integrals, that of the sine and of the cosine.
func Fresnel(x float64) (sin, cos float64) {
	a := math.Abs(x)
	switch {
	case x != x:
		return x, x
	case a > 1e8:
		sin, cos = 0.5, 0.5
	case a < 1.8:
		sin, cos = smallFresnel(a)
	default:
		sin, cos = largeFresnel(a)
	}
	return math.Copysign(sin, x), math.Copysign(cos, x)
}

// smallFresnel sums the power series.
func smallFresnel(x float64) (sin, cos float64) {
	t := math.Pi / 2 * x * x
	term := x
	for n := range 80 {
		part := term / float64(2*n+1)
		switch n % 4 {
		case 0:
			cos += part
		case 1:
			sin += part
		case 2:
			cos -= part
		case 3:
			sin -= part
		}
		term *= t / float64(n+1)
	}
	return sin, cos
}

// largeFresnel evaluates the continued fraction of the complementary error
// function of a complex number.
func largeFresnel(x float64) (sin, cos float64) {
	pix2 := math.Pi * x * x
	b := complex(1, -pix2)
	cc := complex(1e300, 0)
	d := 1 / b
	h := d
	n := -1.0
	for range 500 {
		n += 2
		a := -n * (n + 1)
		b += 4
		d = 1 / (complex(a, 0)*d + b)
		cc = b + complex(a, 0)/cc
		del := cc * d
		h *= del
		if math.Abs(real(del)-1)+math.Abs(imag(del)) < 1e-16 {
			break
		}
	}
	h *= complex(x, -x)
	cs := complex(0.5, 0.5) * (1 - cmplx.Exp(complex(0, pix2/2))*h)
	return imag(cs), real(cs)
}

// Spence returns the dilogarithm of 1-x.
func Spence(x float64) float64 {
	const zeta2 = math.Pi * math.Pi / 6
	switch {
	case x < 0 || x != x:
		return math.NaN()
	case x == 0:
		return zeta2
	case x == 1:
		return 0
	case math.IsInf(x, 1):
		return math.Inf(-1)
	case x > 2:
		l := math.Log(x)
		return -Spence(1/x) - l*l/2
	case x < 0.5:
		return zeta2 - math.Log(x)*math.Log1p(-x) - dilog(x)
	case x > 1: // Landen's identity
		l := math.Log(x)
		return -dilog(1-1/x) - l*l/2
	}
	return dilog(1 - x)
}

// dilog returns the dilogarithm of a number from -1/2 to 1/2, by the series in
// powers of -log(1-z) with Bernoulli numbers.
func dilog(z float64) float64 {
	u := -math.Log1p(-z)
	sum, power := u-u*u/4, u
	for k, b := range bernoulli {
		n := float64(2 * (k + 1))
		power *= u * u / (n * (n + 1))
		sum += b * power
	}
	return sum
}

// bernoulli are the Bernoulli numbers of even index from 2 on.
var bernoulli = [...]float64{
	1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6, -3617. / 510, 43867. / 798, -174611. / 330,
	854513. / 138, -236364091. / 2730,
}

// Ndtri returns the quantile of the standard normal distribution for
// probability p.
func Ndtri(p float64) float64 {
	switch {
	case !(p >= 0 && p <= 1):
		return math.NaN()
	case p == 0:
		return math.Inf(-1)
	case p == 1:
		return math.Inf(1)
	case p > 0.5:
		return -quantile(1 - p)
	}
	return quantile(p)
}

// quantile improves an approximation for p up to 1/2 by Halley's method.
func quantile(p float64) float64 {
	t := math.Sqrt(-2 * math.Log(p))
	x := -(t - (2.515517+t*(0.802853+t*0.010328))/(1+t*(1.432788+t*(0.189269+t*0.001308))))
	for range 4 {
		u := (0.5*math.Erfc(-x/math.Sqrt2) - p) * math.Sqrt(2*math.Pi) * math.Exp(x*x/2)
		x -= u / (1 + x*u/2)
	}
	return x
}
