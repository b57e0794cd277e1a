package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Prefetch makes up to n elements ahead, in a separate goroutine. The goroutine
// lives only while there is space, so nothing has to be closed. The iterator's
// saved place is that of the last element taken, not of the last one made.
func (d *Dataset[T]) Prefetch(n int) *Dataset[T] {
	if n < 1 {
		return failed[T](errors.Join(d.err, fmt.Errorf("dataset: Prefetch: the size is %d, want 1 or more", n)))
	}
	return then(d, "prefetch", d.size, func(p pass) cursor[T] {
		c := &prefetched[T]{from: d.open(p), ahead: n}
		c.ready.L = &c.mu
		var e encoder
		c.from.save(&e)
		c.place = e.buf
		return c
	})
}

// prefetched is the cursor of Prefetch. It reads the source with a context that doesn't end, because an element that
// is made for one call may be taken by another. The text of the step is in checkpoints and must stay; the size isn't
// part of it, so it may differ when a place is restored.
type prefetched[T any] struct {
	ahead int // most elements in queue

	mu      sync.Mutex
	ready   sync.Cond
	from    cursor[T] // used by the filling goroutine alone, while filling
	filling bool
	queue   []made[T]
	place   []byte // from's place after the last element taken
}

// made is an element with the source's place after it.
type made[T any] struct {
	v     T
	err   error
	place []byte
}

func (c *prefetched[T]) next(ctx context.Context) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fill(ctx)
	if len(c.queue) == 0 {
		stop := context.AfterFunc(ctx, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ready.Broadcast()
		})
		defer stop()
	}
	for len(c.queue) == 0 {
		// An element that is made later stays for the next call.
		if err := ctx.Err(); err != nil {
			var zero T
			return zero, err
		}
		c.ready.Wait()
	}
	m := c.queue[0]
	if m.err != nil {
		// The end stays; any other error may be past when next is called again.
		if !errors.Is(m.err, io.EOF) {
			c.queue = c.queue[1:]
		}
		return m.v, m.err
	}
	c.queue = c.queue[1:]
	c.place = m.place
	c.fill(ctx)
	return m.v, nil
}

// fill starts the goroutine if there is space and none is running.
func (c *prefetched[T]) fill(ctx context.Context) {
	if c.filling || !c.hasSpace() {
		return
	}
	c.filling = true
	ctx = context.WithoutCancel(ctx) // an element taken later has another context
	go func() {
		for {
			var m made[T]
			func() {
				defer func() {
					if p := recover(); p != nil {
						m.err = fmt.Errorf("dataset: a function of the pipeline panicked: %v", p)
					}
				}()
				m.v, m.err = c.from.next(ctx)
			}()
			var e encoder
			c.from.save(&e)
			m.place = e.buf

			c.mu.Lock()
			c.queue = append(c.queue, m)
			c.filling = c.hasSpace()
			again := c.filling
			c.ready.Broadcast()
			c.mu.Unlock()
			if !again {
				return
			}
		}
	}()
}

func (c *prefetched[T]) hasSpace() bool {
	n := len(c.queue)
	return n < c.ahead && (n == 0 || c.queue[n-1].err == nil)
}

func (c *prefetched[T]) save(e *encoder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.buf = append(e.buf, c.place...)
}

func (c *prefetched[T]) load(ctx context.Context, d *decoder) error {
	before := d.buf
	if err := c.from.load(ctx, d); err != nil {
		return err
	}
	c.place = before[:len(before)-len(d.buf)]
	return nil
}
