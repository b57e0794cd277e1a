package linalg

import (
	"context"
	"math"
)

// Householder reflections for qr.go, eigen.go and svd.go.

// reflections are the matrices 1 - tau·v·v*, whose product decomposes a matrix.
// A vector begins with 1, at its first row, and all vectors end at the last
// row.
type reflections[T scalar] struct {
	vectors [][]T
	taus    []T
}

// reflection returns the reflection whose adjoint maps a vector to beta times
// its first axis, as in LAPACK: beta is real, with the opposite sign of the
// vector's first element. The vector becomes the reflection's.
func reflection[T scalar](x []T) (beta float64, tau T) {
	tail, first := norm2(x[1:]), x[0]
	re := realOf(first)
	x[0] = 1
	if tail == 0 && first == asScalar[T](re) {
		return re, 0
	}
	beta = math.Sqrt(norm2([]T{first}) + tail)
	if re >= 0 {
		beta = -beta
	}
	scale(x[1:], 1/(first-asScalar[T](beta)))
	return beta, (asScalar[T](beta) - first) / asScalar[T](beta)
}

// add adds the reflection of a vector, and returns its beta.
func (r *reflections[T]) add(x []T) float64 {
	beta, tau := reflection(x)
	r.vectors, r.taus = append(r.vectors, x), append(r.taus, tau)
	return beta
}

// transposed returns the transpose of the first rows columns of the
// reflections' product: rows rows of n elements. It returns early if ctx ends.
func (r *reflections[T]) transposed(ctx context.Context, rows, n int) matrix[T] {
	w := newMatrix[T](rows, n)
	for i := range min(rows, n) {
		w.v[i*n+i] = 1
	}
	if len(r.vectors) == 0 {
		return w
	}
	size := min(block, len(r.vectors))
	mem := &room[T]{v: make([]T, size*n), adjoint: make([]T, size*n), part: make([]T, size*rows), next: make([]T, size*rows)}
	for end := len(r.vectors); end > 0 && ctx.Err() == nil; end -= min(end, block) {
		r.apply(w, max(0, end-block), end, mem)
	}
	return w
}

// room is memory for the products of a block of reflections.
type room[T scalar] struct{ v, adjoint, part, next []T }

// apply multiplies the rows of w by the transposes of some reflections, the last first.
func (r *reflections[T]) apply(w matrix[T], begin, end int, mem *room[T]) {
	n, size := w.cols, end-begin
	first := n - len(r.vectors[begin]) // the first column of the longest vector
	rows, width := w.rows-first, n-first
	if rows <= 0 {
		return
	}
	// Their product is 1 - v·t·v* with an upper triangle t; its transpose is 1
	// - conj(v)·tᵀ·vᵀ.
	v, vc := matrix[T]{size, width, mem.v[:size*width]}, mem.adjoint[:size*width]
	clear(v.v)
	clear(vc)
	for k := range size {
		x := r.vectors[begin+k]
		copy(v.row(k)[width-len(x):], x)
		for j, z := range x {
			vc[(width-len(x)+j)*size+k] = conj(z)
		}
	}
	gram := newMatrix[T](size, size) // element k, j is the product of vector j's conjugate and vector k
	addProduct(gram.v, size, v.v, width, vc, size, size, size, width, 1)
	t := newMatrix[T](size, size) // the transpose of the triangle, which is lower
	for k := range size {
		tau := r.taus[begin+k]
		t.v[k*size+k] = tau
		for i := range k { // t[k, i] = -tau Σ t[j, i]·(vector j*·vector k)
			sum := T(0)
			for j := i; j < k; j++ {
				sum += t.v[j*size+i] * gram.v[k*size+j]
			}
			t.v[k*size+i] = -tau * sum
		}
	}
	part, next := mem.part[:rows*size], mem.next[:rows*size]
	clear(part)
	clear(next)
	addProduct(part, size, w.v[first*n+first:], n, vc, size, rows, size, width, 1)
	addProduct(next, size, part, size, t.v, size, rows, size, size, 1)
	addProduct(w.v[first*n+first:], n, next, size, v.v, width, rows, width, size, -1)
}
