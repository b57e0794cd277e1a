package dataset

import (
	"context"
	"errors"
	"io"
	"sync"
)

// Map makes an element of another type from each one. An error of f ends the
// iteration; the place is then after the faulty element. If a shuffle after it is restored, f runs again on the elements
// before the place, so it must depend on its argument alone.
func Map[T, U any](d *Dataset[T], f func(ctx context.Context, v T) (U, error)) *Dataset[U] {
	if f == nil {
		return failed[U](errors.New("dataset: Map with a nil function"))
	}
	return then(d, "map", d.size, func(p pass) cursor[U] {
		return &mapped[T, U]{from: d.open(p), f: f}
	})
}

// Map changes each element by f. The function [Map] changes their type too.
func (d *Dataset[T]) Map(f func(ctx context.Context, v T) (T, error)) *Dataset[T] { return Map(d, f) }

// mapped is the cursor of Map. Checkpoints contain the texts of the steps in this file, such as "map",
// and the numbers that cursors save, so they must stay.
type mapped[T, U any] struct {
	from cursor[T]
	f    func(context.Context, T) (U, error)
}

func (c *mapped[T, U]) next(ctx context.Context) (U, error) {
	v, err := c.from.next(ctx)
	if err != nil {
		var zero U
		return zero, err
	}
	return c.f(ctx, v)
}

func (c *mapped[T, U]) skip(ctx context.Context, n int64) error    { return skip(ctx, c.from, n) }
func (c *mapped[T, U]) save(e *encoder)                            { c.from.save(e) }
func (c *mapped[T, U]) load(ctx context.Context, d *decoder) error { return c.from.load(ctx, d) }

// Filter keeps the elements for which keep is true.
func (d *Dataset[T]) Filter(keep func(v T) bool) *Dataset[T] {
	if keep == nil {
		return failed[T](errors.New("dataset: Filter with a nil function"))
	}
	size := unknown
	if d.size == 0 {
		size = 0
	}
	return then(d, "filter", size, func(p pass) cursor[T] {
		return &filtered[T]{from: d.open(p), keep: keep}
	})
}

type filtered[T any] struct {
	from cursor[T]
	keep func(T) bool
}

func (c *filtered[T]) next(ctx context.Context) (T, error) {
	for {
		v, err := c.from.next(ctx)
		if err != nil || c.keep(v) {
			return v, err
		}
		if err := ctx.Err(); err != nil {
			return v, err
		}
	}
}

func (c *filtered[T]) save(e *encoder)                            { c.from.save(e) }
func (c *filtered[T]) load(ctx context.Context, d *decoder) error { return c.from.load(ctx, d) }

// Cache keeps all elements in memory: the steps before it run once, at the
// first element that is asked for, and never again. The dataset must end.
func (d *Dataset[T]) Cache() *Dataset[T] {
	if d.size == infinite {
		return failed[T](errors.New("dataset: Cache of a dataset that never ends: put Repeat after it"))
	}
	var (
		mu   sync.Mutex
		full bool
		all  []T
	)
	fill := func(ctx context.Context, p pass) ([]T, error) {
		mu.Lock()
		defer mu.Unlock()
		if full {
			return all, nil
		}
		var got []T
		var failure error
		yieldAll(ctx, d.open(p).next, func(v T, err error) bool {
			got, failure = append(got, v), err
			return err == nil
		})
		if failure != nil {
			return nil, failure
		}
		all, full = got, true
		return all, nil
	}
	return then(d, "cache", d.size, func(p pass) cursor[T] {
		return &cached[T]{fill: func(ctx context.Context) ([]T, error) { return fill(ctx, p) }}
	})
}

type cached[T any] struct {
	fill func(context.Context) ([]T, error)
	n    int64
}

func (c *cached[T]) next(ctx context.Context) (T, error) {
	var zero T
	all, err := c.fill(ctx)
	if err != nil {
		return zero, err
	}
	if c.n >= int64(len(all)) {
		return zero, io.EOF
	}
	c.n++
	return all[c.n-1], nil
}

func (c *cached[T]) skip(ctx context.Context, n int64) error {
	all, err := c.fill(ctx)
	if err != nil {
		return err
	}
	if n > int64(len(all))-c.n {
		c.n = int64(len(all))
		return io.EOF
	}
	c.n += n
	return nil
}

func (c *cached[T]) save(e *encoder) { e.int(c.n) }

func (c *cached[T]) load(ctx context.Context, d *decoder) error {
	n := d.int()
	if d.err != nil {
		return d.err
	}
	return moved(c.skip(ctx, n), n)
}
