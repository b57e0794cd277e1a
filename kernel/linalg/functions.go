package linalg

import (
	"errors"
	"math"
	"math/cmplx"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// product returns a·b.
func product(a, b matrix) matrix {
	out := newMatrix(a.rows, b.cols)
	for i := range a.rows {
		for k, z := range a.row(i) {
			axpy(out.row(i), z, b.row(k))
		}
	}
	return out
}

// function returns the kernel of a function of square matrices.
func function(f func(matrix) (matrix, error)) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		b, err := input(c, 0, true)
		if err != nil {
			return err
		}
		out := newResult(b.outer, b.rows, b.rows)
		err = each(c, b.len(), 30*cube(b.rows), func(i int) error {
			m, err := f(b.at(i))
			if err == nil {
				out.put(i, m.v)
			}
			return err
		})
		if err != nil {
			return err
		}
		return out.give(c, 0)
	}
}

// undefined returns a matrix of NaN: the value of a function that has none.
func undefined(n int) matrix {
	m := newMatrix(n, n)
	for i := range m.v {
		m.v[i] = cmplx.NaN()
	}
	return m
}

// throughSchur returns a function of matrices that f is on triangles. It is NaN where
// the input holds NaN or infinities.
func throughSchur(f func(matrix) (matrix, error)) func(matrix) (matrix, error) {
	return func(m matrix) (matrix, error) {
		if m.rows == 0 {
			return m, nil
		}
		q, t, err := schur(m)
		if err != nil {
			return undefined(m.rows), nil
		}
		if t, err = f(t); err != nil {
			return m, err
		}
		if slices.ContainsFunc(t.v, cmplx.IsNaN) {
			return undefined(t.rows), nil
		}
		return product(product(q, t), q.adjoint()), nil
	}
}

// squareRoot computes principal square roots. A real matrix with an eigenvalue below
// zero has none that is real.
func squareRoot(c *engine.Call) error {
	realOnly := c.NumIn() > 0 && c.In(0) != nil && !c.In(0).DType().IsComplex()
	return function(throughSchur(func(t matrix) (matrix, error) {
		norm := 0.0
		for _, z := range t.v {
			norm = max(norm, cmplx.Abs(z))
		}
		for i := 0; realOnly && i < t.rows; i++ {
			// Eigenvalues that are real have but rounding errors for an imaginary part.
			if z := t.v[i*t.rows+i]; real(z) < 0 && math.Abs(imag(z)) <= 1e-12*norm {
				return undefined(t.rows), nil
			}
		}
		return triangleRoot(t)
	}))(c)
}

// triangleRoot returns the principal square root of an upper triangle: NaN where it
// is singular more than once.
func triangleRoot(t matrix) (matrix, error) {
	n := t.rows
	r := newMatrix(n, n)
	for j := range n {
		r.v[j*n+j] = cmplx.Sqrt(t.v[j*n+j])
		for i := j - 1; i >= 0; i-- {
			sum := t.v[i*n+j]
			for k := i + 1; k < j; k++ {
				sum -= r.v[i*n+k] * r.v[k*n+j]
			}
			if sum /= r.v[i*n+i] + r.v[j*n+j]; cmplx.IsInf(sum) {
				sum = cmplx.NaN()
			}
			r.v[i*n+j] = sum
		}
	}
	return r, nil
}

// triangleLog returns the principal logarithm of an upper triangle: roots are
// taken until it is near 1, where a series tells the logarithm.
func triangleLog(t matrix) (matrix, error) {
	n := t.rows
	diagonal := make([]complex128, n)
	for i := range n {
		if diagonal[i] = cmplx.Log(t.v[i*n+i]); t.v[i*n+i] == 0 {
			return undefined(n), nil
		}
	}
	scale := complex128(1)
	for range 60 {
		far := 0.0
		for i, z := range t.v {
			if i%(n+1) == 0 {
				z--
			}
			far = max(far, cmplx.Abs(z))
		}
		if far*float64(n) < 0.05 {
			break
		}
		t, _ = triangleRoot(t)
		scale *= 2
	}
	// log((1+z)/(1-z)) = 2 (z + z³/3 + …), z = (t-1)(t+1)^-1
	minus, plus := t.clone(), t.clone()
	for i := range n {
		minus.v[i*n+i]--
		plus.v[i*n+i]++
	}
	z, err := solved(plus, minus)
	if err != nil {
		return t, err
	}
	square, power, sum := product(z, z), z, newMatrix(n, n)
	for k := 1; k < 24; k += 2 {
		axpy(sum.v, 2*scale/complex(float64(k), 0), power.v)
		power = product(power, square)
	}
	for i := range n { // exactly
		sum.v[i*n+i] = diagonal[i]
	}
	return sum, nil
}

