package sparse

import (
	"fmt"
	"math"
	"math/cmplx"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of SparseTensorDenseMatMul, and the divisor of segments for rows.go.

// divisor returns the number by which the sum of n rows of a segment is
// divided. The root is rounded to T.
func divisor[T number](n int, how reduction) T {
	if how == sqrtN {
		return T(math.Sqrt(float64(n)))
	}
	return T(n)
}

// matMulTypes has the products by element type.
var matMulTypes = withHalves(elementwise.ByType{
	tensor.Float32: product2[float32](same), tensor.Float64: product2[float64](same), tensor.Int32: product2[int32](same),
	tensor.Complex64:  product2[complex64](func(x complex64) complex64 { return complex64(cmplx.Conj(complex128(x))) }),
	tensor.Complex128: product2[complex128](cmplx.Conj),
}, []int{1, 3}, []int{0})

// same returns x: real numbers are their conjugates.
func same[T any](x T) T { return x }

// matMul multiplies a sparse matrix by a dense one. Attributes replace either
// by its adjoint.
func matMul(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	return matMulTypes.RunAs(c, c.In(1).DType())
}

// product2 returns the kernel for values of type T.
func product2[T interface {
	float32 | float64 | int32 | complex64 | complex128
	tensor.Element
}](conj func(T) T) elementwise.Func {
	return func(c *engine.Call) error {
		m, err := input(c, 0, 1, 2)
		if err == nil {
			err = m.check()
		}
		if err != nil {
			return err
		}
		b := c.In(3)
		if m.rank != 2 || len(b.Shape()) != 2 || b.DType() != m.values.DType() {
			return fmt.Errorf("takes two matrices of one type, not %v%v and %v%v", m.values.DType(), m.shape, b.DType(), b.Shape())
		}
		adjA, adjB := c.Attrs().Bool("adjoint_a"), c.Attrs().Bool("adjoint_b")
		rows, inner := m.shape[0], m.shape[1]
		if adjA {
			rows, inner = inner, rows
		}
		k, cols := b.Shape()[0], b.Shape()[1]
		if adjB {
			k, cols = cols, k
		}
		if inner != int64(k) || rows != int64(int(rows)) {
			return fmt.Errorf("the inner sizes are %d and %d", inner, k)
		}
		out, err := c.AllocZero(0, b.DType(), tensor.Shape{int(rows), cols})
		if err != nil {
			return err
		}
		dst, dense, values := tensor.Values[T](out), tensor.Values[T](b), tensor.Values[T](m.values)
		pace := engine.NewPace(c)
		for i, x := range values {
			pace.Work(cols + 1)
			r, at := int(m.at[2*i]), int(m.at[2*i+1])
			if adjA {
				r, at, x = at, r, conj(x)
			}
			row := dst[r*cols : (r+1)*cols]
			for j := range row {
				if adjB {
					row[j] += x * conj(dense[j*k+at])
				} else {
					row[j] += x * dense[at*cols+j]
				}
			}
		}
		return nil
	}
}
