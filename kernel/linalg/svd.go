package linalg

import (
	"context"
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
)

// bidiagonal reduces a matrix with at least as many rows as columns to one with
// two real diagonals: d, and e above it. m = q·b·p*; q and p are products of
// reflections. Each step visits every row twice. The first visit ends the last
// step's reflection of the columns and sums for the reflection of the rows. The
// second one reflects the rows and sums for the columns.
func bidiagonal[T scalar](ctx context.Context, m matrix[T]) (d, e []float64, q, p *reflections[T], err error) {
	n := m.cols
	d, e, q, p = make([]float64, n), make([]float64, n), new(reflections[T]), new(reflections[T])
	sums := make([]T, n)
	var axis []T                   // the adjoint of the last reflection of the columns
	multiples := make([]T, m.rows) // the multiple of sum that is added to each row
	parts := make([]T, m.rows)     // the multiple of axis that is added to each row
	for k := range n {
		if err := ctx.Err(); err != nil {
			return nil, nil, nil, nil, err
		}
		x := make([]T, m.rows-k)
		for i := range x {
			x[i] = m.v[(k+i)*n+k]
			if axis != nil {
				x[i] += parts[k+i] * axis[0]
			}
		}
		d[k] = q.add(x)
		if k+1 == n {
			break
		}
		sum := sums[k+1:]
		clear(sum)
		if axis == nil {
			for i, z := range x {
				axpy(sum, conj(z), m.row(i)[1:])
			}
		} else {
			addAndSum(m.v[k*n+k+1:], n, parts[k:], axis[1:], x, sum)
		}
		across := conj(q.taus[k])
		axpy(m.row(k)[k+1:], -across*x[0], sum)
		y := slices.Clone(m.row(k)[k+1:])
		conjugate(y)
		e[k] = p.add(y)
		tau := p.taus[k]
		axis = conjugated(y)
		for i, z := range x[1:] {
			multiples[i] = -across * z
		}
		addAndDot(m.v[(k+1)*n+k+1:], n, multiples[:len(x)-1], sum, y, parts[k+1:])
		for i, z := range parts[k+1:] {
			parts[k+1+i] = -tau * z
		}
	}
	return d, e, q, p, nil
}

// singular decomposes a matrix with at least as many rows as columns to u·s·v*,
// with falling values s. It returns vᵀ, and uᵀ with so many rows, or neither if
// rows is 0. If the matrix has infinities or NaN, or the steps don't converge,
// all results are NaN.
func singular[T scalar](ctx context.Context, m matrix[T], rows int) (s []float64, u, v matrix[T], err error) {
	n := m.cols
	size := scaled(m)
	s, e, q, p, err := bidiagonal(ctx, m)
	if err != nil {
		return nil, u, v, err
	}
	if rows > 0 {
		u, v = q.transposed(ctx, rows, m.rows), p.transposed(ctx, n, n)
	}
	it := &bidiagonals{s: s, e: e, u: rotated{m: reals(u.v)}, v: rotated{m: reals(v.v)}}
	if n > 0 && rows > 0 {
		it.u.width, it.v.width = len(it.u.m)/rows, len(it.v.m)/n
	}
	found, err := it.run(ctx)
	if err != nil {
		return nil, u, v, err
	}
	if !found {
		for _, x := range [][]float64{s, reals(u.v), reals(v.v)} {
			for i := range x {
				x[i] = math.NaN()
			}
		}
		return s, u, v, nil
	}
	for i := range s {
		s[i] *= size
	}
	sortRows(s, true, u, v)
	return s, u, v, nil
}

// svd computes Svd and BatchSvd. It returns the singular values [...,
// p] in falling order and, with compute_uv, u [..., rows, p] and v [..., cols,
// p]; p is the smaller size, or the full one with full_matrices. The signs of
// vectors aren't unique and may differ from TensorFlow's.
func svd[T scalar](c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input[T](c, 0, false)
	if err != nil {
		return err
	}
	p := min(b.rows, b.cols)
	nu, nv := p, p
	if c.Attrs().Bool("full_matrices") {
		nu, nv = b.rows, b.cols
	}
	with := c.Attrs().Bool("compute_uv")
	ss, us, vs := newResult[T](c, b.outer, p), newResult[T](c, nil, 0), newResult[T](c, nil, 0)
	if with {
		us, vs = newResult[T](c, b.outer, b.rows, nu), newResult[T](c, b.outer, b.cols, nv)
	}
	err = each(c, b.len(), 8*cube(max(b.rows, b.cols)), func(ctx context.Context, i int) error {
		m, rows, wide := b.at(i), nu, b.rows < b.cols
		if wide {
			m, rows = m.adjoint(), nv
		}
		if !with {
			rows = 0
		}
		s, u, v, err := singular(ctx, m, rows)
		if err != nil {
			return err
		}
		if wide {
			u, v = v, u
		}
		for k, x := range s {
			ss.v[i*p+k] = asScalar[T](x)
		}
		if with {
			us.putTransposed(i, u)
			vs.putTransposed(i, v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, r := range []*result[T]{ss, us, vs} {
		if err := r.setOutput(c, i); err != nil {
			return err
		}
	}
	return nil
}