// exponential returns the exponential of a matrix: that of a small part of it by
// a rational function, squared until it is whole.
func exponential(m matrix) (matrix, error) {
	n := m.rows
	norm := 0.0
	for i := range n {
		sum := 0.0
		for _, z := range m.row(i) {
			sum += cmplx.Abs(z)
		}
		norm = max(norm, sum)
	}
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		return m, errors.New("the input holds infinities or NaN")
	}
	squarings := 0
	if norm > 0.5 {
		squarings = int(math.Ceil(math.Log2(norm / 0.5)))
	}
	a := m.clone()
	for i := range a.v {
		a.v[i] *= complex(math.Ldexp(1, -squarings), 0)
	}
	const order = 8
	p, q, power, c := identity(n), identity(n), identity(n), 1.0
	for k := 1; k <= order; k++ {
		c *= float64(order-k+1) / float64(k*(2*order-k+1))
		power = product(power, a)
		axpy(p.v, complex(c, 0), power.v)
		if k%2 == 1 {
			axpy(q.v, complex(-c, 0), power.v)
		} else {
			axpy(q.v, complex(c, 0), power.v)
		}
	}
	e, err := solved(q, p)
	if err != nil {
		return m, err
	}
	for range squarings {
		e = product(e, e)
	}
	return e, nil
}

// eig gives eigenvalues and, as columns, eigenvectors of length 1: those of
// complex matrices in the order of the values' magnitudes, as Eigen, those of real
// ones as the triangle has them.
func eig(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input(c, 0, true)
	if err != nil {
		return err
	}
	n := b.rows
	values, vectors := newResult(b.outer, n), newResult(b.outer, n, n)
	err = each(c, b.len(), 30*cube(n), func(i int) error {
		if n == 0 {
			return nil
		}
		q, t, err := schur(b.at(i))
		if err != nil {
			return err
		}
		v := product(q, triangleVectors(t))
		order := make([]int, n)
		for k := range order {
			order[k] = k
		}
		if c.In(0).DType().IsComplex() {
			slices.SortStableFunc(order, func(x, y int) int { return compare(cmplx.Abs(t.v[x*n+x]), cmplx.Abs(t.v[y*n+y])) })
		}
		sorted := newMatrix(n, n)
		for k, from := range order {
			values.v[i*n+k] = t.v[from*n+from]
			norm := 0.0
			for r := range n {
				norm = math.Hypot(norm, cmplx.Abs(v.v[r*n+from]))
			}
			for r := range n {
				sorted.v[r*n+k] = v.v[r*n+from] / complex(norm, 0)
			}
		}
		vectors.put(i, sorted.v)
		return nil
	})
	if err != nil {
		return err
	}
	d := c.Attrs().Type("Tout", tensor.Complex64)
	if with := !c.Attrs().Has("compute_v") || c.Attrs().Bool("compute_v"); !with {
		vectors = newResult(nil, 0)
	}
	if err := values.giveAs(c, 0, d); err != nil {
		return err
	}
	return vectors.giveAs(c, 1, d)
}

// triangleVectors returns the eigenvectors of an upper triangle, as columns.
func triangleVectors(t matrix) matrix {
	n := t.rows
	v := newMatrix(n, n)
	least := 0.0
	for _, z := range t.v {
		least = max(least, cmplx.Abs(z)*0x1p-52)
	}
	for k := n - 1; k >= 0; k-- {
		v.v[k*n+k] = 1
		for i := k - 1; i >= 0; i-- {
			sum := complex128(0)
			for j := i + 1; j <= k; j++ {
				sum -= t.v[i*n+j] * v.v[j*n+k]
			}
			gap := t.v[i*n+i] - t.v[k*n+k]
			if gap == 0 { // a defective matrix: near what there is not
				gap = complex(max(least, 0x1p-1000), 0)
			}
			v.v[i*n+k] = sum / gap
		}
	}
	return v
}
