package linalg

import (
	"context"
	"errors"
)

// LU factors and triangular matrices, which solve.go, determinant.go, exponential.go and
// others use.

// errSingular is the error for a singular matrix.
var errSingular = errors.New("the input is not invertible")

// block is the number of rows or columns that are computed one by one, before a
// product of matrices updates the rest.
const block = 32

// factorize overwrites a square matrix with its factors: the unit lower one
// below the diagonal, the upper one on and above it. order has the matrix's row
// of each row of the factors, swaps the number of swapped rows. The pivot of a
// column is its largest element.
func factorize[T scalar](ctx context.Context, m matrix[T]) (order []int, swaps int, singular bool, err error) {
	n := m.rows
	order = make([]int, n)
	for i := range order {
		order[i] = i
	}
	for from := 0; from < n; from += block {
		if err := ctx.Err(); err != nil {
			return nil, 0, false, err
		}
		to := min(from+block, n)
		for k := from; k < to; k++ {
			p, largest := k, magnitude(m.v[k*n+k])
			for i := k + 1; i < n; i++ {
				if a := magnitude(m.v[i*n+k]); a > largest {
					p, largest = i, a
				}
			}
			if p != k {
				a, b := m.row(p), m.row(k)
				for j := range a {
					a[j], b[j] = b[j], a[j]
				}
				order[p], order[k] = order[k], order[p]
				swaps++
			}
			pivot := m.v[k*n+k]
			if pivot == 0 {
				singular = true
				continue
			}
			for i := k + 1; i < n; i++ {
				f := m.v[i*n+k] / pivot
				m.v[i*n+k] = f
				axpy(m.row(i)[k+1:to], -f, m.row(k)[k+1:to])
			}
		}
		if to == n {
			break
		}
		for k := from + 1; k < to; k++ {
			for j := from; j < k; j++ {
				axpy(m.row(k)[to:], -m.v[k*n+j], m.row(j)[to:])
			}
		}
		addProduct(m.v[to*n+to:], n, m.v[to*n+from:], n, m.v[from*n+to:], n, n-to, n-to, to-from, -1)
	}
	return order, swaps, singular, nil
}

// invertible overwrites a square matrix with its factors, and returns the
// matrix's row of each of their rows. A singular matrix is an error.
func invertible[T scalar](ctx context.Context, m matrix[T]) (order []int, err error) {
	order, _, singular, err := factorize(ctx, m)
	if err == nil && singular {
		err = errSingular
	}
	return order, err
}

// solved returns the solution of m·x = rhs; m is overwritten.
func solved[T scalar](ctx context.Context, m, rhs matrix[T]) (matrix[T], error) {
	x := newMatrix[T](rhs.rows, rhs.cols)
	return x, solveTo(ctx, x, m, rhs)
}

// solveTo sets x to the solution of m·x = rhs; m is overwritten.
func solveTo[T scalar](ctx context.Context, x, m, rhs matrix[T]) error {
	order, err := invertible(ctx, m)
	if err != nil {
		return err
	}
	for i, from := range order {
		copy(x.row(i), rhs.row(from))
	}
	return unfactorize(ctx, m, x)
}

// unfactorize solves with both factors of m, in place.
func unfactorize[T scalar](ctx context.Context, m, x matrix[T]) error {
	if err := substitute(ctx, m, x, true, true); err != nil {
		return err
	}
	return substitute(ctx, m, x, false, false)
}

// substitute solves with the lower or the upper triangle of m, in place. If unit is set, the
// diagonal is taken as ones.
func substitute[T scalar](ctx context.Context, m, x matrix[T], lower, unit bool) error {
	n := m.rows
	for done := 0; done < n; done += block {
		if err := ctx.Err(); err != nil {
			return err
		}
		size := min(block, n-done)
		first, known := done, 0 // first row of the block, and first of the known rows
		if !lower {
			first = n - done - size
			known = first + size
		}
		addProduct(x.v[first*x.cols:], x.cols, m.v[first*n+known:], n, x.v[min(known, n-1)*x.cols:], x.cols, size, x.cols, done, -1)
		for k := range size {
			i, from := first+k, first
			to := i
			if !lower {
				i = first + size - 1 - k
				from, to = i+1, first+size
			}
			for j := from; j < to; j++ {
				axpy(x.row(i), -m.v[i*n+j], x.row(j))
			}
			if !unit {
				d := m.v[i*n+i]
				for j := range x.row(i) {
					x.row(i)[j] /= d
				}
			}
		}
	}
	return nil
}
