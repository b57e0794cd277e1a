package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Repeat returns n passes over the dataset, without an end if n is negative. A
// shuffle before it has a different order in each pass.
func (d *Dataset[T]) Repeat(n int) *Dataset[T] {
	times, size := int64(n), unknown
	switch {
	case n < 0:
		times, size = infinite, infinite
	case n == 0:
		size = 0
	case d.size == infinite:
		size = infinite
	case d.size >= 0 && (d.size == 0 || d.size <= (1<<62)/times):
		size = d.size * times
	}
	if d.size == 0 {
		size = 0
	}
	return then(d, fmt.Sprintf("repeat(%d)", n), size, func(p pass) cursor[T] {
		return &repeated[T]{open: d.open, pass: p, times: times}
	})
}

// Epoch returns pass n of the dataset by itself, in the order that it has as the n-th pass (from 0) of a
// Repeat. The text of this step has no n. So a place that was saved in one pass can be restored in the iterator
// of another, and then continues the saved pass if it has a shuffle.
func (d *Dataset[T]) Epoch(n int) *Dataset[T] {
	return then(d, "epoch", d.size, func(p pass) cursor[T] {
		return d.open(p.within(uint64(n)))
	})
}

// repeated is the cursor of Repeat. Checkpoints contain the texts of the steps in this file, such as
// "repeat(n)", and the numbers that cursors save, so they must stay.
type repeated[T any] struct {
	open  func(pass) cursor[T]
	pass  pass
	times int64 // passes to make; infinite (-2) for no end
	n     int64 // passes begun
	from  cursor[T]
}

func (c *repeated[T]) begin() {
	c.from = c.open(c.pass.within(uint64(c.n)))
	c.n++
}

func (c *repeated[T]) next(ctx context.Context) (T, error) {
	fresh := false
	for {
		if c.from != nil {
			v, err := c.from.next(ctx)
			if !errors.Is(err, io.EOF) {
				return v, err
			}
			c.from = nil
			if fresh {
				// An empty pass: more of them would never yield anything.
				c.times = c.n
			}
		}
		if c.times >= 0 && c.n >= c.times {
			var zero T
			return zero, io.EOF
		}
		c.begin()
		fresh = true
	}
}

func (c *repeated[T]) save(e *encoder) {
	e.int(c.n)
	e.bool(c.from != nil)
	if c.from != nil {
		c.from.save(e)
	}
}

func (c *repeated[T]) load(ctx context.Context, d *decoder) error {
	n, inside := d.int(), d.bool()
	if d.err != nil {
		return d.err
	}
	if c.times >= 0 && n > c.times || inside && n == 0 {
		return fmt.Errorf("dataset: pass %d of %d: %w", n, c.times, ErrState)
	}
	c.n = n
	if inside {
		c.n--
		c.begin()
		return c.from.load(ctx, d)
	}
	return nil
}

// Take returns the first n elements, or all if there are fewer.
func (d *Dataset[T]) Take(n int) *Dataset[T] {
	if n < 0 {
		return failed[T](errors.Join(d.err, fmt.Errorf("dataset: Take: the count is %d, want 0 or more", n)))
	}
	size := int64(n)
	if d.size >= 0 {
		size = min(size, d.size)
	} else if d.size == unknown {
		size = unknown
	}
	return then(d, fmt.Sprintf("take(%d)", n), size, func(p pass) cursor[T] {
		return &taken[T]{from: d.open(p), left: int64(n)}
	})
}

type taken[T any] struct {
	from cursor[T]
	left int64
}

func (c *taken[T]) next(ctx context.Context) (T, error) {
	if c.left == 0 {
		var zero T
		return zero, io.EOF
	}
	v, err := c.from.next(ctx)
	if err == nil {
		c.left--
	}
	return v, err
}

func (c *taken[T]) save(e *encoder) { e.int(c.left); c.from.save(e) }

func (c *taken[T]) load(ctx context.Context, d *decoder) error {
	left := d.int()
	if d.err == nil && left > c.left {
		d.fail("more elements left than Take returns")
	}
	if d.err != nil {
		return d.err
	}
	c.left = left
	return c.from.load(ctx, d)
}

// Skip returns all but the first n elements.
func (d *Dataset[T]) Skip(n int) *Dataset[T] {
	if n < 0 {
		return failed[T](errors.Join(d.err, fmt.Errorf("dataset: Skip: the count is %d, want 0 or more", n)))
	}
	size := d.size
	if size >= 0 {
		size = max(size-int64(n), 0)
	}
	return then(d, fmt.Sprintf("skip(%d)", n), size, func(p pass) cursor[T] {
		return &skipped[T]{from: d.open(p), n: int64(n)}
	})
}

type skipped[T any] struct {
	from cursor[T]
	n    int64 // still to pass over
}

func (c *skipped[T]) next(ctx context.Context) (T, error) {
	if c.n > 0 {
		n := c.n
		c.n = 0
		if err := skip(ctx, c.from, n); err != nil {
			var zero T
			return zero, err
		}
	}
	return c.from.next(ctx)
}

func (c *skipped[T]) save(e *encoder) { e.int(c.n); c.from.save(e) }

func (c *skipped[T]) load(ctx context.Context, d *decoder) error {
	n := d.int()
	if d.err == nil && n > c.n {
		d.fail("more elements to pass over than Skip does")
	}
	if d.err != nil {
		return d.err
	}
	c.n = n
	return c.from.load(ctx, d)
}
