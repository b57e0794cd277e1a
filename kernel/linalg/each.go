package linalg

import (
	"context"
	"sync"

	"github.com/cairnml/cairn/engine"
)

// each calls f for each of the n matrices of a batch, on all cores, and returns
// the first error. A call of f takes about ns nanoseconds. f checks the context
// itself and may then return early: if the context has ended, each returns its
// error, whatever f has returned.
func each(c *engine.Call, n int, ns float64, f func(ctx context.Context, i int) error) error {
	ctx := c.Context()
	var first failure
	c.Parallel(n, ns, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			err := ctx.Err()
			if err == nil {
				err = f(ctx, i)
			}
			if ended := ctx.Err(); ended != nil {
				err = ended // f may have returned early with other results
			}
			if err != nil {
				first.add(i, err)
				return
			}
		}
	})
	return first.err
}

// failure is the error of the first matrix that has one.
type failure struct {
	mu  sync.Mutex
	i   int
	err error
}

func (f *failure) add(i int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || i < f.i {
		f.i, f.err = i, err
	}
}
