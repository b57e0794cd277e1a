package linalg

import (
	"context"

	"github.com/cairnml/cairn/engine"
)

// The kernel of Qr, and reflections from the left. The signs of the factors are
// Eigen's and must stay.

// householder reduces m to an upper triangle by reflections with the signs of
// Eigen's: each diagonal element has the opposite sign of the element before
// the reflection.
func householder[T scalar](ctx context.Context, m matrix[T]) (*reflections[T], error) {
	all, sums := new(reflections[T]), make([]T, m.cols)
	for k := range min(m.rows, m.cols) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x := make([]T, m.rows-k)
		for i := range x {
			x[i] = m.v[(k+i)*m.cols+k]
			m.v[(k+i)*m.cols+k] = 0
		}
		m.v[k*m.cols+k] = asScalar[T](all.add(x))
		reflectRows(m, k, k+1, x, conj(all.taus[k]), sums)
	}
	return all, nil
}

// reflectRows multiplies m, from a row and a column on, by 1 - tau·v·v* from
// the left. sums is scratch memory.
func reflectRows[T scalar](m matrix[T], row, col int, v []T, tau T, sums []T) {
	if tau == 0 || col >= m.cols {
		return
	}
	sums = sums[col:m.cols]
	clear(sums)
	for i, z := range v {
		axpy(sums, conj(z), m.row(row + i)[col:])
	}
	for i, z := range v {
		axpy(m.row(row + i)[col:], -tau*z, sums)
	}
}

// qr returns q [..., rows, p] and r [..., p, cols]; p is rows with
// full_matrices, else the smaller size.
func qr[T scalar](c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input[T](c, 0, false)
	if err != nil {
		return err
	}
	p := min(b.rows, b.cols)
	if c.Attrs().Bool("full_matrices") {
		p = b.rows
	}
	qs, rs := newResult[T](c, b.outer, b.rows, p), newResult[T](c, b.outer, p, b.cols)
	err = each(c, b.len(), cube(max(b.rows, b.cols)), func(ctx context.Context, i int) error {
		m := b.at(i)
		all, err := householder(ctx, m)
		if err != nil {
			return err
		}
		qs.putTransposed(i, all.transposed(ctx, p, b.rows))
		rs.put(i, m.v[:p*b.cols])
		return nil
	})
	if err != nil {
		return err
	}
	if err := qs.setOutput(c, 0); err != nil {
		return err
	}
	return rs.setOutput(c, 1)
}
