package linalg

import (
	"context"
	"errors"
	"math"

	"github.com/cairnml/cairn/engine"
)

// errPositive is TensorFlow's error for a matrix that isn't positive definite.
var errPositive = errors.New("the Cholesky decomposition was not successful: the input is not positive definite")

// cholesky reads the lower triangles only. The factor of a matrix that isn't
// positive definite is a triangle of NaN, as in TensorFlow. It is the kernel of
// Cholesky and BatchCholesky. The triangle above the diagonal of the result is
// zero.
func cholesky[T scalar](c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input[T](c, 0, true)
	if err != nil {
		return err
	}
	n := b.rows
	out := newResult[T](c, b.outer, n, n)
	err = each(c, b.len(), cube(n)/3, func(ctx context.Context, i int) error {
		m := b.at(i)
		positive, err := triangle(ctx, m)
		for r := range n {
			row := m.row(r)
			clear(row[r+1:])
			for k := range row[:r+1] {
				if !positive {
					row[k] = asScalar[T](math.NaN())
				}
			}
		}
		out.put(i, m.v)
		return err
	})
	if err != nil {
		return err
	}
	return out.setOutput(c, 0)
}

// triangle overwrites the lower triangle of a matrix with its Cholesky factor.
// It reports whether the matrix is positive definite.
func triangle[T scalar](ctx context.Context, m matrix[T]) (positive bool, err error) {
	n := m.rows
	right := make([]T, block*n) // the adjoint of a block's rows
	below := make([]T, block*n) // the columns of a block, below its diagonal
	for from := 0; from < n; from += block {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		to := min(from+block, n)
		for j := range from {
			for k := from; k < to; k++ {
				right[j*block+k-from] = conj(m.v[k*n+j])
			}
		}
		addProduct(m.v[from*n+from:], n, m.v[from*n:], n, right, block, n-from, to-from, from, -1)
		for j := from; j < to; j++ {
			known := append([]T(nil), m.row(j)[from:j]...)
			d := realOf(m.v[j*n+j]) - norm2(known)
			// NaN isn't refused: it goes through to the factor
			if d <= 0 {
				return false, nil
			}
			d = math.Sqrt(d)
			m.v[j*n+j] = asScalar[T](d)
			conjugate(known)
			for r := j + 1; r < to; r++ {
				m.v[r*n+j] = (m.v[r*n+j] - dot(m.row(r)[from:j], known)) / asScalar[T](d)
			}
		}
		solveBelow(m, from, to, below[:(to-from)*(n-to)])
	}
	return true, nil
}

// solveBelow computes the columns of a block in the rows below it. It solves x·l* = b.
// The matrix l is the triangle of the block, and b has the elements of the rows. The
// solution x replaces b. The argument columns is working memory of the size of x.
func solveBelow[T scalar](m matrix[T], from, to int, columns []T) {
	n, rows := m.cols, m.rows-to
	for r := range rows {
		for j, x := range m.row(to + r)[from:to] {
			columns[j*rows+r] = x
		}
	}
	for j := range to - from {
		column, known := columns[j*rows:][:rows], m.row(from + j)[from:]
		for k, x := range known[:j] {
			addScaled(column, -conj(x), columns[k*rows:][:rows])
		}
		d := m.v[(from+j)*n+from+j]
		for r, x := range column {
			column[r] = x / d
		}
	}
	for r := range rows {
		for j := range to - from {
			m.v[(to+r)*n+from+j] = columns[j*rows+r]
		}
	}
}
