package xla

import (
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of XlaSvd.

// svd computes singular values, falling, and all singular vectors as columns:
// the matrix is u times the values times v transposed. Reflections make the
// matrix bidiagonal. Sweeps of Jacobi's rotations over all pairs of rows and
// columns make it diagonal. A negative value reverses the sign of its column of
// v. So the signs of the vectors are XLA's: u's columns have the signs of the
// reflections and rotations of the identity.
func svd(n *engine.Node) (func(*engine.Call) error, error) {
	most, eps := n.Attrs.Int("max_iter", 0), n.Attrs.Float("epsilon", 0)
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		shape := c.In(0).Shape()
		rank := len(shape)
		if rank < 2 {
			return fmt.Errorf("the input is %v (want matrices)", shape)
		}
		rows, cols := shape[rank-2], shape[rank-1]
		outs := make([]tensor.Shape, 3)
		for i, sizes := range [][]int{{min(rows, cols)}, {rows, rows}, {cols, cols}} {
			outs[i] = append(shape[:rank-2:rank-2], sizes...)
		}
		long, short := max(rows, cols), min(rows, cols)
		return decompose(c, outs, 2*long*short+long*long+short*short+2*long, func(m []float64, outs [][]float64, work []float64, least int64) (k int64) {
			s := singular{m: long, n: short, eps: eps}
			s.d, work = work[:long*short], work[long*short:]
			s.u, work = work[:long*long], work[long*long:]
			s.v, work = work[:short*short], work[short*short:]
			s.line, s.sum = work[:long], work[long:2*long]
			for i := range rows {
				for j := range cols {
					if rows >= cols {
						s.d[i*short+j] = m[i*cols+j]
					} else {
						s.d[j*short+i] = m[i*cols+j]
					}
				}
			}
			s.bidiagonal(c)
			for ; k < most && (k < least || !s.diagonal()); k++ {
				s.sweep(c)
			}
			if rows >= cols {
				s.results(outs[0], outs[1], outs[2])
			} else {
				s.results(outs[0], outs[2], outs[1])
			}
			return k
		})
	}, nil
}

// singular is the decomposition of one matrix of m rows and n columns, m not below n. d becomes
// diagonal.
type singular struct {
	m, n      int
	d         []float64 // m by n
	u, v      []float64 // m by m, n by n
	line, sum []float64 // working memory
	eps       float64
}

// bidiagonal makes d zero except on the diagonal and above it.
func (s *singular) bidiagonal(c *engine.Call) {
	for i := range s.m {
		s.u[i*s.m+i] = 1
	}
	for i := range s.n {
		s.v[i*s.n+i] = 1
	}
	for i := range s.n {
		c.Check()
		s.column(i)
		if i < s.n-2 {
			s.row(i)
		}
	}
}

// column makes the elements of column i below the diagonal zero.
func (s *singular) column(i int) {
	h := s.line[:s.m]
	for r := range h {
		h[r] = s.d[r*s.n+i]
	}
	beta := s.reflection(h, i)
	if beta == 0 {
		return
	}
	sum := s.sum[:s.n]
	clear(sum)
	for r, x := range h {
		for j, y := range s.d[r*s.n : (r+1)*s.n] {
			sum[j] += x * y
		}
	}
	for r, x := range h {
		for j, y := range sum {
			s.d[r*s.n+j] -= beta * x * y
		}
	}
	reflect(s.u, s.m, h, beta)
}

// row makes the elements of row i right of the one after the diagonal zero.
func (s *singular) row(i int) {
	h := s.line[:s.n]
	copy(h, s.d[i*s.n:(i+1)*s.n])
	beta := s.reflection(h, i+1)
	if beta == 0 {
		return
	}
	reflect(s.d, s.n, h, beta)
	reflect(s.v, s.n, h, beta)
}

// reflection replaces a vector with the one whose reflection keeps its elements
// before at and makes those after it zero. It returns the factor beta of I -
// beta h hᵀ; 0 if these are below eps.
func (s *singular) reflection(h []float64, at int) (beta float64) {
	x := h[at]
	clear(h[:at])
	sigma := 0.0
	for _, y := range h[at+1:] {
		sigma += y * y
	}
	if sigma = math.Sqrt(sigma); sigma < s.eps || sigma == 0 {
		return 0
	}
	norm := sigma * math.Sqrt(x/sigma*(x/sigma)+1)
	first := x - norm
	if x > 0 {
		first = -sigma * (sigma / (x + norm))
	}
	for i := range h[at+1:] {
		h[at+1+i] /= first
	}
	h[at] = 1
	return 2 / (sigma/first*(sigma/first) + 1)
}

