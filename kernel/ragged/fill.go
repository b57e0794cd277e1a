package ragged

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// fillEmptyRows puts a default in the rows without values, tells which rows that
// are, and where each value has gone.
func fillEmptyRows(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	ids, values, def := c.In(0), c.In(1), c.In(3)
	if ids.DType() != tensor.Int64 || len(ids.Shape()) != 1 || len(values.Shape()) != 1 || ids.Len() != values.Len() || def.Len() != 1 || len(def.Shape()) != 0 || def.DType() != values.DType() {
		return fmt.Errorf("rows %v%v of values %v%v and a default %v%v don't fit", ids.DType(), ids.Shape(), values.DType(), values.Shape(), def.DType(), def.Shape())
	}
	n, err := shapes.Int(c.In(2), "the number of rows")
	if err != nil {
		return err
	}
	if n < 0 || n != int64(int(n)) {
		return fmt.Errorf("there are %d rows", n)
	}
	empty, err := c.Alloc(2, tensor.Bool, tensor.Shape{int(n)})
	if err != nil {
		return err
	}
	if err := c.Afford(16 * n); err != nil {
		return err
	}
	next := make([]int, n) // where a row's next value goes
	rows := tensor.Values[int64](ids)
	for i, k := range rows {
		if k < 0 || k >= n {
			return fmt.Errorf("row %d of value %d is outside of [0, %d)", k, i, n)
		}
		next[k]++
	}
	total := 0
	missing := tensor.Values[bool](empty)
	for k, m := range next {
		missing[k] = m == 0
		next[k] = total
		total += max(m, 1)
	}
	out, err := c.Alloc(1, values.DType(), tensor.Shape{total})
	if err != nil {
		return err
	}
	at := make([]int64, total)
	for k, is := range missing {
		if is {
			at[next[k]] = int64(k)
			copyElements(out, def, next[k], 0, 1)
		}
	}
	moved := make([]int64, len(rows))
	for i, k := range rows {
		to := next[k]
		next[k]++
		moved[i], at[to] = int64(to), k
		copyElements(out, values, to, i, 1)
	}
	ids1, err := tensor.New(at, total)
	if n == 0 {
		ids1, err = tensor.New(at, 0, 1) // as TensorFlow gives it
	}
	if err != nil {
		return err
	}
	c.Set(0, ids1)
	c.Set(3, tensor.Vector(moved...))
	return nil
}

var fillGradTypes = elementwise.ByType{
	tensor.Float32: fillGrad[float32], tensor.Float64: fillGrad[float64], tensor.Complex64: fillGrad[complex64], tensor.Complex128: fillGrad[complex128],
	tensor.Int8: fillGrad[int8], tensor.Int16: fillGrad[int16], tensor.Int32: fillGrad[int32], tensor.Int64: fillGrad[int64],
	tensor.Uint8: fillGrad[uint8], tensor.Uint16: fillGrad[uint16], tensor.Uint32: fillGrad[uint32], tensor.Uint64: fillGrad[uint64],
}

func fillEmptyRowsGrad(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	d := c.In(1).DType()
	if d != tensor.Float16 && d != tensor.BFloat16 {
		return fillGradTypes.RunAs(c, d)
	}
	wide, err := tensor.Cast(c.In(1), tensor.Float32)
	if err != nil {
		return err
	}
	c.Substitute(1, wide)
	if err := fillGrad[float32](c); err != nil {
		return err
	}
	for i := range 2 {
		t, err := tensor.Cast(c.Results()[i].Tensor, d)
		if err != nil {
			return err
		}
		c.Set(i, t)
	}
	return nil
}

// fillGrad hands the gradients of filled rows back: a value gets that of where
// it has gone, the default all others.
func fillGrad[T float32 | float64 | complex64 | complex128 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](c *engine.Call) error {
	moved, grads := c.In(0), tensor.Values[T](c.In(1))
	if len(moved.Shape()) != 1 || moved.DType() != tensor.Int64 || len(c.In(1).Shape()) != 1 {
		return fmt.Errorf("takes two vectors, not %v%v and %v", moved.DType(), moved.Shape(), c.In(1).Shape())
	}
	out, err := c.Alloc(0, c.In(1).DType(), moved.Shape())
	if err != nil {
		return err
	}
	v, seen := tensor.Values[T](out), make([]bool, len(grads))
	for i, k := range tensor.Values[int64](moved) {
		if k < 0 || k >= int64(len(grads)) {
			return fmt.Errorf("place %d is outside of [0, %d)", k, len(grads))
		}
		v[i], seen[k] = grads[k], true
	}
	var rest T
	for k, was := range seen {
		if !was {
			rest += grads[k]
		}
	}
	c.Set(1, tensor.Scalar(rest))
	return nil
}
