package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"runtime"
)

// Dataset is a recipe for a sequence of elements. It is immutable and may be
// shared; its methods return datasets built on it. A fault in the recipe (a
// batch of 0, slices of unequal length) is reported when it is iterated.
type Dataset[T any] struct {
	open     func(p pass) cursor[T]
	seedless bool   // a shuffle in it has no seed
	pipeline string // the names of the steps; checkpoints contain it, so it must stay
	size     int64  // the number of elements, or unknown or infinite
	err      error
}

const (
	unknown  int64 = -1
	infinite int64 = -2
)

// cursor is a place in a sequence. A fresh cursor is at the start; load moves
// it to the place at which save was called on another one of the same recipe
// and pass. Each step of a pipeline has one, and calls that of the step before it. The numbers that save
// appends are part of checkpoints: a change needs another magic than "CDI1".
type cursor[T any] interface {
	// next returns the element at the place, which moves on; io.EOF at the end.
	next(ctx context.Context) (T, error)
	// save appends the place to e.
	save(e *encoder)
	// load moves a fresh cursor to a saved place.
	load(ctx context.Context, d *decoder) error
}

// pass identifies one pass of a cursor over a dataset. A shuffle's order is a function of it.
type pass struct {
	n    uint64 // its number, see within
	seed uint64 // the iteration's, for shuffles that have none; 0 if each has one
}

// firstPass begins an iteration. If a shuffle needs a seed it is drawn once, so
// that all passes of the iteration can be made again from one number.
func (d *Dataset[T]) firstPass() (p pass) {
	for d.seedless && p.seed == 0 {
		p.seed = rand.Uint64()
	}
	return p
}

// within returns pass n inside of p. Passes of one Repeat are 0, 1, 2 …; those
// of nested ones are far apart. The factor must stay, because the orders of shuffles
// depend on it.
func (p pass) within(n uint64) pass { return pass{p.n*0x9e3779b97f4a7c15 + n, p.seed} }

// skipper is a cursor that can pass elements over without making them.
type skipper interface {
	skip(ctx context.Context, n int64) error
}

// skip passes n elements over; io.EOF if there are fewer.
func skip[T any](ctx context.Context, c cursor[T], n int64) error {
	if s, ok := c.(skipper); ok {
		return s.skip(ctx, n)
	}
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := c.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

// failed returns a dataset that only has an error.
func failed[T any](err error) *Dataset[T] { return &Dataset[T]{err: err} }

// then returns the dataset of one more step. step is its text in the pipeline, size its number of
// elements. If d has an error, so has the result.
func then[T, U any](d *Dataset[T], step string, size int64, open func(p pass) cursor[U]) *Dataset[U] {
	if d.err != nil {
		return failed[U](d.err)
	}
	return &Dataset[U]{open: open, pipeline: d.pipeline + "." + step, size: size, seedless: d.seedless}
}

// Len returns the number of elements. ok is false if it can't be known without
// iterating (after Filter, or a FromSeq) and if the dataset never ends.
func (d *Dataset[T]) Len() (n int64, ok bool) {
	if d.err != nil || d.size < 0 {
		return 0, false
	}
	return d.size, true
}

// Infinite reports whether the dataset is known never to end.
func (d *Dataset[T]) Infinite() bool { return d.size == infinite }

// Err returns the fault in the recipe, nil if there is none.
func (d *Dataset[T]) Err() error { return d.err }

// All iterates the dataset from its start. After an error, which comes with a
// zero element, the iteration ends; ctx's end is such an error, and so is a
// function that is being traced, as for [Iterator.Next].
func (d *Dataset[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		if d.err != nil {
			yield(zero, d.err)
			return
		}
		if err := notInTrace("All"); err != nil {
			yield(zero, err)
			return
		}
		yieldAll(ctx, d.open(d.firstPass()).next, yield)
	}
}

// yieldAll yields the results of next until its end or its first error.
func yieldAll[T any](ctx context.Context, next func(context.Context) (T, error), yield func(T, error) bool) {
	for {
		v, err := next(ctx)
		if err == nil {
			err = ctx.Err()
		}
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			var zero T
			yield(zero, err)
			return
		case !yield(v, nil):
			return
		}
	}
}

// FromSeq makes a dataset of the elements that seq yields. Every pass calls
// seq anew; restoring an iterator passes the elements before its place over, so
// seq must yield the same ones again.
func FromSeq[T any](seq func(ctx context.Context) iter.Seq2[T, error]) *Dataset[T] {
	if seq == nil {
		return failed[T](errors.New("dataset: FromSeq of a nil function"))
	}
	return &Dataset[T]{
		open:     func(pass) cursor[T] { return &seqCursor[T]{seq: seq} },
		pipeline: "seq",
		size:     unknown,
	}
}

// seqCursor pulls from a sequence. The coroutine of iter.Pull2 ends with the
// sequence, or is stopped when no caller can pull any more.
type seqCursor[T any] struct {
	seq  func(ctx context.Context) iter.Seq2[T, error]
	pull func() (T, error, bool)
	n    int64 // elements pulled, the cursor's place
	done bool
}

func (c *seqCursor[T]) next(ctx context.Context) (T, error) {
	var zero T
	if c.done {
		return zero, io.EOF
	}
	if c.pull == nil {
		var stop func()
		c.pull, stop = iter.Pull2(c.seq(context.WithoutCancel(ctx)))
		runtime.AddCleanup(c, func(stop func()) { stop() }, stop)
	}
	v, err, ok := c.pull()
	if !ok {
		c.done = true
		return zero, io.EOF
	}
	if err != nil {
		return zero, err
	}
	c.n++
	return v, nil
}

func (c *seqCursor[T]) save(e *encoder) { e.int(c.n) }

func (c *seqCursor[T]) load(ctx context.Context, d *decoder) error {
	n := d.int()
	if d.err != nil {
		return d.err
	}
	return moved(skip[T](ctx, c, n), n)
}

// moved returns the error of a cursor that moved to a saved place after n elements: err, but an
// explanation for io.EOF.
func moved(err error, n int64) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("dataset: the saved place is after element %d, but the source has fewer: restore into the same data: %w", n, ErrState)
	}
	return err
}
