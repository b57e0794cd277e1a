package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cairnml/cairn/internal/structure"
)

// BatchOptions are the options of [Dataset.Batch].
type BatchOptions struct {
	// DropRemainder leaves out a last batch that would be smaller. False: it is
	// returned.
	DropRemainder bool
}

// Batch joins n elements into one: each tensor gets a new first dimension of
// length n, and each Go slice, which holds one row in every element, gets n
// rows. All elements must have the same types and shapes.
func (d *Dataset[T]) Batch(n int, o *BatchOptions) *Dataset[T] {
	if o == nil {
		o = &BatchOptions{}
	}
	layout, err := layoutOf[T]()
	if err == nil && n < 1 {
		err = fmt.Errorf("dataset: Batch: the size is %d, want 1 or more", n)
	}
	if err != nil {
		return failed[T](errors.Join(d.err, err))
	}
	drop, size, step := o.DropRemainder, d.size, fmt.Sprintf("batch(%d)", n)
	if drop {
		step = fmt.Sprintf("batch(%d,drop)", n)
	}
	if size >= 0 {
		if !drop {
			size += int64(n) - 1
		}
		size /= int64(n)
	}
	return then(d, step, size, func(p pass) cursor[T] {
		return &batched[T]{from: d.open(p), layout: layout, n: n, drop: drop}
	})
}

// batched is the cursor of Batch. The rows of a batch of FromSlices are adjacent, so it is one part of each tensor. All
// other sources are read one element at a time. The text of the step, "batch(n)" or "batch(n,drop)", is in checkpoints
// and must stay.
type batched[T any] struct {
	from   cursor[T]
	layout *structure.Layout
	n      int
	drop   bool
	parts  []T     // elements taken for the next batch, if an error cut it off
	start  encoder // from's place before the first of parts
}

func (c *batched[T]) next(ctx context.Context) (T, error) {
	var out T
	if s, ok := c.from.(*sliceCursor[T]); ok {
		v, n, err := s.batch(int64(c.n))
		if err == nil && c.drop && n < int64(c.n) {
			return out, io.EOF
		}
		return v, err
	}
	// Elements of a batch that an error cut off stay for the next call.
	if len(c.parts) == 0 {
		c.start.buf = c.start.buf[:0]
		c.from.save(&c.start)
	}
	for len(c.parts) < c.n {
		v, err := c.from.next(ctx)
		if errors.Is(err, io.EOF) {
			if len(c.parts) == 0 || c.drop {
				return out, io.EOF
			}
			break
		}
		if err != nil {
			return out, err
		}
		c.parts = append(c.parts, v)
	}
	out, err := join(c.layout, c.parts)
	if err != nil {
		return out, fmt.Errorf("dataset: Batch: %w", err)
	}
	clear(c.parts)
	c.parts = c.parts[:0]
	return out, nil
}

func (c *batched[T]) skip(ctx context.Context, n int64) error {
	if s, ok := c.from.(*sliceCursor[T]); ok && !c.drop {
		// Whole batches, and a smaller one at the end.
		for range n {
			left := min(int64(c.n), s.len-s.n)
			if left == 0 {
				return io.EOF
			}
			s.n += left
		}
		return nil
	}
	for range n {
		if _, err := c.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

// save writes the place before the next batch: elements that were taken for it are read again.
func (c *batched[T]) save(e *encoder) {
	if len(c.parts) > 0 {
		e.buf = append(e.buf, c.start.buf...)
		return
	}
	c.from.save(e)
}

func (c *batched[T]) load(ctx context.Context, d *decoder) error {
	c.parts = nil
	return c.from.load(ctx, d)
}
