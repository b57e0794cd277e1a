package dataset

import (
	"context"
	"fmt"
	"io"
	"reflect"

	"github.com/cairnml/cairn/tensor"
)

// FromSlices makes a dataset of the rows of v's tensors: element i holds row i
// of each, along the first dimension, which must be as long in all. T says what
// can be an element. The rows share v's storage, which must not be changed.
func FromSlices[T any](v T) *Dataset[T] {
	leaves, err := leavesOf[T]()
	if err != nil {
		return failed[T](err)
	}
	whole := make([]*tensor.Tensor, len(leaves))
	at := reflect.ValueOf(&v).Elem()
	for i, l := range leaves {
		if whole[i], err = l.get(at); err != nil {
			return failed[T](err)
		}
		if whole[i].Rank() == 0 {
			return failed[T](fmt.Errorf("dataset: FromSlices: %s%w", l.prefix(), errNoRows))
		}
		if n, want := whole[i].Shape()[0], whole[0].Shape()[0]; n != want {
			return failed[T](fmt.Errorf("dataset: FromSlices: %s has %d rows, %s has %d", l.name, n, leaves[0].name, want))
		}
	}
	n := int64(whole[0].Shape()[0])
	return &Dataset[T]{
		open: func(pass) cursor[T] {
			return &sliceCursor[T]{leaves: leaves, whole: whole, len: n}
		},
		pipeline: fmt.Sprintf("slices(%d)", n),
		size:     n,
	}
}

type sliceCursor[T any] struct {
	leaves []leaf
	whole  []*tensor.Tensor
	n, len int64
}

func (c *sliceCursor[T]) next(context.Context) (T, error) {
	var v T
	if c.n >= c.len {
		return v, io.EOF
	}
	at := reflect.ValueOf(&v).Elem()
	for i, l := range c.leaves {
		r, err := row(c.whole[i], int(c.n))
		if err != nil {
			return v, err
		}
		l.set(at, r)
	}
	c.n++
	return v, nil
}

// batch is the next n elements in one, fewer at the end; the rows lie together
// already.
func (c *sliceCursor[T]) batch(n int64) (T, int64, error) {
	var v T
	n = min(n, c.len-c.n)
	if n == 0 {
		return v, 0, io.EOF
	}
	at := reflect.ValueOf(&v).Elem()
	for i, l := range c.leaves {
		shape := c.whole[i].Shape().Clone()
		shape[0] = int(n)
		r, err := rows(c.whole[i], int(c.n), int(c.n+n), shape)
		if err != nil {
			return v, 0, err
		}
		l.set(at, r)
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
