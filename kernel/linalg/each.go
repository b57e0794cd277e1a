package linalg

import (
	"context"

	"github.com/cairnml/cairn/engine"
)

// each calls f for each matrix of a batch, on all cores, and returns the first
// error. A call takes about ns nanoseconds. It checks the context, and its
// results are dropped if that has ended. n is the number of matrices.
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
