package linalg

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

var (
	errSingular = errors.New("the input is not invertible")
	errPositive = errors.New("the Cholesky decomposition was not successful: the input is not positive definite")
)

// factorize overwrites a square matrix with its factors: the unit lower one below
// the diagonal, the upper one on and above it; order are the rows that the
// factors' rows come from, swaps how many were swapped. The largest element of a
// column is its pivot.
func factorize(m matrix) (order []int, swaps int, singular bool) {
	n := m.rows
	order = make([]int, n)
	for i := range order {
		order[i] = i
	}
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if cmplx.Abs(m.v[i*n+k]) > cmplx.Abs(m.v[p*n+k]) {
				p = i
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
			axpy(m.row(i)[k+1:], -f, m.row(k)[k+1:])
		}
	}
	return order, swaps, singular
}

// axpy adds a times x to dst.
func axpy(dst []complex128, a complex128, x []complex128) {
	if a == 0 {
		return
	}
	for i, v := range x {
		dst[i] += a * v
	}
}

// solved returns the solution of m·x = rhs, whose rows are in order; both are
// overwritten.
func solved(m, rhs matrix) (matrix, error) {
	order, _, singular := factorize(m)
	if singular {
		return matrix{}, errSingular
	}
	x := newMatrix(rhs.rows, rhs.cols)
	for i, from := range order {
		copy(x.row(i), rhs.row(from))
	}
	substitute(m, x, true, true)
	substitute(m, x, false, false)
	return x, nil
}

// substitute solves with a triangle of m, in place.
func substitute(m, x matrix, lower, unit bool) {
	n := m.rows
	for k := range n {
		i := k
		if !lower {
			i = n - 1 - k
		}
		from, to := 0, i
		if !lower {
			from, to = i+1, n
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

func inverse(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input(c, 0, true)
	if err != nil {
		return err
	}
	out := newResult(b.outer, b.rows, b.rows)
	err = each(c, b.len(), cube(b.rows), func(i int) error {
		m := b.at(i)
		if c.Attrs().Bool("adjoint") {
			m = m.adjoint()
		}
		x, err := solved(m, identity(b.rows))
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

func solve(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	b, err := input(c, 0, true)
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
	out := newResult(b.outer, b.rows, rhs.cols)
	err = each(c, b.len(), cube(b.rows), func(i int) error {
		m := b.at(i)
		if c.Attrs().Bool("adjoint") {
			m = m.adjoint()
		}
		x, err := solved(m, rhs.at(i))
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

func triangularSolve(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	b, err := input(c, 0, true)
	if err != nil {
		return err
	}
	rhs, err := input(c, 1, false)
	if err != nil {
		return err
	}
	if c.In(0).DType() != c.In(1).DType() || rhs.rows != b.rows {
		return fmt.Errorf("matrices %v%v don't fit the right sides %v%v", c.In(0).DType(), c.In(0).Shape(), c.In(1).DType(), c.In(1).Shape())
	}
	outer, err := shape.Broadcast(b.outer, rhs.outer)
	if err != nil {
		return err
	}
	lower, adjoint := c.Attrs().Bool("lower"), c.Attrs().Bool("adjoint")
	out := newResult(outer, b.rows, rhs.cols)
	ms, rs := shapes.BroadcastStrides(b.outer, outer), shapes.BroadcastStrides(rhs.outer, outer)
	err = each(c, shapes.Count(outer), cube(b.rows), func(i int) error {
		at, from := 0, 0
		for d, k := len(outer)-1, i; d >= 0; d-- {
			at, from = at+k%outer[d]*ms[d], from+k%outer[d]*rs[d]
			k /= outer[d]
		}
		m, x := b.at(at), rhs.at(from)
		if adjoint {
			m = m.adjoint()
		}
		substitute(m, x, lower != adjoint, false)
		out.put(i, x.v)
		return nil
	})
	if err != nil {
		return err
	}
	return out.give(c, 0)
}

func determinant(c *engine.Call) error {
	return determinants(c, func(outer tensor.Shape, det []complex128, scale []float64) error {
		out := newResult(outer)
		for i, z := range det {
			out.v[i] = z * complex(math.Exp(scale[i]), 0)
		}
		return out.give(c, 0)
	})
}

// logDeterminant gives the sign, of magnitude 1, and the logarithm of the
// magnitude.
func logDeterminant(c *engine.Call) error {
	return determinants(c, func(outer tensor.Shape, det []complex128, scale []float64) error {
		sign, log := newResult(outer), newResult(outer)
		for i, z := range det {
			sign.v[i] = z
			log.v[i] = complex(scale[i], 0)
		}
		if err := sign.give(c, 0); err != nil {
			return err
		}
		return log.give(c, 1)
	})
}

// determinants hands over signs and logarithms of magnitudes.
func determinants(c *engine.Call, f func(outer tensor.Shape, sign []complex128, log []float64) error) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input(c, 0, true)
	if err != nil {
		return err
	}
	sign, log := make([]complex128, b.len()), make([]float64, b.len())
	err = each(c, b.len(), cube(b.rows), func(i int) error {
		m := b.at(i)
		_, swaps, _ := factorize(m)
		sign[i] = complex(float64(1-swaps%2*2), 0)
		for k := range m.rows {
			d := m.v[k*m.cols+k]
			a := cmplx.Abs(d)
			log[i] += math.Log(a)
			if a != 0 {
				sign[i] *= d / complex(a, 0)
			} else {
				sign[i] = 0
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return f(b.outer, sign, log)
}

// lu gives both factors in one matrix, and the order of the rows.
func lu(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input(c, 0, true)
	if err != nil {
		return err
	}
	out := newResult(b.outer, b.rows, b.rows)
	rows := make([]int64, b.len()*b.rows)
	err = each(c, b.len(), cube(b.rows), func(i int) error {
		m := b.at(i)
		order, _, singular := factorize(m)
		if singular {
			return errSingular
		}
		out.put(i, m.v)
		for k, from := range order {
			rows[i*b.rows+k] = int64(from)
		}
		return nil
	})
	if err != nil {
		return err
	}
	p, err := tensor.Cast(tensor.Must(tensor.New(rows, append(b.outer.Clone(), b.rows)...)), c.Attrs().Type("output_idx_type", tensor.Int32))
	if err != nil {
		return err
	}
	if err := out.give(c, 0); err != nil {
		return err
	}
	c.Set(1, p)
	return nil
}

// cholesky reads the lower triangle alone. A matrix that isn't positive definite
// has a triangle of NaN for a factor, as in TensorFlow.
func cholesky(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input(c, 0, true)
	if err != nil {
		return err
	}
	n := b.rows
	out := newResult(b.outer, n, n)
	err = each(c, b.len(), cube(n)/3, func(i int) error {
		m, l := b.at(i), newMatrix(n, n)
		for j := range n {
			d := real(m.v[j*n+j])
			for _, z := range l.row(j)[:j] {
				d -= real(z)*real(z) + imag(z)*imag(z)
			}
			if d <= 0 {
				for r := range n {
					for k := range r + 1 {
						l.v[r*n+k] = complex(math.NaN(), 0)
					}
				}
				break
			}
			d = math.Sqrt(d)
			l.v[j*n+j] = complex(d, 0)
			for r := j + 1; r < n; r++ {
				sum := m.v[r*n+j]
				for k, z := range l.row(j)[:j] {
					sum -= l.v[r*n+k] * cmplx.Conj(z)
				}
				l.v[r*n+j] = sum / complex(d, 0)
			}
		}
		out.put(i, l.v)
		return nil
	})
	if err != nil {
		return err
	}
	return out.give(c, 0)
}
