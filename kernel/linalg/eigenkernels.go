package linalg

import (
	"context"

	"github.com/cairnml/cairn/engine"
)

// The kernels of SelfAdjointEigV2, SelfAdjointEig and their Batch forms.

// selfAdjointEig returns the eigenvalues [..., n] in rising order and, with
// compute_v, the eigenvectors as columns [..., n, n].
func selfAdjointEig[T scalar](c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input[T](c, 0, true)
	if err != nil {
		return err
	}
	with := c.Attrs().Bool("compute_v")
	values, vectors := newResult[T](c, b.outer, b.rows), newResult[T](c, nil, 0)
	if with {
		vectors = newResult[T](c, b.outer, b.rows, b.rows)
	}
	err = each(c, b.len(), 4*cube(b.rows), func(ctx context.Context, i int) error {
		e, v, err := hermitian(ctx, b.at(i), with)
		for k, x := range e {
			values.v[i*b.rows+k] = asScalar[T](x)
		}
		if with && err == nil {
			vectors.putTransposed(i, v)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := values.setOutput(c, 0); err != nil {
		return err
	}
	return vectors.setOutput(c, 1)
}

// selfAdjointEigV1 returns a matrix [..., n+1, n]: the eigenvalues in the first row, and below
// it the eigenvectors as columns.
func selfAdjointEigV1(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input[float64](c, 0, true)
	if err != nil {
		return err
	}
	n := b.rows
	out := newResult[float64](c, b.outer, n+1, n)
	err = each(c, b.len(), 20*cube(n), func(ctx context.Context, i int) error {
		e, v, err := hermitian(ctx, b.at(i), true)
		at := i * (n + 1) * n
		copy(out.v[at:], e)
		if err == nil {
			copy(out.v[at+n:], v.transpose().v)
		}
		return err
	})
	if err != nil {
		return err
	}
	return out.setOutput(c, 0)
}