// reflect multiplies a matrix by I - beta h hᵀ from the right.
func reflect(a []float64, cols int, h []float64, beta float64) {
	for r := 0; r+cols <= len(a); r += cols {
		row, sum := a[r:r+cols], 0.0
		for j, x := range h {
			sum += row[j] * x
		}
		sum *= beta
		for j, x := range h {
			row[j] -= sum * x
		}
	}
}

// diagonal reports whether all elements off the diagonal are small compared with those on it.
func (s *singular) diagonal() bool {
	n := s.n
	for i := range n {
		for j := range n {
			if x := s.d[i*n+j]; i != j && math.Abs(s.d[i*n+i])*math.Abs(s.d[j*n+j])*s.eps*s.eps < x*x {
				return false
			}
		}
	}
	return true
}

// sweep makes the elements of each pair of rows and columns diagonal in turn.
func (s *singular) sweep(c *engine.Call) {
	m, n, d := s.m, s.n, s.d
	for p := range n - 1 {
		c.Check()
		for q := p + 1; q < n; q++ {
			left, right := s.turns(d[p*n+p], d[p*n+q], d[q*n+p], d[q*n+q])
			rotate(d[p*n:(p+1)*n], d[q*n:(q+1)*n], left.cos, left.sin)
			turnColumns(d, n, p, q, right)
			d[p*n+q], d[q*n+p] = 0, 0
			turnColumns(s.u, m, p, q, left)
			unit(s.u, m, p)
			unit(s.u, m, q)
			turnColumns(s.v, n, p, q, right)
			unit(s.v, n, p)
			unit(s.v, n, q)
		}
	}
}

// turn is a rotation.
type turn struct{ cos, sin float64 }

// turns returns the rotations of the rows and of the columns that make [[pp, pq], [qp, qq]]
// diagonal. The first step makes the matrix symmetric.
func (s *singular) turns(pp, pq, qp, qq float64) (left, right turn) {
	even := turn{1, 0}
	if d := qp - pq; !(math.Abs(d) < s.eps) {
		u := (pp + qq) / d
		r := 1 / math.Sqrt(1+u*u)
		even = turn{u * r, -r}
	}
	a, b, e := even.cos*pp-even.sin*qp, even.cos*pq-even.sin*qq, even.sin*pq+even.cos*qq
	right = turn{1, 0}
	if math.Abs(b) >= s.eps {
		tau := (e - a) / (2 * b)
		t := 1 / (tau + math.Sqrt(1+tau*tau))
		if !(tau >= 0) {
			t = -1 / (-tau + math.Sqrt(1+tau*tau))
		}
		r := 1 / math.Sqrt(1+t*t)
		right = turn{r, t * r}
	}
	return turn{even.cos*right.cos - even.sin*right.sin, even.sin*right.cos + even.cos*right.sin}, right
}

// turnColumns rotates two columns of a matrix.
func turnColumns(a []float64, cols, p, q int, t turn) {
	for r := 0; r < len(a); r += cols {
		x, y := a[r+p], a[r+q]
		a[r+p], a[r+q] = t.cos*x-t.sin*y, t.sin*x+t.cos*y
	}
}

// unit scales a column of a matrix to length 1.
func unit(a []float64, cols, p int) {
	sum := 0.0
	for r := p; r < len(a); r += cols {
		sum += a[r] * a[r]
	}
	sum = 1 / math.Sqrt(sum)
	for r := p; r < len(a); r += cols {
		a[r] *= sum
	}
}

// results stores the values in falling order, and the columns that belong to them.
func (s *singular) results(values, u, v []float64) {
	m, n := s.m, s.n
	at := make([]int, n)
	for i := range at {
		at[i] = i
		if x := &s.d[i*n+i]; !(*x >= 0) {
			*x = -*x
			for r := range n {
				s.v[r*n+i] = -s.v[r*n+i]
			}
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return totalOrder(s.d[b*n+b], s.d[a*n+a]) })
	for to, from := range at {
		values[to] = s.d[from*n+from]
		for r := range n {
			v[r*n+to] = s.v[r*n+from]
		}
		unit(v, n, to)
	}
	for to := range m {
		from := to
		if to < n {
			from = at[to]
		}
		for r := range m {
			u[r*m+to] = s.u[r*m+from]
		}
		unit(u, m, to)
	}
}
