package fft

// Real transforms the plan's length of real numbers and stores the first half of the
// transform, n/2+1 numbers, which determines the other.
func (p *Plan) Real(dst []complex128, x []float64) {
	if p.half == nil {
		all := make([]complex128, p.n)
		for i, v := range x {
			all[i] = complex(v, 0)
		}
		p.Forward(all)
		copy(dst, all[:p.n/2+1])
		return
	}
	h := p.n / 2
	z := dst[:h]
	for k := range z {
		z[k] = complex(x[2*k], x[2*k+1])
	}
	p.half.Forward(z)
	first := z[0]
	for k := 1; k <= h/2; k++ { // elements k and h-k of the even and of the odd numbers' transforms
		a, b := z[k], conj(z[h-k])
		even, odd := halved(a+b), halved(a-b)
		odd = complex(imag(odd), -real(odd)) * p.turns[k]
		dst[k], dst[h-k] = even+odd, conj(even-odd)
	}
	dst[0], dst[h] = complex(real(first)+imag(first), 0), complex(real(first)-imag(first), 0)
}

// RealInverse computes the inverse of Real, divided by the length. It ignores
// imaginary parts that the transform of real numbers doesn't have. It
// overwrites half.
func (p *Plan) RealInverse(x []float64, half []complex128) {
	if p.half == nil {
		all := make([]complex128, p.n)
		copy(all, half)
		all[0] = complex(real(all[0]), 0)
		for j := len(half); j < p.n; j++ {
			all[j] = conj(half[p.n-j])
		}
		if p.n%2 == 0 {
			all[p.n/2] = complex(real(all[p.n/2]), 0)
		}
		p.Inverse(all)
		for i := range x {
			x[i] = real(all[i])
		}
		return
	}
	h := p.n / 2
	first, last := real(half[0]), real(half[h])
	z := half[:h]
	for k := 1; k <= h/2; k++ {
		a, b := half[k], conj(half[h-k])
		even, odd := halved(a+b), halved(a-b)*conj(p.turns[k])
		odd = complex(-imag(odd), real(odd)) // i times it
		z[k], z[h-k] = even+odd, conj(even-odd)
	}
	z[0] = complex((first+last)/2, (first-last)/2)
	p.half.Inverse(z)
	for k, v := range z {
		x[2*k], x[2*k+1] = real(v), imag(v)
	}
}

// halved returns z/2. Go's division of complex numbers takes far longer.
func halved(z complex128) complex128 { return complex(real(z)/2, imag(z)/2) }
