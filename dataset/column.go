package dataset

import (
	"fmt"
	"reflect"

	"github.com/cairnml/cairn/tensor"
)

// column is all rows of one field of [FromSlices].
type column struct {
	field
	data *tensor.Tensor // of a tensorField or valueField
	rows reflect.Value  // of a goField
}

// columnOf returns what v holds at l, as rows.
func columnOf(l field, v reflect.Value) (c column, err error) {
	c.field = l
	if l.kind == goField {
		c.rows = l.at(v)
		return c, nil
	}
	if c.data, err = l.get(v); err == nil && c.data.Rank() == 0 {
		err = fmt.Errorf("%s%w", l.prefix(), errNoRows)
	}
	return c, err
}

func (c column) len() int {
	if c.kind == goField {
		return c.rows.Len()
	}
	return c.data.Shape()[0]
}

// put sets the element v to row i. A Go slice has the row as its only one.
func (c column) put(v reflect.Value, i int) error {
	if c.kind == goField {
		return c.putRows(v, i, i+1)
	}
	t, err := rows(c.data, i, i+1, c.data.Shape()[1:])
	if err == nil {
		c.set(v, t)
	}
	return err
}

// putRows sets v, a batch, to rows lo to hi.
func (c column) putRows(v reflect.Value, lo, hi int) error {
	if c.kind == goField {
		c.at(v).Set(c.rows.Slice3(lo, hi, hi))
		return nil
	}
	shape := c.data.Shape().Clone()
	shape[0] = hi - lo
	t, err := rows(c.data, lo, hi, shape)
	if err == nil {
		c.set(v, t)
	}
	return err
}

// join sets out to the batch of what parts hold at l.
func join[T any](l field, out reflect.Value, parts []T) error {
	if l.kind == goField {
		all := reflect.MakeSlice(l.at(out).Type(), 0, len(parts))
		for i := range parts {
			p := l.at(reflect.ValueOf(&parts[i]).Elem())
			if p.Len() != 1 {
				return fmt.Errorf("%sthe slice in element %d has %d rows, and only single rows can be joined: use a *tensor.Tensor", l.prefix(), i, p.Len())
			}
			all = reflect.AppendSlice(all, p)
		}
		l.at(out).Set(all)
		return nil
	}
	tensors := make([]*tensor.Tensor, len(parts))
	for i := range parts {
		var err error
		if tensors[i], err = l.get(reflect.ValueOf(&parts[i]).Elem()); err != nil {
			return err
		}
	}
	t, err := stack(tensors)
	if err != nil {
		return fmt.Errorf("%s%w", l.prefix(), err)
	}
	l.set(out, t)
	return nil
}
