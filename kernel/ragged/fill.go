package ragged

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of RaggedFillEmptyRows.

// fillEmptyRows puts a default value into the rows without values. It returns
// which rows these are, and the new index of each old value. The inputs are row
// numbers [n], values [n], the number of rows and the default. The outputs are
// row numbers, values, which rows were empty, and the new indices [n].
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
	next := make([]int, n) // index of a row's next value
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
		ids1, err = tensor.New(at, 0, 1) // the shape is TensorFlow's
	}
	if err != nil {
		return err
	}
	c.Set(0, ids1)
	c.Set(3, tensor.Vector(moved...))
	return nil
}
