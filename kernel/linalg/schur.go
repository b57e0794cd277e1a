package linalg

import (
	"context"
	"errors"
	"math"
	"math/cmplx"
)

// The Schur decomposition, for eig.go and functions.go.

// errSchur is the error for numbers that aren't finite.
var errSchur = errors.New("the eigenvalues were not found: the input holds infinities or NaN")

// schur decomposes a square matrix to q·t·q*; t is upper triangular.
// Reflections reduce the matrix to Hessenberg form, and QR steps with shifts
// reduce that to a triangle.
func schur(ctx context.Context, m matrix[complex128]) (q, t matrix[complex128], err error) {
	n := m.rows
	t, q = m, identity[complex128](n)
	for k := 0; k+2 < n; k++ {
		if err := ctx.Err(); err != nil {
			return q, t, err
		}
		reflect(t, q, k)
	}
	end, steps := n-1, 0
	for end > 0 {
		l := end
		for ; l > 0; l-- {
			size := abs1(t.v[(l-1)*n+l-1]) + abs1(t.v[l*n+l])
			if !(abs1(t.v[l*n+l-1]) > 0x1p-52*size) {
				t.v[l*n+l-1] = 0
				break
			}
		}
		if l == end {
			end, steps = end-1, 0
			continue
		}
		if steps++; steps > 30*n {
			return q, t, errSchur
		}
		if err := ctx.Err(); err != nil {
			return q, t, err
		}
		shift := wilkinson(t, end)
		if steps%10 == 0 { // a shift that ends a cycle
			shift = complex(abs1(t.v[end*n+end-1])+abs1(t.v[(l+1)*n+l]), 0)
		}
		rotate(t, q, l, end, shift)
	}
	for i, z := range t.v {
		if cmplx.IsNaN(z) || cmplx.IsInf(z) {
			return q, t, errSchur
		}
		if i%n < i/n {
			t.v[i] = 0
		}
	}
	return q, t, nil
}

// abs1 returns a magnitude of z that needs no root.
func abs1(z complex128) float64 { return math.Abs(real(z)) + math.Abs(imag(z)) }

// reflect makes the elements below the subdiagonal of column k zero.
func reflect(t, q matrix[complex128], k int) {
	n := t.rows
	norm := 0.0
	for i := k + 1; i < n; i++ {
		norm = math.Hypot(norm, cmplx.Abs(t.v[i*n+k]))
	}
	first := t.v[(k+1)*n+k]
	if norm == 0 {
		return
	}
	phase := complex128(1)
	if first != 0 {
		phase = first / complex(cmplx.Abs(first), 0)
	}
	v := make([]complex128, n)
	square := 0.0
	for i := k + 1; i < n; i++ {
		v[i] = t.v[i*n+k]
	}
	v[k+1] += phase * complex(norm, 0)
	for _, z := range v {
		square += real(z)*real(z) + imag(z)*imag(z)
	}
	for j := range n { // rows: (1 - 2vv*) t
		sum := complex128(0)
		for i := k + 1; i < n; i++ {
			sum += cmplx.Conj(v[i]) * t.v[i*n+j]
		}
		sum *= complex(2/square, 0)
		for i := k + 1; i < n; i++ {
			t.v[i*n+j] -= v[i] * sum
		}
	}
	for _, m := range []matrix[complex128]{t, q} { // columns
		for i := range n {
			row := m.row(i)
			sum := complex128(0)
			for j := k + 1; j < n; j++ {
				sum += row[j] * v[j]
			}
			sum *= complex(2/square, 0)
			for j := k + 1; j < n; j++ {
				row[j] -= sum * cmplx.Conj(v[j])
			}
		}
	}
}

// wilkinson returns an eigenvalue of the 2×2 matrix that ends at an index: the
// one that is nearer to its last element.
func wilkinson(t matrix[complex128], end int) complex128 {
	n := t.rows
	a, b := t.v[(end-1)*n+end-1], t.v[(end-1)*n+end]
	c, d := t.v[end*n+end-1], t.v[end*n+end]
	half := (a - d) / 2
	root := cmplx.Sqrt(half*half + b*c)
	if cmplx.Abs(half+root) < cmplx.Abs(half-root) {
		root = -root
	}
	if half+root == 0 {
		return d
	}
	return d - b*c/(half+root)
}

// rotate does a QR step of the part of t from l to end, by rotations.
func rotate(t, q matrix[complex128], l, end int, shift complex128) {
	n := t.rows
	x, y := t.v[l*n+l]-shift, t.v[(l+1)*n+l]
	for k := l; k < end; k++ {
		r := math.Hypot(cmplx.Abs(x), cmplx.Abs(y))
		if r > 0 {
			c, s := x/complex(r, 0), y/complex(r, 0)
			a, b := t.row(k), t.row(k+1)
			for j := max(k-1, 0); j < n; j++ {
				u, w := a[j], b[j]
				a[j] = cmplx.Conj(c)*u + cmplx.Conj(s)*w
				b[j] = c*w - s*u
			}
			for _, m := range []matrix[complex128]{t, q} {
				rows := n
				if &m.v[0] == &t.v[0] {
					rows = min(k+3, end+1)
				}
				for i := range rows {
					row := m.row(i)
					u, w := row[k], row[k+1]
					row[k] = u*c + w*s
					row[k+1] = w*cmplx.Conj(c) - u*cmplx.Conj(s)
				}
			}
		}
		if k+2 <= end {
			x, y = t.v[(k+1)*n+k], t.v[(k+2)*n+k]
		}
	}
}
