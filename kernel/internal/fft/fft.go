// Package fft computes discrete Fourier transforms of any length: small prime factors by mixed
// radices, large ones by Bluestein's convolution. Real numbers of even count are transformed as
// half as many complex ones. Package kernel/signal uses it. Results are in double precision;
// another order of additions changes last bits, within the precision of the kernels.
package fft

import (
	"math"
	"math/bits"
	"sync"
)

// largest is the largest prime factor that is transformed directly.
const largest = 31

// Plan contains the constants of transforms of one length. It is safe for
// concurrent use.
type Plan struct {
	check  func() // between parts of long transforms
	n      int
	levels []level
	// For lengths with a large prime factor.
	inner  *Plan
	chirp  []complex128
	kernel []complex128
	// For real numbers: the plan of half the length, and exp(-2πik/n).
	half    *Plan
	turns   []complex128
	scratch sync.Pool // of *[]complex128
}

// level is one step of the transform: radix parts of m elements each become one.
type level struct {
	radix, m int
	twiddles []complex128 // exp(-2πikq/(radix·m)) of part q from 1 on, element by element
	roots    []complex128 // exp(-2πik/radix), if the radix has no special code
}

// long is from how many numbers on a transform calls check.
const long = 1 << 12

// New returns the plan of transforms of length n, which is at least 1. Long
// transforms call check from time to time, unless it is nil; it may end them by
// a panic.
func New(n int, check func()) *Plan {
	if check == nil {
		check = func() {}
	}
	p := newPlan(n, check)
	if n%2 == 0 && n > 2 {
		p.half = newPlan(n/2, check)
		p.turns = make([]complex128, n/4+1)
		for k := range p.turns {
			p.turns[k] = root(k, n)
		}
	}
	return p
}

// PlanSize is the most memory of a plan and its transforms for each of their
// numbers, in bytes.
const PlanSize = 16 * 20

func newPlan(n int, check func()) *Plan {
	p := &Plan{n: n, check: check}
	var factors []int
	rest := n
	for _, f := range []int{4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, largest} {
		for rest%f == 0 {
			factors = append(factors, f)
			rest /= f
		}
	}
	if rest == 1 {
		m := n
		for _, r := range factors {
			m /= r
			p.levels = append(p.levels, newLevel(r, m, check))
		}
		return p
	}
	m := 1 << bits.Len(uint(2*n-2))
	p.inner = newPlan(m, check)
	p.chirp = make([]complex128, n)
	p.kernel = make([]complex128, m)
	for k := range n {
		if k%long == 0 {
			check()
		}
		square := int(uint64(k) * uint64(k) % uint64(2*n))
		p.chirp[k] = root(square, 2*n)
		c := conj(p.chirp[k])
		p.kernel[k] = c
		if k > 0 {
			p.kernel[m-k] = c
		}
	}
	p.inner.Forward(p.kernel)
	return p
}

func newLevel(r, m int, check func()) level {
	l := level{radix: r, m: m, twiddles: make([]complex128, 0, (r-1)*m)}
	for k := range m {
		if k%long == 0 {
			check()
		}
		for q := 1; q < r; q++ {
			l.twiddles = append(l.twiddles, root(k*q, r*m))
		}
	}
	if r > 5 {
		for k := range r {
			l.roots = append(l.roots, root(k, r))
		}
	}
	return l
}

// root returns exp(-2πik/n), exactly at the quarters.
func root(k, n int) complex128 {
	switch 4 * k {
	case 0:
		return 1
	case n:
		return -1i
	case 2 * n:
		return -1
	case 3 * n:
		return 1i
	}
	sin, cos := math.Sincos(-2 * math.Pi * float64(k) / float64(n))
	return complex(cos, sin)
}

func conj(z complex128) complex128 { return complex(real(z), -imag(z)) }

// borrow returns memory of n numbers, and a function that returns it to the pool.
func (p *Plan) borrow(n int) (v []complex128, free func()) {
	mem, _ := p.scratch.Get().(*[]complex128)
	if mem == nil || len(*mem) < n {
		mem = new([]complex128)
		*mem = make([]complex128, n)
	}
	return (*mem)[:n], func() { p.scratch.Put(mem) }
}

// Forward transforms x, of the plan's length, in place.
func (p *Plan) Forward(x []complex128) {
	if p.n <= 1 {
		return
	}
	if p.inner != nil {
		p.convolve(x)
		return
	}
	src, free := p.borrow(p.n)
	copy(src, x)
	p.step(x, src, 1, 0)
	free()
}

// Inverse computes the inverse of Forward, divided by the length.
func (p *Plan) Inverse(x []complex128) {
	for i, z := range x {
		x[i] = conj(z)
	}
	p.Forward(x)
	by := 1 / float64(p.n)
	for i, z := range x {
		x[i] = complex(real(z)*by, -imag(z)*by)
	}
}

// convolve computes the transform as a convolution with a chirp.
func (p *Plan) convolve(x []complex128) {
	y, free := p.borrow(p.inner.n)
	for k, z := range x {
		y[k] = z * p.chirp[k]
	}
	clear(y[len(x):])
	p.inner.Forward(y)
	for k := range y {
		y[k] *= p.kernel[k]
	}
	p.inner.Inverse(y)
	for k := range x {
		x[k] = y[k] * p.chirp[k]
	}
	free()
}
