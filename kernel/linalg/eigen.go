package linalg

import (
	"context"
	"errors"
	"math"
	"slices"
)

// Eigenvalues of self-adjoint matrices, for eigenkernels.go; svd.go uses some
// functions.

// tridiagonal reduces a self-adjoint matrix, of which it reads the lower
// triangle, to one with three real diagonals: m = q·t·q*; q is the product of
// reflections.
func tridiagonal[T scalar](ctx context.Context, m matrix[T]) (diagonal, beside []float64, q *reflections[T], err error) {
	n := m.rows
	for i := range n {
		m.v[i*n+i] = asScalar[T](realOf(m.v[i*n+i]))
		for j := range i {
			m.v[j*n+i] = conj(m.v[i*n+j])
		}
	}
	q = new(reflections[T])
	beside = make([]float64, n)
	w := make([]T, n)
	for k := range max(n-1, 0) {
		if err := ctx.Err(); err != nil {
			return nil, nil, nil, err
		}
		v := append([]T(nil), m.row(k)[k+1:]...)
		conjugate(v)
		beside[k] = q.add(v)
		tau := q.taus[k]
		if tau == 0 {
			continue
		}
		w := w[k+1:]
		for i := range w {
			w[i] = tau * dot(m.row(k + 1 + i)[k+1:], v)
		}
		conjugate(w)
		axpy(w, -tau*dot(w, v)/2, conjugated(v)) // its conjugate is w - (tau w*·v/2) v
		vc := conjugated(v)
		for i := range w { // m -= v·w* + w·v*
			row := m.row(k + 1 + i)[k+1:]
			axpy(row, -v[i], w)
			axpy(row, -conj(w[i]), vc)
		}
	}
	diagonal = make([]float64, n)
	for i := range n {
		diagonal[i] = realOf(m.v[i*n+i])
	}
	return diagonal, beside, q, nil
}

// conjugated returns the conjugates of x.
func conjugated[T scalar](x []T) []T {
	if _, ok := any(x).([]float64); ok {
		return x
	}
	x = slices.Clone(x)
	conjugate(x)
	return x
}

// errNoEigenvalues is the error for a self-adjoint matrix without eigenvalues.
var errNoEigenvalues = errors.New("the self-adjoint matrix has no eigenvalues; it has infinities or NaN, or the iteration doesn't converge")

// hermitian returns the eigenvalues of a self-adjoint matrix in rising order,
// and if with is set the eigenvectors as rows. It reads the lower triangle
// only. If the matrix has infinities or NaN and more than one row, or the steps don't converge, it
// returns errNoEigenvalues.
func hermitian[T scalar](ctx context.Context, m matrix[T], with bool) ([]float64, matrix[T], error) {
	n := m.rows
	if n == 1 {
		value := realOf(m.v[0])
		m.v[0] = 1
		return []float64{value}, m, nil
	}
	size := scaled(m)
	d, e, q, err := tridiagonal(ctx, m)
	if err != nil {
		return nil, m, err
	}
	var vectors matrix[T]
	if with {
		vectors = q.transposed(ctx, n, n)
	}
	found, err := diagonalize(ctx, d, e, reals(vectors.v))
	if err != nil {
		return nil, m, err
	}
	if !found {
		return nil, m, errNoEigenvalues
	}
	for i := range d {
		d[i] *= size
	}
	sortRows(d, false, vectors)
	return d, vectors, nil
}

// sortRows sorts numbers, and the rows of matrices that aren't empty with them.
func sortRows[T scalar](values []float64, falling bool, ms ...matrix[T]) {
	for i := range values {
		first := i
		for j := i + 1; j < len(values); j++ {
			if values[j] < values[first] != falling && values[j] != values[first] {
				first = j
			}
		}
		if first == i {
			continue
		}
		values[i], values[first] = values[first], values[i]
		for _, m := range ms {
			if m.rows == 0 {
				continue
			}
			a, b := m.row(i), m.row(first)
			for k := range a {
				a[k], b[k] = b[k], a[k]
			}
		}
	}
}

// scaled divides a matrix by a power of two, which it returns, if squares of
// its numbers would overflow or underflow.
func scaled[T scalar](m matrix[T]) float64 {
	largest := 0.0
	for _, x := range reals(m.v) {
		largest = max(largest, math.Abs(x))
	}
	if largest > 0x1p-400 && largest < 0x1p400 || largest == 0 || math.IsNaN(largest) || math.IsInf(largest, 0) {
		return 1
	}
	_, exponent := math.Frexp(largest)
	exponent = max(exponent, -1000)
	for i, x := range reals(m.v) {
		reals(m.v)[i] = math.Ldexp(x, -exponent)
	}
	return math.Ldexp(1, exponent)
}

// steps is the largest number of steps of an iteration for a value. The number is Cairn's.
const steps = 60

// diagonalize reduces a matrix of three diagonals, d and e on both sides of it,
// to a diagonal one, by QL steps with shifts. It rotates the rows of vectors,
// too, and reports whether the steps converged.
func diagonalize(ctx context.Context, d, e, vectors []float64) (found bool, err error) {
	n := len(d)
	rows := rotated{m: vectors}
	if n > 0 {
		rows.width = len(vectors) / n
	}
	for l := range n {
		for step := 0; ; step++ {
			m := l
			for ; m < n-1; m++ {
				if size := math.Abs(d[m]) + math.Abs(d[m+1]); math.Abs(e[m]) <= 0x1p-53*size {
					break
				}
			}
			if m == l {
				break
			}
			if step == steps {
				return false, nil
			}
			if err := ctx.Err(); err != nil {
				return false, err
			}
			rows.sweep(m, -1, sweep(d, e, l, m, rows.memory()))
		}
		if math.IsNaN(d[l]) || math.IsInf(d[l], 0) {
			return false, nil
		}
	}
	rows.finish()
	return true, nil
}

// sweep does a QL step of the part from l to m. It returns the rotations, each
// of a row and the one above it.
func sweep(d, e []float64, l, m int, turns []float64) []float64 {
	g := (d[l+1] - d[l]) / (2 * e[l])
	r := math.Hypot(g, 1)
	g = d[m] - d[l] + e[l]/(g+math.Copysign(r, g))
	s, c, p := 1.0, 1.0, 0.0
	for i := m - 1; i >= l; i-- {
		f, b := s*e[i], c*e[i]
		r = math.Hypot(f, g)
		e[i+1] = r
		if r == 0 { // the matrix has split into two parts
			d[i+1] -= p
			e[m] = 0
			return turns
		}
		s, c = f/r, g/r
		g = d[i+1] - p
		r = (d[i]-g)*s + 2*c*b
		p = s * r
		d[i+1] = g + p
		g = c*r - b
		turns = append(turns, c, s)
	}
	d[l] -= p
	e[l], e[m] = g, 0
	return turns
}
