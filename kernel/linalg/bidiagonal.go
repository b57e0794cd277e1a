package linalg

import (
	"context"
	"math"
)

// bidiagonals reduces a matrix of two diagonals to a diagonal one, by the QR
// steps of Golub and Kahan as in LINPACK's dsvdc. Rows of u and v are rotated
// with it. svd.go uses it. u and v have a row for each element of s.
type bidiagonals struct {
	s, e []float64 // e[i] is in the row of s[i], in the next column
	u, v rotated
}

// negligible reports whether an element is zero within rounding, compared with
// others.
func negligible(x, beside float64) bool { return math.Abs(x) <= 0x1p-1000+0x1p-52*beside }

// run makes s the singular values, in any order. It reports whether that
// converged: if not, or if there are infinities or NaN, s has no meaning.
func (b *bidiagonals) run(ctx context.Context) (found bool, err error) {
	s, e := b.s, b.e
	end, tries := len(s), 0
	var negative []int // rows of v that change their sign; no later step rotates them
	for end > 0 {
		if math.IsNaN(s[end-1]) || math.IsInf(s[end-1], 0) {
			return false, nil
		}
		begin := end - 1
		for ; begin > 0; begin-- {
			if negligible(e[begin-1], math.Abs(s[begin-1])+math.Abs(s[begin])) {
				e[begin-1] = 0
				break
			}
		}
		if begin == end-1 {
			if s[begin] < 0 || s[begin] == 0 && math.Signbit(s[begin]) {
				s[begin] = -s[begin]
				negative = append(negative, begin)
			}
			end, tries = end-1, 0
			continue
		}
		if tries++; tries > steps {
			return false, nil
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		none := end - 1 // index of an element of s that is negligible
		for ; none >= begin; none-- {
			size := 0.0
			if none != end-1 {
				size += math.Abs(e[none])
			}
			if none != begin {
				size += math.Abs(e[none-1])
			}
			if negligible(s[none], size) {
				s[none] = 0
				break
			}
		}
		switch {
		case none < begin:
			b.step(begin, end)
		case none == end-1:
			b.dropLast(begin, end)
		default:
			b.dropInside(none, end)
		}
	}
	b.u.finish()
	b.v.finish()
	for _, i := range negative {
		row := b.v.m[i*b.v.width:][:b.v.width]
		for k, x := range row {
			row[k] = -x
		}
	}
	return true, nil
}

// dropLast makes the last element of e zero if the last one of s is zero.
func (b *bidiagonals) dropLast(begin, end int) {
	f := b.e[end-2]
	b.e[end-2] = 0
	for j := end - 2; j >= begin; j-- {
		t := math.Hypot(b.s[j], f)
		if t == 0 {
			break
		}
		c, s := b.s[j]/t, f/t
		b.s[j] = t
		if j > begin {
			f = -s * b.e[j-1]
			b.e[j-1] *= c
		}
		b.v.turn(j, end-1, c, s)
	}
}

// dropInside makes an element of e zero if the element of s in its row is zero.
func (b *bidiagonals) dropInside(none, end int) {
	f := b.e[none]
	b.e[none] = 0
	for j := none + 1; j < end; j++ {
		t := math.Hypot(b.s[j], f)
		if t == 0 {
			break
		}
		c, s := b.s[j]/t, f/t
		b.s[j] = t
		f = -s * b.e[j]
		b.e[j] *= c
		b.u.turn(j, none, c, s)
	}
}

// shift returns the first vector of a step with a shift.
func (b *bidiagonals) shift(begin, end int) (f, g float64) {
	s, e := b.s, b.e
	size := max(math.Abs(s[end-1]), math.Abs(s[end-2]), math.Abs(e[end-2]), math.Abs(s[begin]), math.Abs(e[begin]))
	last, before, beside := s[end-1]/size, s[end-2]/size, e[end-2]/size
	first, next := s[begin]/size, e[begin]/size
	half := ((before+last)*(before-last) + beside*beside) / 2
	square := last * beside * last * beside
	shift := 0.0
	if half != 0 || square != 0 {
		shift = square / (half + math.Copysign(math.Sqrt(half*half+square), half))
	}
	return (first+last)*(first-last) + shift, first * next
}

// step makes a QR step of the part from begin to end.
func (b *bidiagonals) step(begin, end int) {
	s, e := b.s, b.e
	f, g := b.shift(begin, end)
	us, vs := b.u.memory(), b.v.memory()
	for j := begin; j < end-1; j++ {
		t, cos, sin := length(f, g)
		if j > begin {
			e[j-1] = t
		}
		f = cos*s[j] + sin*e[j]
		e[j] = cos*e[j] - sin*s[j]
		g = sin * s[j+1]
		s[j+1] *= cos
		vs = append(vs, cos, sin)
		s[j], cos, sin = length(f, g)
		f = cos*e[j] + sin*s[j+1]
		s[j+1] = cos*s[j+1] - sin*e[j]
		g = sin * e[j+1]
		e[j+1] *= cos
		us = append(us, cos, sin)
	}
	e[end-2] = f
	b.u.sweep(begin, 1, us)
	b.v.sweep(begin, 1, vs)
}

// length returns the length of a vector, and the cosine and the sine of its angle.
func length(x, y float64) (r, cos, sin float64) {
	r = math.Sqrt(x*x + y*y)
	if !(r > 0x1p-400 && r < 0x1p400) {
		if r = math.Hypot(x, y); r == 0 {
			return 0, 1, 0
		}
	}
	return r, x / r, y / r
}
