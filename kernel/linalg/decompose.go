package linalg

import (
	"math"
	"math/cmplx"
	"slices"

	"github.com/cairnml/cairn/engine"
)

// householder decomposes m to q·r with reflections, whose signs are those of
// Eigen's: the diagonal of r has the sign against that of what it replaces. q is
// square.
func householder(m matrix) (q, r matrix) {
	r, q = m, identity(m.rows)
	for k := range min(m.rows, m.cols) {
		tail := 0.0
		for i := k + 1; i < m.rows; i++ {
			z := r.v[i*r.cols+k]
			tail += real(z)*real(z) + imag(z)*imag(z)
		}
		c0 := r.v[k*r.cols+k]
		if tail == 0 && imag(c0) == 0 {
			continue
		}
		beta := math.Sqrt(real(c0)*real(c0) + imag(c0)*imag(c0) + tail)
		if real(c0) >= 0 {
			beta = -beta
		}
		v := make([]complex128, m.rows-k)
		v[0] = 1
		for i := k + 1; i < m.rows; i++ {
			v[i-k] = r.v[i*r.cols+k] / (c0 - complex(beta, 0))
		}
		tau := cmplx.Conj((complex(beta, 0) - c0) / complex(beta, 0))
		for j := k; j < r.cols; j++ { // r = (1 - tau v v*) r
			sum := complex128(0)
			for i, w := range v {
				sum += cmplx.Conj(w) * r.v[(k+i)*r.cols+j]
			}
			sum *= tau
			for i, w := range v {
				r.v[(k+i)*r.cols+j] -= w * sum
			}
		}
		for i := k + 1; i < m.rows; i++ {
			r.v[i*r.cols+k] = 0
		}
		for i := range q.rows { // q = q (1 - conj(tau) v v*)
			row := q.row(i)[k:]
			sum := complex128(0)
			for j, w := range v {
				sum += row[j] * w
			}
			sum *= cmplx.Conj(tau)
			for j, w := range v {
				row[j] -= sum * cmplx.Conj(w)
			}
		}
	}
	return q, r
}

func qr(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input(c, 0, false)
	if err != nil {
		return err
	}
	p := min(b.rows, b.cols)
	if c.Attrs().Bool("full_matrices") {
		p = b.rows
	}
	qs, rs := newResult(b.outer, b.rows, p), newResult(b.outer, p, b.cols)
	err = each(c, b.len(), cube(max(b.rows, b.cols)), func(i int) error {
		q, r := householder(b.at(i))
		qs.put(i, columns(q, p).v)
		rs.put(i, r.v[:p*b.cols])
		return nil
	})
	if err != nil {
		return err
	}
	if err := qs.give(c, 0); err != nil {
		return err
	}
	return rs.give(c, 1)
}

// columns returns the first n columns.
func columns(m matrix, n int) matrix {
	out := newMatrix(m.rows, n)
	for i := range m.rows {
		copy(out.row(i), m.row(i))
	}
	return out
}

const sweeps = 60

// rotation returns the cosine and the sine, with a phase, that make the
// off-diagonal element z between the diagonal ones a and b zero.
func rotation(a, b float64, z complex128) (cos float64, sin complex128) {
	r := cmplx.Abs(z)
	tau := (b - a) / (2 * r)
	t := 1 / (math.Abs(tau) + math.Hypot(1, tau))
	if tau < 0 {
		t = -t
	}
	cos = 1 / math.Hypot(1, t)
	return cos, complex(t*cos, 0) * z / complex(r, 0)
}

// turn rotates columns p and q of m.
func turn(m matrix, p, q int, cos float64, sin complex128) {
	for i := range m.rows {
		row := m.row(i)
		x, y := row[p], row[q]
		row[p] = complex(cos, 0)*x - cmplx.Conj(sin)*y
		row[q] = sin*x + complex(cos, 0)*y
	}
}

// hermitian returns the eigenvalues of a self-adjoint matrix in rising order,
// and the eigenvectors as columns, by Jacobi's rotations. It reads the lower
// triangle alone.
func hermitian(m matrix) ([]float64, matrix) {
	n := m.rows
	for i := range n {
		m.v[i*n+i] = complex(real(m.v[i*n+i]), 0)
		for j := range i {
			m.v[j*n+i] = cmplx.Conj(m.v[i*n+j])
		}
	}
	v := identity(n)
	for range sweeps {
		off, all := 0.0, 0.0
		for i := range n {
			for j, z := range m.row(i) {
				s := real(z)*real(z) + imag(z)*imag(z)
				if all += s; i != j {
					off += s
				}
			}
		}
		if !(off > all*1e-34) {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				z := m.v[p*n+q]
				if z == 0 {
					continue
				}
				cos, sin := rotation(real(m.v[p*n+p]), real(m.v[q*n+q]), z)
				turn(m, p, q, cos, sin)
				a, b := m.row(p), m.row(q)
				for j := range n {
					x, y := a[j], b[j]
					a[j] = complex(cos, 0)*x - sin*y
					b[j] = cmplx.Conj(sin)*x + complex(cos, 0)*y
				}
				turn(v, p, q, cos, sin)
			}
		}
	}
	values := make([]float64, n)
	order := make([]int, n)
	for i := range n {
		values[i], order[i] = real(m.v[i*n+i]), i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compare(values[i], values[j]) })
	sorted, vectors := make([]float64, n), newMatrix(n, n)
	for k, from := range order {
		sorted[k] = values[from]
		for i := range n {
			vectors.v[i*n+k] = v.v[i*n+from]
		}
	}
	return sorted, vectors
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func selfAdjointEig(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input(c, 0, true)
	if err != nil {
		return err
	}
	values, vectors := newResult(b.outer, b.rows), newResult(b.outer, b.rows, b.rows)
	err = each(c, b.len(), 20*cube(b.rows), func(i int) error {
		e, v := hermitian(b.at(i))
		for k, x := range e {
			values.v[i*b.rows+k] = complex(x, 0)
		}
		vectors.put(i, v.v)
		return nil
	})
	if err != nil {
		return err
	}
	if !c.Attrs().Bool("compute_v") {
		vectors = newResult(nil, 0)
	}
	if err := values.give(c, 0); err != nil {
		return err
	}
	return vectors.give(c, 1)
}

