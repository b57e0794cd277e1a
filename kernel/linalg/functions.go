package linalg

import (
	"context"
	"math"
	"math/cmplx"
	"slices"

	"github.com/cairnml/cairn/engine"
)

// This file has the kernels of MatrixLogarithm and MatrixSquareRoot. The kernel of
// MatrixExponential uses matrixFunction too.

// matrixFunction returns the kernel of a function of square matrices.
func matrixFunction[T scalar](f func(context.Context, matrix[T]) (matrix[T], error)) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		b, err := input[T](c, 0, true)
		if err != nil {
			return err
		}
		out := newResult[T](c, b.outer, b.rows, b.rows)
		ns := 30 * cube(b.rows) // for one matrix
		err = each(c, b.len(), ns, func(ctx context.Context, i int) error {
			m, err := f(ctx, b.at(i))
			if err == nil {
				out.put(i, m.v)
			}
			return err
		})
		if err != nil {
			return err
		}
		return out.setOutput(c, 0)
	}
}

// undefined returns a matrix of NaN, for a function that has no value.
func undefined(n int) matrix[complex128] {
	m := newMatrix[complex128](n, n)
	for i := range m.v {
		m.v[i] = cmplx.NaN()
	}
	return m
}

// throughSchur extends f from upper triangles to all square matrices: with
// m = q·t·qᴴ, f(m) is q·f(t)·qᴴ. All of the result is NaN if schur fails, as for
// NaN and infinities, or if f(t) has a NaN.
func throughSchur(f func(context.Context, matrix[complex128]) (matrix[complex128], error)) func(context.Context, matrix[complex128]) (matrix[complex128], error) {
	return func(ctx context.Context, m matrix[complex128]) (matrix[complex128], error) {
		if m.rows == 0 {
			return m, nil
		}
		q, t, err := schur(ctx, m)
		if ctx.Err() != nil {
			return m, ctx.Err()
		}
		if err != nil {
			return undefined(m.rows), nil
		}
		if t, err = f(ctx, t); err != nil {
			return m, err
		}
		if slices.ContainsFunc(t.v, cmplx.IsNaN) {
			return undefined(t.rows), nil
		}
		return product(ctx, product(ctx, q, t), q.adjoint()), nil
	}
}

// squareRoot computes principal square roots. If a real matrix has an
// eigenvalue below zero, its principal root isn't real, and the result is NaN.
func squareRoot(c *engine.Call) error {
	realOnly := c.NumIn() > 0 && c.In(0) != nil && !c.In(0).DType().IsComplex()
	return matrixFunction(throughSchur(func(ctx context.Context, t matrix[complex128]) (matrix[complex128], error) {
		norm := 0.0
		for _, z := range t.v {
			norm = max(norm, cmplx.Abs(z))
		}
		for i := 0; realOnly && i < t.rows; i++ {
			// The imaginary parts of real eigenvalues are rounding errors.
			if z := t.v[i*t.rows+i]; real(z) < 0 && math.Abs(imag(z)) <= 1e-12*norm {
				return undefined(t.rows), nil
			}
		}
		return triangleRoot(ctx, t)
	}))(c)
}

// triangleRoot returns the principal square root of an upper triangle. It is
// NaN if zero is an eigenvalue more than once.
func triangleRoot(ctx context.Context, t matrix[complex128]) (matrix[complex128], error) {
	n := t.rows
	r := newMatrix[complex128](n, n)
	for j := range n {
		if err := ctx.Err(); err != nil {
			return r, err
		}
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

// triangleLog returns the principal logarithm of an upper triangle. It takes
// square roots until the matrix is near 1, and sums a series there. With the bound
// of 0.05, the terms up to 23 reach the precision of a float64.
func triangleLog(ctx context.Context, t matrix[complex128]) (matrix[complex128], error) {
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
		if err := ctx.Err(); err != nil {
			return t, err
		}
		t, _ = triangleRoot(ctx, t)
		scale *= 2
	}
	// log((1+z)/(1-z)) = 2 (z + z³/3 + …), z = (t-1)(t+1)^-1
	minus, plus := t.clone(), t.clone()
	for i := range n {
		minus.v[i*n+i]--
		plus.v[i*n+i]++
	}
	z, err := solved(ctx, plus, minus)
	if err != nil {
		return t, err
	}
	square, power, sum := product(ctx, z, z), z, newMatrix[complex128](n, n)
	for k := 1; k < 24; k += 2 {
		axpy(sum.v, 2*scale/complex(float64(k), 0), power.v)
		power = product(ctx, power, square)
	}
	for i := range n { // the logarithms of the diagonal are known exactly
		sum.v[i*n+i] = diagonal[i]
	}
	return sum, nil
}
