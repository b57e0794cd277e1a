package special

import "math"

// Zeta, Polygamma, the incomplete gamma functions and the incomplete beta
// function.

// mostTerms bounds the terms of Zeta's sum below 0.
const mostTerms = 1000

// farZeta returns Zeta(x, q) for a whole x and a negative q that isn't whole. The
// terms below 0 are those of a positive argument, with a sign.
func farZeta(x, q float64) float64 {
	rest := q - math.Floor(q)
	below := Zeta(x, 1-rest) - Zeta(x, 1-q)
	if math.Mod(x, 2) != 0 {
		below = -below
	}
	return Zeta(x, rest) + below
}

// Zeta returns the Hurwitz zeta function, by the Euler-Maclaurin formula.
func Zeta(x, q float64) float64 {
	switch {
	case x != x || q != q || x < 1:
		return math.NaN()
	case x == 1:
		return math.Inf(1)
	case math.IsInf(x, 1):
		switch { // the only term that counts is that of the base next to 0
		case q < 1:
			return math.Inf(1)
		case q == 1:
			return 1
		}
		return 0
	case math.IsInf(q, 1):
		return 0
	case q <= 0 && q == math.Floor(q):
		if math.Mod(x, 2) == 0 {
			return math.Inf(1) // the pole has one sign for even x alone
		}
		return math.NaN()
	case q <= 0 && x != math.Floor(x):
		return math.NaN()
	}
	if q < -mostTerms {
		return farZeta(x, q)
	}
	sum := 0.0
	for q < 12 {
		sum += math.Pow(q, -x)
		q++
	}
	power := math.Pow(q, -x)
	sum += power*q/(x-1) + power/2
	factor, last := x*power/q, math.Inf(1)
	for k, b := range bernoulli {
		n := float64(2 * (k + 1))
		term := b * factor / 2
		for j := 3.0; j <= n; j++ {
			term /= j
		}
		if math.Abs(term) >= last || math.Abs(term) < math.Abs(sum)*1e-18 {
			break
		}
		last = math.Abs(term)
		sum += term
		factor *= (x + n - 1) * (x + n) / (q * q)
	}
	return sum
}

// Polygamma returns the derivative of order n of the digamma function. For n =
// 0 the caller computes the digamma function itself.
func Polygamma(n, x float64) float64 {
	if n != math.Floor(n) || n < 0 {
		return math.NaN()
	}
	lg, _ := math.Lgamma(n + 1)
	f := math.Exp(lg)
	if n <= 20 {
		f = math.Gamma(n + 1)
	}
	if math.Mod(n, 2) == 0 {
		f = -f
	}
	return f * Zeta(n+1, x)
}

// dual is a number with its derivative by the first argument of the incomplete
// gamma functions.
type dual struct{ v, d float64 }

// factor returns x^a e^-x / gamma(a+1) and its derivative by a.
func factor(a, x, digamma float64) dual {
	lg, _ := math.Lgamma(a + 1)
	v := math.Exp(a*math.Log(x) - x - lg)
	return dual{v, v * (math.Log(x) - digamma)}
}

const converged = 1e-17

// lowerSeries returns the series of the lower incomplete gamma function, without
// its factor.
func lowerSeries(a, x float64) dual {
	term, sum := dual{1, 0}, dual{1, 0}
	for k := 1; k < 20000; k++ {
		r := a + float64(k)
		term = dual{term.v * x / r, (term.d - term.v/r) * x / r}
		sum.v += term.v
		sum.d += term.d
		if term.v < sum.v*converged && math.Abs(term.d) <= math.Abs(sum.d)*converged+1e-300 {
			break
		}
	}
	return sum
}

// upperFraction returns the continued fraction of the upper incomplete gamma
// function, without its factor, evaluated with Lentz's method.
func upperFraction(a, x float64) dual {
	const tiny = 1e-300
	b := dual{x + 1 - a, -1}
	c := dual{1 / tiny, 0}
	d := inverse(b)
	h := d
	for i := 1; i < 20000; i++ {
		k := float64(i)
		an := dual{-k * (k - a), k}
		b.v += 2
		d = inverse(plus(times(an, d), b))
		c = plus(b, over(an, c))
		if c.v == 0 {
			c.v = tiny
		}
		del := times(d, c)
		h = times(h, del)
		if math.Abs(del.v-1) < 1e-16 && math.Abs(del.d) < 1e-16 {
			break
		}
	}
	return h
}

