package rnn

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/gemm"
	"github.com/cairnml/cairn/tensor"
)

// float has the types in which this family computes.
type float interface{ float32 | float64 }

// values returns the elements of a tensor as T. Half precision is widened to T,
// which is float32 then.
func values[T float](c *engine.Call, t *tensor.Tensor) []T {
	var v any
	switch t.DType() {
	case tensor.Float16:
		v = elementwise.Widened[tensor.F16](c, t)
	case tensor.BFloat16:
		v = elementwise.Widened[tensor.BF16](c, t)
	case tensor.Float32:
		v = tensor.Values[float32](t)
	case tensor.Float64:
		v = tensor.Values[float64](t)
	}
	out, _ := v.([]T)
	return out
}

// output allocates output i. It returns zeroed memory for its elements, and a
// function that copies them to the output when they are computed.
func output[T float](c *engine.Call, i int, d tensor.DType, dims ...int) ([]T, func(), error) {
	t, err := c.AllocZero(i, d, dims)
	if err != nil {
		return nil, nil, err
	}
	switch d {
	case tensor.Float16, tensor.BFloat16:
		wide := elementwise.Wide(c, t.Len())
		v, _ := any(wide).([]T)
		return v, func() {
			if d == tensor.Float16 {
				elementwise.Narrow(tensor.Values[tensor.F16](t), wide)
			} else {
				elementwise.Narrow(tensor.Values[tensor.BF16](t), wide)
			}
		}, nil
	}
	return values[T](c, t), func() {}, nil
}

// zeroed returns zeroed memory of n numbers that lasts until the kernel returns.
func zeroed[T float](c *engine.Call, n int) []T {
	v, _ := engine.Scratch[T](c, n)
	clear(v)
	return v
}

// addProduct adds op(A)·op(B) to C, all rows being adjacent: C is m×n, the inner
// dimension k.
func addProduct[T float](c *engine.Call, out []T, a []T, lda int, transA bool, b []T, ldb int, transB bool, m, n, k int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	if unsafe.Sizeof(out[0]) == 4 {
		gemm.F32(any(out).([]float32), n, any(a).([]float32), lda, transA, any(b).([]float32), ldb, transB, m, n, k, true, c.Workers())
		return
	}
	gemm.F64(any(out).([]float64), n, any(a).([]float64), lda, transA, any(b).([]float64), ldb, transB, m, n, k, true, c.Workers())
}

// sigmoid returns the logistic function of x, computed in double precision.
func sigmoid[T float](x T) T { return T(1 / (1 + math.Exp(-float64(x)))) }

// tanh returns the hyperbolic tangent of x, computed in double precision.
func tanh[T float](x T) T { return T(math.Tanh(float64(x))) }

// addRow adds a row to each of the rows.
func addRow[T float](rows, row []T) {
	for i := 0; i+len(row) <= len(rows) && len(row) > 0; i += len(row) {
		for j, v := range row {
			rows[i+j] += v
		}
	}
}

// dims checks the type and the shape of input i, which has a name in the op's
// definition.
func dims(c *engine.Call, i int, name string, d tensor.DType, want ...int) error {
	t := c.In(i)
	if t.DType() != d || !t.Shape().Equal(want) {
		return fmt.Errorf("%s is %v%v, not %v%v", name, t.DType(), t.Shape(), d, tensor.Shape(want))
	}
	return nil
}

// all returns the first of the errors.
func all(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
