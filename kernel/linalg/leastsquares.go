package linalg

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// solveLs solves least-squares problems: by the normal equations, with a term
// that keeps the solution small, or by the pseudoinverse if the attribute fast
// is false. It is the kernel of MatrixSolveLs and BatchMatrixSolveLs. Inputs
// are matrices [..., rows, cols], right-hand sides [..., rows, k] and the
// regularizer, which counts with fast only.
func solveLs[T scalar](c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	b, err := input[T](c, 0, false)
	if err != nil {
		return err
	}
	rhs, err := input[T](c, 1, false)
	if err != nil {
		return err
	}
	if c.In(0).DType() != c.In(1).DType() || !b.outer.Equal(rhs.outer) || rhs.rows != b.rows {
		return fmt.Errorf("matrices %v%v don't fit the right sides %v%v", c.In(0).DType(), c.In(0).Shape(), c.In(1).DType(), c.In(1).Shape())
	}
	if c.In(2).DType() != tensor.Float64 || len(c.In(2).Shape()) != 0 {
		return fmt.Errorf("the regularizer is %v%v, not a scalar of float64", c.In(2).DType(), c.In(2).Shape())
	}
	small := tensor.Values[float64](c.In(2))[0]
	if !(small >= 0) {
		return fmt.Errorf("the regularizer is %v, below 0", small)
	}
	fast := !c.Attrs().Has("fast") || c.Attrs().Bool("fast")
	out := newResult[T](c, b.outer, b.cols, rhs.cols)
	err = each(c, b.len(), 20*cube(max(b.rows, b.cols)), func(ctx context.Context, i int) error {
		m, y := b.at(i), rhs.at(i)
		if m.rows == 0 || m.cols == 0 {
			return nil
		}
		var x matrix[T]
		var err error
		if fast {
			x, err = normal(ctx, m, y, small)
		} else {
			x, err = pseudo(ctx, m, y)
		}
		if err == nil {
			out.put(i, x.v)
		}
		return err
	})
	if err != nil {
		return err
	}
	return out.setOutput(c, 0)
}

// normal solves the normal equations, of the first or the second kind. m has
// full rank; a singular system is an error. The first kind is for at least as
// many rows as columns.
func normal[T scalar](ctx context.Context, m, y matrix[T], small float64) (matrix[T], error) {
	adjoint := m.adjoint()
	gram := func(a, b matrix[T]) matrix[T] {
		g := product(ctx, a, b)
		for i := range g.rows {
			g.v[i*g.cols+i] += asScalar[T](small)
		}
		return g
	}
	if m.rows >= m.cols {
		return solved(ctx, gram(adjoint, m), product(ctx, adjoint, y))
	}
	x, err := solved(ctx, gram(m, adjoint), y)
	if err != nil {
		return x, err
	}
	return product(ctx, adjoint, x), nil
}

// pseudo returns the smallest of the solutions with the least squares.
func pseudo[T scalar](ctx context.Context, m, y matrix[T]) (matrix[T], error) {
	wide := m.rows < m.cols
	a, rows := m, m.cols
	if wide {
		a, rows = m.adjoint(), m.rows
	}
	s, u, v, err := singular(ctx, a, rows)
	if err != nil {
		return y, err
	}
	if wide {
		u, v = v, u
	}
	conjugate(u.v)
	x := product(ctx, u, y)
	for k, z := range s {
		for j := range x.row(k) {
			if z > s[0]*0x1p-52*float64(max(m.rows, m.cols)) {
				x.row(k)[j] /= asScalar[T](z)
			} else {
				x.row(k)[j] = 0
			}
		}
	}
	return product(ctx, v.transpose(), x), nil
}