// plus, times, over and inverse compute with numbers and their derivatives.
func plus(a, b dual) dual  { return dual{a.v + b.v, a.d + b.d} }
func times(a, b dual) dual { return dual{a.v * b.v, a.d*b.v + a.v*b.d} }
func over(a, b dual) dual  { return times(a, inverse(b)) }

func inverse(a dual) dual {
	if a.v == 0 {
		a.v = 1e-300
	}
	return dual{1 / a.v, -a.d / (a.v * a.v)}
}

// incomplete returns the lower function, its derivative by a, and the upper
// function. The latter is computed separately, because 1 minus a number near 1
// loses digits.
func incomplete(a, x float64, digamma func(float64) float64) (lower, upper dual) {
	f := factor(a, x, digamma(a+1))
	if bySeries(a, x) {
		l := times(f, lowerSeries(a, x))
		return l, dual{1 - l.v, -l.d}
	}
	u := times(times(f, dual{a, 1}), upperFraction(a, x))
	return dual{1 - u.v, -u.d}, u
}

// bySeries reports whether the series converges faster than the fraction.
func bySeries(a, x float64) bool { return x < 1 || x < a }

// edge returns the lower function if an argument is at the edge of its domain,
// or false if none is.
func edge(a, x float64) (float64, bool) {
	switch {
	case a != a || x != x || x < 0 || a <= 0:
		return math.NaN(), true
	case x == 0:
		return 0, true
	case math.IsInf(a, 1):
		if math.IsInf(x, 1) {
			return math.NaN(), true
		}
		return 0, true
	case math.IsInf(x, 1):
		return 1, true
	}
	return 0, false
}

// Gamma has the incomplete gamma functions; Digamma is the logarithmic
// derivative of the gamma function.
type Gamma struct{ Digamma func(float64) float64 }

// Lower returns the regularised lower incomplete gamma function.
func (g Gamma) Lower(a, x float64) float64 {
	if x == 0 {
		return 0
	}
	if y, ok := edge(a, x); ok {
		return y
	}
	l, _ := incomplete(a, x, g.Digamma)
	return l.v
}

// Upper returns the regularised upper incomplete gamma function.
func (g Gamma) Upper(a, x float64) float64 {
	if y, ok := edge(a, x); ok {
		return 1 - y
	}
	_, u := incomplete(a, x, g.Digamma)
	return u.v
}

// LowerByA returns the derivative of Lower by a.
func (g Gamma) LowerByA(a, x float64) float64 {
	if x == 0 {
		return 0 // Lower is 0 there for all a
	}
	if y, ok := edge(a, x); ok {
		return y - y // 0, or NaN
	}
	l, _ := incomplete(a, x, g.Digamma)
	return l.d
}

// SampleByA returns the derivative of a sample of the gamma distribution by its
// shape a, at a constant cumulative probability.
func (g Gamma) SampleByA(a, x float64) float64 {
	if x == 0 {
		return 0
	}
	if y, ok := edge(a, x); ok {
		return y - y
	}
	// Of the derivative of Lower over the density the factors cancel out.
	slope := math.Log(x) - g.Digamma(a+1)
	if bySeries(a, x) {
		l := lowerSeries(a, x)
		return -(slope*l.v + l.d) * x / a
	}
	u := upperFraction(a, x)
	return ((slope+1/a)*u.v + u.d) * x
}

// Betainc returns the regularised incomplete beta function.
func Betainc(a, b, x float64) float64 {
	switch {
	case a != a || b != b || x != x || a <= 0 || b <= 0 || x < 0 || x > 1:
		return math.NaN()
	case x == 0 || x == 1:
		return x
	}
	la, _ := math.Lgamma(a + b)
	lb, _ := math.Lgamma(a)
	lc, _ := math.Lgamma(b)
	front := math.Exp(la - lb - lc + a*math.Log(x) + b*math.Log1p(-x))
	if x < (a+1)/(a+b+2) {
		return front * betaFraction(a, b, x) / a
	}
	return 1 - front*betaFraction(b, a, 1-x)/b
}

// betaFraction evaluates the continued fraction with Lentz's method.
func betaFraction(a, b, x float64) float64 {
	const tiny = 1e-300
	nonzero := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c := 1.0
	d := 1 / nonzero(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m < 20000; m++ {
		for _, k := range [2]float64{m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)), -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))} {
			d = 1 / nonzero(1+k*d)
			c = nonzero(1 + k/c)
			h *= d * c
		}
		if math.Abs(d*c-1) < 1e-16 {
			break
		}
	}
	return h
}
