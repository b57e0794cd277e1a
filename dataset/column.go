package dataset

import (
	"fmt"
	"reflect"

	"github.com/cairnml/cairn/internal/structure"
	"github.com/cairnml/cairn/tensor"
)

// column has the rows of one tensor or Go slice of the argument of [FromSlices]. The rows share the memory of the
// source: nothing is copied before a batch joins elements.
type column struct {
	name string
	data *tensor.Tensor // nil for a Go slice
	rows reflect.Value  // of a Go slice
}

// columnOf returns the rows of the contents of p.
func columnOf(p place) (c column, err error) {
	c.name = p.name()
	if p.isSlice() {
		c.rows = p.value()
		return c, nil
	}
	if c.data, err = p.tensor(); err == nil && c.data.Rank() == 0 {
		err = fmt.Errorf("%s%w", p.prefix(), errNoRows)
	}
	return c, err
}

func (c column) len() int {
	if c.data == nil {
		return c.rows.Len()
	}
	return c.data.Shape()[0]
}

// put sets p to row i. A Go slice has the row as its only one.
func (c column) put(p place, i int) error {
	if c.data == nil {
		return c.putRows(p, i, i+1)
	}
	t, err := rows(c.data, i, i+1, c.data.Shape()[1:])
	if err == nil {
		p.set(t)
	}
	return err
}

// putRows sets p to the batch of rows lo to hi.
func (c column) putRows(p place, lo, hi int) error {
	if c.data == nil {
		p.value().Set(c.rows.Slice3(lo, hi, hi))
		return nil
	}
	shape := c.data.Shape().Clone()
	shape[0] = hi - lo
	t, err := rows(c.data, lo, hi, shape)
	if err == nil {
		p.set(t)
	}
	return err
}

// join returns the batch of elements, which must hold data at the same places.
func join[T any](l *structure.Layout, parts []T) (T, error) {
	all := make([][]place, len(parts))
	for i := range parts {
		var err error
		if all[i], err = placesOf(l, &parts[i]); err != nil {
			return parts[i], err
		}
		if l.Fixed() {
			continue
		}
		for k := range max(len(all[0]), len(all[i])) {
			if k >= len(all[0]) || k >= len(all[i]) || all[0][k].Name() != all[i][k].Name() {
				return parts[i], fmt.Errorf("element %d of the batch has not the form of element 0: %d tensors and %d", i, len(all[i]), len(all[0]))
			}
		}
	}
	column := make([]place, len(parts))
	return fill(l, parts[0], func(k int, p place) error {
		for i := range all {
			column[i] = all[i][k]
		}
		return p.join(column)
	})
}

// join sets p to the batch of the contents of parts.
func (p place) join(parts []place) error {
	if p.isSlice() {
		all := reflect.MakeSlice(p.Type(), 0, len(parts))
		for i := range parts {
			rows := parts[i].value()
			if rows.Len() != 1 {
				return fmt.Errorf("%sthe slice in element %d has %d rows, and only single rows can be joined: use a *tensor.Tensor", p.prefix(), i, rows.Len())
			}
			all = reflect.AppendSlice(all, rows)
		}
		p.value().Set(all)
		return nil
	}
	tensors := make([]*tensor.Tensor, len(parts))
	for i := range parts {
		var err error
		if tensors[i], err = parts[i].tensor(); err != nil {
			return err
		}
	}
	t, err := stack(tensors)
	if err != nil {
		return fmt.Errorf("%s%w", p.prefix(), err)
	}
	p.set(t)
	return nil
}
