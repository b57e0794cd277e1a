// Package fft computes discrete Fourier transforms of any length: small prime
// factors by mixed radices, large ones by Bluestein's convolution.
package fft

import (
	"math"
	"math/bits"
)

// largest is the largest prime factor that is transformed directly.
const largest = 31

// Plan has what transforms of one length need. It is safe for concurrent use.
type Plan struct {
	n       int
	roots   []complex128 // exp(-2πik/n)
	factors []int
	// For lengths with a large prime factor.
	inner  *Plan
	chirp  []complex128
	kernel []complex128
}

// New returns the plan of transforms of length n, which is at least 1.
func New(n int) *Plan {
	p := &Plan{n: n}
	rest := n
	for _, f := range []int{4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, largest} {
		for rest%f == 0 {
			p.factors = append(p.factors, f)
			rest /= f
		}
	}
	if rest == 1 {
		p.roots = make([]complex128, n)
		for k := range p.roots {
			p.roots[k] = root(k, n)
		}
		return p
	}
	m := 1 << bits.Len(uint(2*n-2))
	p.inner = New(m)
	p.chirp = make([]complex128, n)
	p.kernel = make([]complex128, m)
	for k := range n {
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

// Forward transforms x, of the plan's length, in place.
func (p *Plan) Forward(x []complex128) {
	if p.n <= 1 {
		return
	}
	if p.inner != nil {
		p.convolve(x)
		return
	}
	src := append([]complex128(nil), x...)
	p.step(x, src, p.n, 1, 0)
}

// Inverse does what Forward does, the other way, and divides by the length.
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

// step transforms n elements of src, stride apart, to dst.
func (p *Plan) step(dst, src []complex128, n, stride, level int) {
	if n == 1 {
		dst[0] = src[0]
		return
	}
	r := p.factors[level]
	m := n / r
	for q := range r {
		p.step(dst[q*m:(q+1)*m], src[q*stride:], m, stride*r, level+1)
	}
	unit := p.n / n
	switch r {
	case 2:
		for k := range m {
			a, b := dst[k], dst[m+k]*p.roots[k*unit]
			dst[k], dst[m+k] = a+b, a-b
		}
	case 4:
		for k := range m {
			a, b := dst[k], dst[m+k]*p.roots[k*unit]
			c, d := dst[2*m+k]*p.roots[2*k*unit], dst[3*m+k]*p.roots[3*k*unit]
			s, t, u, v := a+c, a-c, b+d, b-d
			v = complex(imag(v), -real(v)) // -i times it
			dst[k], dst[m+k], dst[2*m+k], dst[3*m+k] = s+u, t+v, s-u, t-v
		}
	default:
		var t [largest]complex128
		for k := range m {
			for q := range r {
				t[q] = dst[q*m+k] * p.roots[q*k*unit%p.n]
			}
			for j := range r {
				sum := t[0]
				for q := 1; q < r; q++ {
					sum += t[q] * p.roots[j*q%r*(p.n/r)]
				}
				dst[j*m+k] = sum
			}
		}
	}
}

// convolve computes the transform as a convolution with a chirp.
func (p *Plan) convolve(x []complex128) {
	y := make([]complex128, p.inner.n)
	for k, z := range x {
		y[k] = z * p.chirp[k]
	}
	p.inner.Forward(y)
	for k := range y {
		y[k] *= p.kernel[k]
	}
	p.inner.Inverse(y)
	for k := range x {
		x[k] = y[k] * p.chirp[k]
	}
}
