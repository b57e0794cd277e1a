package linalg

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/engine"
)

// tridiagonalMatMul multiplies matrices of three diagonals by others. It
// ignores the last element of the upper diagonal and the first of the lower
// one. It is the kernel of TridiagonalMatMul. Diagonals are [..., 1, n], the
// upper one first, and the matrices [..., n, k].
func tridiagonalMatMul[T scalar](c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	var diagonals [3]batch[T]
	for k := range diagonals {
		b, err := input[T](c, k, false)
		if err != nil {
			return err
		}
		diagonals[k] = b
	}
	rhs, err := input[T](c, 3, false)
	if err != nil {
		return err
	}
	for k, d := range diagonals {
		if c.In(k).DType() != c.In(3).DType() || d.rows != 1 || d.cols != rhs.rows || !d.outer.Equal(rhs.outer) {
			return fmt.Errorf("diagonal %d of shape %v doesn't fit the right sides of shape %v", k, c.In(k).Shape(), c.In(3).Shape())
		}
	}
	n := rhs.rows
	out := newResult[T](c, rhs.outer, n, rhs.cols)
	err = each(c, rhs.len(), float64(n*rhs.cols)*6, func(_ context.Context, i int) error {
		x, y := rhs.at(i), newMatrix[T](n, rhs.cols)
		super, main, sub := diagonals[0].v[i*n:(i+1)*n], diagonals[1].v[i*n:(i+1)*n], diagonals[2].v[i*n:(i+1)*n]
		for r := range n {
			axpy(y.row(r), main[r], x.row(r))
			if r+1 < n {
				axpy(y.row(r), super[r], x.row(r+1))
			}
			if r > 0 {
				axpy(y.row(r), sub[r], x.row(r-1))
			}
		}
		out.put(i, y.v)
		return nil
	})
	if err != nil {
		return err
	}
	return out.setOutput(c, 0)
}

// tridiagonalSolve solves with three diagonals in the rows of the first input,
// the upper one first. If the attribute partial_pivoting is set, rows are
// swapped for larger pivots. It is the kernel of TridiagonalSolve. A pivot of
// zero is an error. TensorFlow returns NaN then, or with perturb_singular
// changes the pivot a little.
func tridiagonalSolve[T scalar](c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	d, err := input[T](c, 0, false)
	if err != nil {
		return err
	}
	rhs, err := input[T](c, 1, false)
	if err != nil {
		return err
	}
	n := rhs.rows
	if c.In(0).DType() != c.In(1).DType() || d.rows != 3 || d.cols != n || !d.outer.Equal(rhs.outer) {
		return fmt.Errorf("diagonals of shape %v don't fit the right sides of shape %v", c.In(0).Shape(), c.In(1).Shape())
	}
	pivoting := c.Attrs().Bool("partial_pivoting")
	if c.Attrs().Bool("perturb_singular") && !pivoting {
		return fmt.Errorf("perturb_singular needs partial_pivoting")
	}
	out := newResult[T](c, rhs.outer, n, rhs.cols)
	err = each(c, rhs.len(), float64(n*rhs.cols)*10, func(_ context.Context, i int) error {
		m, x := d.at(i), rhs.at(i)
		if err := eliminate(m, x, pivoting); err != nil {
			return err
		}
		out.put(i, x.v)
		return nil
	})
	if err != nil {
		return err
	}
	return out.setOutput(c, 0)
}

// eliminate solves in place. A swap of rows fills a second diagonal above.
func eliminate[T scalar](m, x matrix[T], pivoting bool) error {
	n := m.cols
	super, main, sub := m.row(0), m.row(1), m.row(2)
	second := make([]T, n)
	for k := range n {
		if k+1 < n && pivoting && magnitude(sub[k+1]) > magnitude(main[k]) {
			main[k], sub[k+1] = sub[k+1], main[k]
			super[k], main[k+1] = main[k+1], super[k]
			if k+2 < n {
				second[k], super[k+1] = super[k+1], 0
			}
			a, b := x.row(k), x.row(k+1)
			for j := range a {
				a[j], b[j] = b[j], a[j]
			}
		}
		if main[k] == 0 {
			return errSingular
		}
		if k+1 < n {
			f := sub[k+1] / main[k]
			main[k+1] -= f * super[k]
			if k+2 < n {
				super[k+1] -= f * second[k]
			}
			axpy(x.row(k+1), -f, x.row(k))
		}
	}
	for k := n - 1; k >= 0; k-- {
		row := x.row(k)
		if k+1 < n {
			axpy(row, -super[k], x.row(k+1))
		}
		if k+2 < n {
			axpy(row, -second[k], x.row(k+2))
		}
		for j := range row {
			row[j] /= main[k]
		}
	}
	return nil
}
