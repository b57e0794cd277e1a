package linalg

import (
	"context"
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
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
// swapped for larger pivots. It is the kernel of TridiagonalSolve. If a pivot is zero, the whole
// solution of the matrix is NaN or, as TensorFlow's NaN of complex numbers, zero. With
// perturb_singular the pivot is changed a little instead.
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
	perturb := c.Attrs().Bool("perturb_singular")
	if perturb && !pivoting {
		return fmt.Errorf("perturb_singular needs partial_pivoting")
	}
	epsilon, least := 0x1p-52, 0x1p-1022 // of float64: the distance of 1 to the next number, and the least normal one
	if d := c.In(0).DType(); d == tensor.Float32 || d == tensor.Complex64 {
		epsilon, least = 0x1p-23, 0x1p-126
	}
	out := newResult[T](c, rhs.outer, n, rhs.cols)
	err = each(c, rhs.len(), float64(n*rhs.cols)*10, func(_ context.Context, i int) error {
		m, x := d.at(i), rhs.at(i)
		if perturb {
			solvePerturbed(m, x, epsilon, least)
		} else if !eliminate(m, x, pivoting) {
			fillUndefined(x.v)
		}
		out.put(i, x.v)
		return nil
	})
	if err != nil {
		return err
	}
	return out.setOutput(c, 0)
}

// fillUndefined sets numbers to what TensorFlow calls the NaN of their type: of complex numbers,
// that is zero.
func fillUndefined[T scalar](v []T) {
	var fill T
	if _, real := any(fill).(float64); real {
		fill = asScalar[T](math.NaN())
	}
	for i := range v {
		v[i] = fill
	}
}

// eliminate solves in place, and reports whether no pivot is zero. A swap of rows fills a second
// diagonal above.
func eliminate[T scalar](m, x matrix[T], pivoting bool) bool {
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
			return false
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
		above(row, k, x, super, second)
		for j := range row {
			row[j] /= main[k]
		}
	}
	return true
}

// above subtracts the products of row k's two elements above the diagonal from a right side.
func above[T scalar](row []T, k int, x matrix[T], super, second []T) {
	n := len(super)
	if k+1 < n {
		axpy(row, -super[k], x.row(k+1))
	}
	if k+2 < n {
		axpy(row, -second[k], x.row(k+2))
	}
}

// solvePerturbed solves in place, also with singular matrices: pivots near zero are replaced by
// others in proportion to epsilon and the largest element of the upper triangle. The pivot of a
// column is the one that is larger in proportion to its row. epsilon and least are those of the
// element type.
func solvePerturbed[T scalar](m, x matrix[T], epsilon, least float64) {
	n := m.cols
	super, main, sub := m.row(0), m.row(1), m.row(2)
	second := make([]T, n)
	largest, size := 0.0, 0.0 // of the triangle; of the current row, as a sum
	if n > 0 {
		largest, size = magnitude(main[0]), magnitude(main[0])
	}
	if n > 1 {
		largest, size = max(largest, magnitude(super[0])), size+magnitude(super[0])
	}
	for k := range n - 1 {
		next := magnitude(sub[k+1]) + magnitude(main[k+1])
		if k+2 < n {
			next += magnitude(super[k+1])
		}
		here := 0.0
		if main[k] != 0 {
			here = magnitude(main[k]) / size
		}
		switch {
		case sub[k+1] == 0:
			size = next
		case magnitude(sub[k+1])/next <= here:
			size = next
			f := sub[k+1] / main[k]
			main[k+1] -= f * super[k]
			axpy(x.row(k+1), -f, x.row(k))
		default:
			f := main[k] / sub[k+1]
			main[k], main[k+1], super[k] = sub[k+1], super[k]-f*main[k+1], main[k+1]
			if k+2 < n {
				second[k], super[k+1] = super[k+1], -f*super[k+1]
			}
			a, b := x.row(k), x.row(k+1)
			for j := range a {
				a[j], b[j] = b[j], a[j]-f*b[j]
			}
		}
		if k+2 < n {
			largest = max(largest, magnitude(main[k]), magnitude(super[k]), magnitude(second[k]))
		}
	}
	if n > 1 {
		largest = max(largest, magnitude(main[n-1]))
	}
	for k := n - 1; k >= 0; k-- {
		row := x.row(k)
		above(row, k, x, super, second)
		inverse := 1 / perturbed(main[k], row, epsilon*largest, least)
		for j := range row {
			row[j] *= inverse
		}
	}
}

// perturbed returns a pivot by which a row can be divided without an overflow. It adds more and
// more to a pivot that is too small, or scales the pivot and the row if the row is small too.
func perturbed[T scalar](pivot T, row []T, by, least float64) T {
	largest := 0.0
	for _, z := range row {
		largest = max(largest, magnitude(z))
	}
	by = math.Copysign(max(by, least), realOf(pivot))
	for {
		size := magnitude(pivot)
		switch {
		case !(size < 1):
			return pivot
		case size < least && size != 0 && !(largest*least > size):
			scale(row, asScalar[T](1/least))
			return pivot * asScalar[T](1/least)
		case size >= least && !(largest > size/least):
			return pivot
		}
		pivot += asScalar[T](by)
		by *= 2
	}
}
