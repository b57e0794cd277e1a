package fft

// step transforms elements of src, stride apart, to dst. number is the level,
// from the outermost; dst has the length of this level.
func (p *Plan) step(dst, src []complex128, stride, number int) {
	l := &p.levels[number]
	r, m := l.radix, l.m
	if r*m >= long {
		p.check()
	}
	if m == 1 {
		for q := range r {
			dst[q] = src[q*stride]
		}
	} else {
		for q := range r {
			p.step(dst[q*m:(q+1)*m], src[q*stride:], stride*r, number+1)
		}
	}
	switch r {
	case 2:
		l.join2(dst)
	case 3:
		l.join3(dst)
	case 4:
		l.join4(dst)
	case 5:
		l.join5(dst)
	default:
		l.join(dst)
	}
}

// join2 and the functions after it join the parts of a level in place: part q
// is elements q·m to (q+1)·m.
func (l *level) join2(dst []complex128) {
	m := l.m
	a, b, w := dst[:m], dst[m:2*m], l.twiddles[:m]
	for k, t := range w {
		x, y := a[k], b[k]*t
		a[k], b[k] = x+y, x-y
	}
}

// sin60 is the sine of a third of a turn.
const sin60 = 0.86602540378443864676372317075293618347140262690519

func (l *level) join3(dst []complex128) {
	m := l.m
	a, b, c, w := dst[:m], dst[m:2*m], dst[2*m:3*m], l.twiddles
	for k := range a {
		x, y, z := a[k], b[k]*w[0], c[k]*w[1]
		w = w[2:]
		s, d := y+z, y-z
		t := complex(real(x)-real(s)/2, imag(x)-imag(s)/2)
		u := complex(sin60*imag(d), -sin60*real(d))
		a[k], b[k], c[k] = x+s, t+u, t-u
	}
}

func (l *level) join4(dst []complex128) {
	m := l.m
	a, b, c, d, w := dst[:m], dst[m:2*m], dst[2*m:3*m], dst[3*m:4*m], l.twiddles
	for k := range a {
		t := w[:3]
		w = w[3:]
		x, y, z, v := a[k], b[k]*t[0], c[k]*t[1], d[k]*t[2]
		e, f, g, h := x+z, x-z, y+v, y-v
		h = complex(imag(h), -real(h)) // -i times it
		a[k], b[k], c[k], d[k] = e+g, f+h, e-g, f-h
	}
}

// The cosines and sines of one and two fifths of a turn.
const (
	cos72  = 0.30901699437494742410229341718281905886015458990288
	cos144 = -0.80901699437494742410229341718281905886015458990288
	sin72  = 0.95105651629515357211643933337938214340569863412575
	sin144 = 0.58778525229247312916870595463907276859765243764314
)

func (l *level) join5(dst []complex128) {
	m := l.m
	a, b, c, d, e, w := dst[:m], dst[m:2*m], dst[2*m:3*m], dst[3*m:4*m], dst[4*m:5*m], l.twiddles
	for k := range a {
		t := w[:4]
		w = w[4:]
		x, y1, y2, y3, y4 := a[k], b[k]*t[0], c[k]*t[1], d[k]*t[2], e[k]*t[3]
		s1, d1, s2, d2 := y1+y4, y1-y4, y2+y3, y2-y3
		re1, im1 := real(x)+cos72*real(s1)+cos144*real(s2), imag(x)+cos72*imag(s1)+cos144*imag(s2)
		re2, im2 := real(x)+cos144*real(s1)+cos72*real(s2), imag(x)+cos144*imag(s1)+cos72*imag(s2)
		u1 := complex(sin72*imag(d1)+sin144*imag(d2), -sin72*real(d1)-sin144*real(d2))
		u2 := complex(sin144*imag(d1)-sin72*imag(d2), -sin144*real(d1)+sin72*real(d2))
		v1, v2 := complex(re1, im1), complex(re2, im2)
		a[k], b[k], c[k], d[k], e[k] = x+s1+s2, v1+u1, v2+u2, v2-u2, v1-u1
	}
}

// join joins the parts of any radix.
func (l *level) join(dst []complex128) {
	var t [largest]complex128
	r, m := l.radix, l.m
	for k := range m {
		t[0] = dst[k]
		for q := 1; q < r; q++ {
			t[q] = dst[q*m+k] * l.twiddles[k*(r-1)+q-1]
		}
		for j := range r {
			sum, at := t[0], 0
			for q := 1; q < r; q++ {
				if at += j; at >= r {
					at -= r
				}
				sum += t[q] * l.roots[at]
			}
			dst[j*m+k] = sum
		}
	}
}
