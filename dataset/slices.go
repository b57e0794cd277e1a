package dataset

import (
	"context"
	"fmt"
	"io"
	"reflect"
)

// FromSlices makes a dataset of the rows of v's tensors and Go slices: element i
// holds row i of each, along the first dimension, which must be as long in all.
// A Go slice stays one: it has that row alone in an element, and n rows in a
// batch of n. The rows share v's storage, which must not be changed.
//
//	type Example struct {
//		X [][]float32
//		Y []string
//	}
//	dataset.FromSlices(Example{X: inputs, Y: labels}).Batch(32, nil)
func FromSlices[T any](v T) *Dataset[T] {
	fields, err := fieldsOf[T]()
	if err != nil {
		return failed[T](err)
	}
	columns := make([]column, len(fields))
	at := reflect.ValueOf(&v).Elem()
	for i, l := range fields {
		if columns[i], err = columnOf(l, at); err != nil {
			return failed[T](fmt.Errorf("dataset: FromSlices: %w", err))
		}
		if n, want := columns[i].len(), columns[0].len(); n != want {
			return failed[T](fmt.Errorf("dataset: FromSlices: %s has %d rows, %s has %d", l.name, n, fields[0].name, want))
		}
	}
	n := int64(columns[0].len())
	return &Dataset[T]{
		open: func(pass) cursor[T] {
			return &sliceCursor[T]{columns: columns, len: n}
		},
		pipeline: fmt.Sprintf("slices(%d)", n),
		size:     n,
	}
}

type sliceCursor[T any] struct {
	columns []column
	n, len  int64
}

func (c *sliceCursor[T]) next(context.Context) (T, error) {
	var v T
	if c.n >= c.len {
		return v, io.EOF
	}
	at := reflect.ValueOf(&v).Elem()
	for _, col := range c.columns {
		if err := col.put(at, int(c.n)); err != nil {
			return v, err
		}
	}
	c.n++
	return v, nil
}

// batch returns the next n elements in one, fewer at the end; the rows lie
// together already.
func (c *sliceCursor[T]) batch(n int64) (T, int64, error) {
	var v T
	n = min(n, c.len-c.n)
	if n == 0 {
		return v, 0, io.EOF
	}
	at := reflect.ValueOf(&v).Elem()
	for _, col := range c.columns {
		if err := col.putRows(at, int(c.n), int(c.n+n)); err != nil {
			return v, 0, err
		}
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
