package dataset

import (
	"context"
	"fmt"
	"io"

	"github.com/cairnml/cairn/internal/structure"
)

// FromSlices makes a dataset of the rows of v's tensors and Go slices: element i
// holds row i of each, along the first dimension, which must have the same
// length in all. They may be in structs, maps and arrays, and be reached through
// pointers. A Go slice stays a slice: of length 1 in an element, of length n in
// a batch of n. The rows share v's storage, which must not be changed.
//
//	type Example struct {
//		X [][]float32
//		Y []string
//	}
//	dataset.FromSlices(Example{X: inputs, Y: labels}).Batch(32, nil)
func FromSlices[T any](v T) *Dataset[T] {
	layout, err := layoutOf[T]()
	if err != nil {
		return failed[T](err)
	}
	places, err := placesOf(layout, &v)
	if err == nil && len(places) == 0 {
		err = fmt.Errorf("dataset: FromSlices: the %T holds no tensor", v)
	}
	if err != nil {
		return failed[T](err)
	}
	columns := make([]column, len(places))
	for i, p := range places {
		if columns[i], err = columnOf(p); err != nil {
			return failed[T](fmt.Errorf("dataset: FromSlices: %w", err))
		}
		if n, want := columns[i].len(), columns[0].len(); n != want {
			return failed[T](fmt.Errorf("dataset: FromSlices: %s has %d rows, %s has %d", columns[i].name, n, columns[0].name, want))
		}
	}
	n := int64(columns[0].len())
	return &Dataset[T]{
		open: func(pass) cursor[T] {
			return &sliceCursor[T]{layout: layout, form: v, columns: columns, len: n}
		},
		pipeline: fmt.Sprintf("slices(%d)", n), // checkpoints contain it, so it must stay
		size:     n,
	}
}

type sliceCursor[T any] struct {
	layout  *structure.Layout
	form    T // the argument of FromSlices; an element is a copy of it with other tensors and slices
	columns []column
	n, len  int64 // the next row's index, the number of rows
}

func (c *sliceCursor[T]) next(context.Context) (T, error) {
	if c.n >= c.len {
		var v T
		return v, io.EOF
	}
	v, err := fill(c.layout, c.form, func(k int, p place) error { return c.columns[k].put(p, int(c.n)) })
	if err == nil {
		c.n++
	}
	return v, err
}

// batch returns the next n rows as one element, fewer at the end, and how many
// there are. It copies no rows, because they are adjacent.
func (c *sliceCursor[T]) batch(n int64) (T, int64, error) {
	n = min(n, c.len-c.n)
	if n == 0 {
		var v T
		return v, 0, io.EOF
	}
	v, err := fill(c.layout, c.form, func(k int, p place) error { return c.columns[k].putRows(p, int(c.n), int(c.n+n)) })
	if err != nil {
		return v, 0, err
	}
	c.n += n
	return v, n, nil
}

func (c *sliceCursor[T]) skip(_ context.Context, n int64) error {
	if n > c.len-c.n {
		c.n = c.len
		return io.EOF
	}
	c.n += n
	return nil
}

func (c *sliceCursor[T]) save(e *encoder) { e.int(c.n) }

func (c *sliceCursor[T]) load(ctx context.Context, d *decoder) error {
	n := d.int()
	if d.err != nil {
		return d.err
	}
	return moved(c.skip(ctx, n), n)
}
