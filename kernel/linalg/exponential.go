package linalg

import (
	"context"
	"errors"
	"math"
)

// exponential returns the exponential of a matrix. It divides the matrix by a
// power of two, computes a rational function of that, and squares the result.
// It is the kernel of MatrixExponential.
func exponential[T scalar](ctx context.Context, m matrix[T]) (matrix[T], error) {
	n := m.rows
	norm := 0.0
	for i := range n {
		sum := 0.0
		for _, z := range m.row(i) {
			sum += magnitude(z)
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
		a.v[i] *= asScalar[T](math.Ldexp(1, -squarings))
	}
	const order = 8 // degree of the rational function: exact to double precision for norms up to 0.5
	p, q, power, c := identity[T](n), identity[T](n), identity[T](n), 1.0
	for k := 1; k <= order; k++ {
		c *= float64(order-k+1) / float64(k*(2*order-k+1))
		power = product(ctx, power, a)
		axpy(p.v, asScalar[T](c), power.v)
		if k%2 == 1 {
			axpy(q.v, asScalar[T](-c), power.v)
		} else {
			axpy(q.v, asScalar[T](c), power.v)
		}
	}
	e, err := solved(ctx, q, p)
	if err != nil {
		return m, err
	}
	for range squarings {
		e = product(ctx, e, e)
	}
	return e, nil
}
