package linalg

import (
	"context"

	"github.com/cairnml/cairn/engine"
)

// each calls f for each matrix of a batch, on all cores; the first error is
// returned. ns is roughly what a call takes. What f calls looks at the context.
func each(c *engine.Call, n int, ns float64, f func(ctx context.Context, i int) error) error {
	ctx := c.Context()
	errs := make([]error, n)
	c.Parallel(n, ns, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if errs[i] = ctx.Err(); errs[i] == nil {
				errs[i] = f(ctx, i)
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
