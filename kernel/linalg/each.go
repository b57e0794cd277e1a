package linalg

import (
	"context"

	"github.com/cairnml/cairn/engine"
)

// each calls f for each of the n matrices of a batch, on all cores, and returns
// the first error. A call of f takes about ns nanoseconds. f checks the context
// itself and may then return early: if the context has ended, each returns its
// error, whatever f has returned.
func each(c *engine.Call, n int, ns float64, f func(ctx context.Context, i int) error) error {
	ctx := c.Context()
	errs := make([]error, n)
	c.Parallel(n, ns, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if errs[i] = ctx.Err(); errs[i] == nil {
				errs[i] = f(ctx, i)
			}
			if err := ctx.Err(); err != nil {
				errs[i] = err // f may have returned early with other results
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
