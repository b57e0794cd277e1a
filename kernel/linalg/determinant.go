package linalg

import (
	"context"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of MatrixDeterminant, BatchMatrixDeterminant and
// LogMatrixDeterminant.

// determinant computes the determinant of each matrix. It multiplies the sign
// by exp of the logarithm, so that factors don't overflow on the way.
func determinant[T scalar](c *engine.Call) error {
	return determinants(c, func(outer tensor.Shape, det []T, scale []float64) error {
		out := newResult[T](c, outer)
		for i, z := range det {
			out.v[i] = z * asScalar[T](math.Exp(scale[i]))
		}
		return out.setOutput(c, 0)
	})
}

// logDeterminant computes the sign, of magnitude 1, and the logarithm of the
// magnitude.
func logDeterminant[T scalar](c *engine.Call) error {
	return determinants(c, func(outer tensor.Shape, det []T, scale []float64) error {
		sign, log := newResult[T](c, outer), newResult[T](c, outer)
		for i, z := range det {
			sign.v[i] = z
			log.v[i] = asScalar[T](scale[i])
		}
		if err := sign.setOutput(c, 0); err != nil {
			return err
		}
		return log.setOutput(c, 1)
	})
}

// determinants calls f with the sign and the logarithm of the magnitude of each
// determinant.
func determinants[T scalar](c *engine.Call, f func(outer tensor.Shape, sign []T, log []float64) error) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input[T](c, 0, true)
	if err != nil {
		return err
	}
	sign, log := make([]T, b.len()), make([]float64, b.len())
	err = each(c, b.len(), cube(b.rows), func(ctx context.Context, i int) error {
		m := b.at(i)
		_, swaps, _, err := factorize(ctx, m)
		if err != nil {
			return err
		}
		sign[i] = asScalar[T](float64(1 - swaps%2*2))
		for k := range m.rows {
			d := m.v[k*m.cols+k]
			a := magnitude(d)
			log[i] += math.Log(a)
			if a != 0 {
				sign[i] *= d / asScalar[T](a)
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
