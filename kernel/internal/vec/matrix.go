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

// RotationsTwice makes the rotations of first from the row after r's first one on, and then those of
// second from r's first row on; see [simd.Rows]. There are as many of both.
func RotationsTwice(v []float64, r simd.Rows, first, second []float64) {
	if simd.RotationsTwice(v, r, first, second) {
		return
	}
	next := r
	next.At += r.Step
	Rotations(v, next, first)
	Rotations(v, r, second)
}

// UpdateAndSum adds a[r] times x to row r of v, and then z[r] times that row to sum, for all rows in
// turn. A row begins stride elements after the one before.
func UpdateAndSum(v []float64, stride int, a, x, z, sum []float64) {
	for len(a) >= 4 {
		first := simd.UpdateAndSum(v, stride, (*[4]float64)(a), x, (*[4]float64)(z), sum)
		for r := range 4 {
			updateAndSum(v[r*stride+first:], a[r], x[first:], z[r], sum[first:])
		}
		if a, z = a[4:], z[4:]; len(a) > 0 {
			v = v[4*stride:]
		}
	}
	for r := range a {
		updateAndSum(v[r*stride:], a[r], x, z[r], sum)
	}
}

func updateAndSum(row []float64, a float64, x []float64, z float64, sum []float64) {
	if len(x) > 0 {
		row = row[:len(x)]
		AddScaled(row, x, a)
		AddScaled(sum, row, z)
	}
}

// UpdateAndDot adds a[r] times x to row r of v, and sets dots[r] to the product of that row and y, for
// all rows. A row begins stride elements after the one before.
func UpdateAndDot(v []float64, stride int, a, x, y, dots []float64) {
	for len(a) >= 4 {
		var sums [4][8]float64
		first := simd.UpdateAndDot(v, stride, (*[4]float64)(a), x, y, &sums)
		for r := range 4 {
			if first == 0 {
				dots[r] = updateAndDot(v[r*stride:], a[r], x, y)
				continue
			}
			p := &sums[r]
			s := ((p[0] + p[4]) + (p[1] + p[5])) + ((p[2] + p[6]) + (p[3] + p[7]))
			row := v[r*stride:][:len(x)]
			for i := first; i < len(x); i++ {
				row[i] += float64(a[r] * x[i])
				s += float64(row[i] * y[i])
			}
			dots[r] = s
		}
		if a, dots = a[4:], dots[4:]; len(a) > 0 {
			v = v[4*stride:]
		}
	}
	for r := range a {
		dots[r] = updateAndDot(v[r*stride:], a[r], x, y)
	}
}

func updateAndDot(row []float64, a float64, x, y []float64) float64 {
	row = row[:len(x)]
	AddScaled(row, x, a)
	return Dot(row, y)
}
