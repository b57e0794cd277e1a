package io

import (
	"fmt"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// loadAndRemap prepares LoadAndRemapMatrix. It returns a checkpoint's matrix as
// [num_rows, num_cols], with rows and columns moved. Elements without an old place
// get the initial values, in row-major order. The attribute max_rows_in_memory has
// no effect: the whole matrix is read.
func loadAndRemap(n *engine.Node) (func(*engine.Call) error, error) {
	rows, cols := n.Attrs.Int("num_rows", 0), n.Attrs.Int("num_cols", 0)
	if rows < 0 || cols < 1 {
		return nil, fmt.Errorf("num_rows and num_cols are %d and %d", rows, cols)
	}
	return func(c *engine.Call) error {
		if err := c.Need(5); err != nil {
			return err
		}
		var names [2]string
		for i, what := range []string{"the checkpoint", "the tensor's name"} {
			var err error
			if names[i], err = text(c, i, what); err != nil {
				return err
			}
		}
		from, err := places(c, 2, rows)
		if err != nil {
			return fmt.Errorf("row_remapping: %w", err)
		}
		across, err := places(c, 3, cols) // an empty col_remapping keeps the columns
		if err != nil && c.In(3).Len() > 0 {
			return fmt.Errorf("col_remapping: %w", err)
		}
		initial, err := tensor.ValuesOf[float32](c.In(4))
		if err != nil {
			return err
		}
		fsys, place, err := c.Reading(names[0])
		if err != nil {
			return err
		}
		r, err := bundle.Open(c.Context(), fsys, place, nil)
		if err != nil {
			return err
		}
		defer r.Close()
		e, ok := r.Entry(names[1])
		if ok && (e.DType != tensor.Float32 || len(e.Shape) != 2) {
			return fmt.Errorf("the tensor %q is %v%v, not a matrix of float32", names[1], e.DType, e.Shape)
		}
		if ok {
			if err := c.Afford(4 * int64(shapes.Count(e.Shape))); err != nil {
				return err
			}
		}
		m, err := r.Read(c.Context(), names[1])
		if err != nil {
			return err
		}
		height, width := int64(m.Shape()[0]), int64(m.Shape()[1])
		if across == nil {
			if width != cols {
				return fmt.Errorf("the tensor %q has %d columns, num_cols is %d", names[1], width, cols)
			}
			across = make([]int64, cols)
			for i := range across {
				across[i] = int64(i)
			}
		}
		out, err := c.Alloc(0, tensor.Float32, tensor.Shape{int(rows), int(cols)})
		if err != nil {
			return err
		}
		given, y, x := len(initial), tensor.Values[float32](out), tensor.Values[float32](m)
		for i, row := range from {
			for k, col := range across {
				c.Step(i*int(cols) + k)
				switch {
				case row >= height || col >= width:
					return fmt.Errorf("the tensor %q has shape %v, and no element %d, %d", names[1], m.Shape(), row, col)
				case row >= 0 && col >= 0:
					y[i*int(cols)+k] = x[row*width+col]
				case len(initial) == 0:
					return fmt.Errorf("initializing_values has %d elements, more are missing", given)
				default:
					y[i*int(cols)+k], initial = initial[0], initial[1:]
				}
			}
		}
		if len(initial) > 0 {
			return fmt.Errorf("initializing_values has %d elements, %d are missing", given, given-len(initial))
		}
		return nil
	}, nil
}

// places returns the vector of input i: the old index of each of n rows or
// columns, without repeats, or a negative number for none.
func places(c *engine.Call, i int, n int64) ([]int64, error) {
	t := c.In(i)
	v, err := tensor.ValuesOf[int64](t)
	if err != nil {
		return nil, err
	}
	if len(t.Shape()) != 1 || int64(len(v)) != n {
		return nil, fmt.Errorf("it has shape %v, not [%d]", t.Shape(), n)
	}
	seen := make(map[int64]int, len(v))
	for to, old := range v {
		c.Step(to)
		if at, twice := seen[old]; twice && old >= 0 {
			return nil, fmt.Errorf("the old place %d goes to both %d and %d", old, at, to)
		}
		seen[old] = to
	}
	return v, nil
}
