package vec

import "github.com/cairnml/cairn/kernel/internal/simd"

// AddScaled computes dst += a * x. kernel/linalg uses it and the functions below.
func AddScaled[T Float](dst, a []T, x T) {
	a = a[:len(dst)]
	n := simd.AddScaled(dst, a, x)
	dst, a = dst[n:], a[n:]
	for i, v := range a {
		dst[i] += T(v * x)
	}
}

// Dot returns the sum of the products of elements, in eight interleaved partial sums.
func Dot[T Float](a, b []T) T {
	b = b[:len(a)]
	var p [8]T
	n := simd.Dot(&p, a, b)
	a, b = a[n:], b[n:]
	if n == 0 {
		for ; len(a) >= 8; a, b = a[8:], b[8:] {
			x, y := a[:8:8], b[:8:8]
			for k := range p {
				p[k] += T(x[k] * y[k])
			}
		}
	}
	s := ((p[0] + p[4]) + (p[1] + p[5])) + ((p[2] + p[6]) + (p[3] + p[7]))
	for i, v := range a {
		s += T(v * b[i])
	}
	return s
}

// Rotations rotates rows of v, each with the next; see [simd.Rows].
func Rotations(v []float64, r simd.Rows, turns []float64) {
	first := simd.Rotations(v, r, turns)
	if first == r.Width {
		return
	}
	width := r.Width - first
	for k, at := 0, r.At+first; k < len(turns); k, at = k+2, at+r.Step {
		c, s := turns[k], turns[k+1]
		a, b := v[at:][:width], v[at+r.Step:][:width]
		for j, x := range a {
			y := b[j]
			a[j] = float64(c*x) + float64(s*y)
			b[j] = float64(c*y) - float64(s*x)
		}
	}
}