// singular decomposes a matrix that is no wider than high to u·s·v*, by
// rotations of its columns (Hestenes). u has as many columns as m.
func singular(m matrix) (s []float64, u, v matrix) {
	n := m.cols
	v = identity(n)
	for range sweeps {
		turned := false
		for p := range n {
			for q := p + 1; q < n; q++ {
				a, b, z := 0.0, 0.0, complex128(0)
				for i := range m.rows {
					x, y := m.v[i*n+p], m.v[i*n+q]
					a += real(x)*real(x) + imag(x)*imag(x)
					b += real(y)*real(y) + imag(y)*imag(y)
					z += cmplx.Conj(x) * y
				}
				if !(cmplx.Abs(z) > 1e-16*math.Sqrt(a*b)) {
					continue
				}
				turned = true
				cos, sin := rotation(a, b, z)
				turn(m, p, q, cos, sin)
				turn(v, p, q, cos, sin)
			}
		}
		if !turned {
			break
		}
	}
	norms, order := make([]float64, n), make([]int, n)
	for j := range n {
		order[j] = j
		for i := range m.rows {
			norms[j] = math.Hypot(norms[j], cmplx.Abs(m.v[i*n+j]))
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return compare(norms[j], norms[i]) })
	s, u = make([]float64, n), newMatrix(m.rows, n)
	w := newMatrix(n, n)
	for k, from := range order {
		s[k] = norms[from]
		for i := range m.rows {
			if s[k] > 0 {
				u.v[i*n+k] = m.v[i*n+from] / complex(s[k], 0)
			}
		}
		for i := range n {
			w.v[i*n+k] = v.v[i*n+from]
		}
	}
	return s, u, w
}

// complete makes the columns of u, of which those with a singular value are
// orthonormal, to n columns that all are.
func complete(u matrix, s []float64, n int) matrix {
	out := newMatrix(u.rows, n)
	rank := 0
	for j, x := range s {
		if j < n && x > s[0]*1e-15 {
			for i := range u.rows {
				out.v[i*n+j] = u.v[i*u.cols+j]
			}
			rank = j + 1
		}
	}
	for e := 0; rank < n && e < u.rows; e++ { // of each axis, what is across to all columns
		x := make([]complex128, u.rows)
		x[e] = 1
		for range 2 {
			for j := range rank {
				dot := complex128(0)
				for i, z := range x {
					dot += cmplx.Conj(out.v[i*n+j]) * z
				}
				for i := range x {
					x[i] -= dot * out.v[i*n+j]
				}
			}
		}
		norm := 0.0
		for _, z := range x {
			norm = math.Hypot(norm, cmplx.Abs(z))
		}
		if norm < 1e-8 {
			continue
		}
		for i, z := range x {
			out.v[i*n+rank] = z / complex(norm, 0)
		}
		rank++
	}
	return out
}

func svd(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input(c, 0, false)
	if err != nil {
		return err
	}
	p := min(b.rows, b.cols)
	nu, nv := p, p
	if c.Attrs().Bool("full_matrices") {
		nu, nv = b.rows, b.cols
	}
	with := c.Attrs().Bool("compute_uv")
	ss, us, vs := newResult(b.outer, p), newResult(nil, 0), newResult(nil, 0)
	if with {
		us, vs = newResult(b.outer, b.rows, nu), newResult(b.outer, b.cols, nv)
	}
	err = each(c, b.len(), 20*cube(max(b.rows, b.cols)), func(i int) error {
		m := b.at(i)
		if b.rows < b.cols {
			m = m.adjoint()
		}
		s, u, v := singular(m)
		if b.rows < b.cols {
			u, v = v, u
		}
		for k, x := range s {
			ss.v[i*p+k] = complex(x, 0)
		}
		if with {
			us.put(i, complete(u, s, nu).v)
			vs.put(i, complete(v, s, nv).v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, r := range []*result{ss, us, vs} {
		if err := r.give(c, i); err != nil {
			return err
		}
	}
	return nil
}
