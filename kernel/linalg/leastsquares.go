package linalg

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// solveLs solves in the least squares: by the normal equations, with a term that
// keeps the solution small, or by the pseudoinverse where fast is false.
func solveLs(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	b, err := input(c, 0, false)
	if err != nil {
		return err
	}
	rhs, err := input(c, 1, false)
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
	out := newResult(b.outer, b.cols, rhs.cols)
	err = each(c, b.len(), 20*cube(max(b.rows, b.cols)), func(i int) error {
		m, y := b.at(i), rhs.at(i)
		if m.rows == 0 || m.cols == 0 {
			return nil
		}
		if !fast {
			out.put(i, pseudo(m, y).v)
			return nil
		}
		x, err := normal(m, y, small)
		if err == nil {
			out.put(i, x.v)
		}
		return err
	})
	if err != nil {
		return err
	}
	return out.give(c, 0)
}

// normal solves the normal equations, of the first or the second kind.
func normal(m, y matrix, small float64) (matrix, error) {
	adjoint := m.adjoint()
	gram := func(a, b matrix) matrix {
		g := product(a, b)
		for i := range g.rows {
			g.v[i*g.cols+i] += complex(small, 0)
		}
		return g
	}
	if m.rows >= m.cols {
		return solved(gram(adjoint, m), product(adjoint, y))
	}
	x, err := solved(gram(m, adjoint), y)
	if err != nil {
		return x, err
	}
	return product(adjoint, x), nil
}

// pseudo returns the smallest of the solutions with the least squares.
func pseudo(m, y matrix) matrix {
	wide := m.rows < m.cols
	a := m
	if wide {
		a = m.adjoint()
	}
	s, u, v := singular(a.clone())
	if wide {
		u, v = v, u
	}
	x := product(u.adjoint(), y)
	for k, z := range s {
		for j := range x.row(k) {
			if z > s[0]*0x1p-52*float64(max(m.rows, m.cols)) {
				x.row(k)[j] /= complex(z, 0)
			} else {
				x.row(k)[j] = 0
			}
		}
	}
	return product(v, x)
}

// bandedSolve solves with triangles of which the diagonals are given: the main
// one first and those below it after, or those above it first and the main one
// last, each with what belongs to a row at the row's place.
func bandedSolve(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	b, err := input(c, 0, false)
	if err != nil {
		return err
	}
	rhs, err := input(c, 1, false)
	if err != nil {
		return err
	}
	if c.In(0).DType() != c.In(1).DType() || rhs.rows != b.cols || b.rows < 1 || b.rows > max(b.cols, 1) {
		return fmt.Errorf("diagonals %v%v don't fit the right sides %v%v", c.In(0).DType(), c.In(0).Shape(), c.In(1).DType(), c.In(1).Shape())
	}
	outer, err := shape.Broadcast(b.outer, rhs.outer)
	if err != nil {
		return err
	}
	lower, adjoint := !c.Attrs().Has("lower") || c.Attrs().Bool("lower"), c.Attrs().Bool("adjoint")
	out := newResult(outer, b.cols, rhs.cols)
	ms, rs := shapes.BroadcastStrides(b.outer, outer), shapes.BroadcastStrides(rhs.outer, outer)
	n := b.cols
	err = each(c, shapes.Count(outer), float64(n*b.rows*max(rhs.cols, 1))*8, func(i int) error {
		at, from := 0, 0
		for d, k := len(outer)-1, i; d >= 0; d-- {
			at, from = at+k%outer[d]*ms[d], from+k%outer[d]*rs[d]
			k /= outer[d]
		}
		bands, x := b.at(at), rhs.at(from)
		if err := substituteBands(bands, x, lower, adjoint); err != nil {
			return err
		}
		out.put(i, x.v)
		return nil
	})
	if err != nil {
		return err
	}
	return out.give(c, 0)
}

// substituteBands solves in place.
func substituteBands(bands, x matrix, lower, adjoint bool) error {
	n, k := bands.cols, bands.rows
	// element returns what stands d places beside the diagonal in a row.
	element := func(row, d int) complex128 {
		if lower {
			return bands.v[d*n+row]
		}
		return bands.v[(k-1-d)*n+row]
	}
	forward := lower != adjoint
	for step := range n {
		i := step
		if !forward {
			i = n - 1 - step
		}
		for d := 1; d < k && d <= step; d++ {
			j := i - d // solved before
			if !forward {
				j = i + d
			}
			z := element(i, d)
			if adjoint {
				z = element(j, d)
				z = complex(real(z), -imag(z))
			}
			axpy(x.row(i), -z, x.row(j))
		}
		z := element(i, 0)
		if adjoint {
			z = complex(real(z), -imag(z))
		}
		if z == 0 {
			return errSingular
		}
		for j := range x.row(i) {
			x.row(i)[j] /= z
		}
	}
	return nil
}

// choleskyGrad gives the gradient of Cholesky from that of its factors.
func choleskyGrad(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	l, err := input(c, 0, true)
	if err != nil {
		return err
	}
	g, err := input(c, 1, true)
	if err != nil {
		return err
	}
	if c.In(0).DType() != c.In(1).DType() || !c.In(0).Shape().Equal(c.In(1).Shape()) {
		return fmt.Errorf("factors %v%v don't fit the gradients %v%v", c.In(0).DType(), c.In(0).Shape(), c.In(1).DType(), c.In(1).Shape())
	}
	n := l.rows
	out := newResult(l.outer, n, n)
	err = each(c, l.len(), 4*cube(n), func(i int) error {
		f, d := l.at(i), g.at(i)
		for r := range n { // both are lower triangles
			for k := r + 1; k < n; k++ {
				f.v[r*n+k], d.v[r*n+k] = 0, 0
			}
			if f.v[r*n+r] == 0 || math.IsNaN(real(f.v[r*n+r])) {
				return errPositive
			}
		}
		middle := product(f.adjoint(), d)
		for r := range n {
			middle.v[r*n+r] /= 2
			for k := r + 1; k < n; k++ {
				middle.v[r*n+k] = 0
			}
		}
		adjoint := f.adjoint()
		substitute(adjoint, middle, false, false) // l^-* middle
		right := middle.adjoint()
		substitute(adjoint, right, false, false) // its adjoint: (l^-* middle l^-1)*
		for r := range n {
			for k := range n {
				out.v[(i*n+r)*n+k] = (right.v[k*n+r] + right.v[r*n+k]) / 2
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.give(c, 0)
}

// selfAdjointEigV1 gives the eigenvalues in the first row, and below it the
// eigenvectors as columns.
func selfAdjointEigV1(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input(c, 0, true)
	if err != nil {
		return err
	}
	n := b.rows
	out := newResult(b.outer, n+1, n)
	err = each(c, b.len(), 20*cube(n), func(i int) error {
		e, v := hermitian(b.at(i))
		at := i * (n + 1) * n
		for k, x := range e {
			out.v[at+k] = complex(x, 0)
		}
		copy(out.v[at+n:], v.v)
		return nil
	})
	if err != nil {
		return err
	}
	return out.give(c, 0)
}
