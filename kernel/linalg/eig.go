package linalg

import (
	"cmp"
	"context"
	"math"
	"math/cmplx"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// eig computes eigenvalues and, as columns, eigenvectors of length 1. Those of
// complex matrices are in the order of the values' magnitudes, as in Eigen.
// Those of real matrices are in the order of the Schur triangle's diagonal. It
// is the kernel of Eig. The lengths and signs of eigenvectors aren't unique:
// Cairn's have length 1, and their phase may differ from TensorFlow's.
func eig(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input[complex128](c, 0, true)
	if err != nil {
		return err
	}
	n := b.rows
	values, vectors := newResult[complex128](c, b.outer, n), newResult[complex128](c, b.outer, n, n)
	err = each(c, b.len(), 30*cube(n), func(ctx context.Context, i int) error {
		if n == 0 {
			return nil
		}
		q, t, err := schur(ctx, b.at(i))
		if err != nil {
			return err
		}
		v := product(ctx, q, triangleVectors(ctx, t))
		order := make([]int, n)
		for k := range order {
			order[k] = k
		}
		if c.In(0).DType().IsComplex() {
			slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(cmplx.Abs(t.v[x*n+x]), cmplx.Abs(t.v[y*n+y])) })
		}
		sorted := newMatrix[complex128](n, n)
		for k, from := range order {
			values.v[i*n+k] = t.v[from*n+from]
			norm := 0.0
			for r := range n {
				norm = math.Hypot(norm, cmplx.Abs(v.v[r*n+from]))
			}
			for r := range n {
				sorted.v[r*n+k] = v.v[r*n+from] / complex(norm, 0)
			}
		}
		vectors.put(i, sorted.v)
		return nil
	})
	if err != nil {
		return err
	}
	d := c.Attrs().Type("Tout", tensor.Complex64)
	if with := !c.Attrs().Has("compute_v") || c.Attrs().Bool("compute_v"); !with {
		vectors = newResult[complex128](c, nil, 0)
	}
	if err := values.setOutputAs(c, 0, d); err != nil {
		return err
	}
	return vectors.setOutputAs(c, 1, d)
}

// triangleVectors returns the eigenvectors of an upper triangle, as columns. It returns early
// if ctx ends.
func triangleVectors(ctx context.Context, t matrix[complex128]) matrix[complex128] {
	n := t.rows
	v := newMatrix[complex128](n, n)
	least := 0.0
	for _, z := range t.v {
		least = max(least, cmplx.Abs(z)*0x1p-52)
	}
	for k := n - 1; k >= 0 && ctx.Err() == nil; k-- {
		v.v[k*n+k] = 1
		for i := k - 1; i >= 0; i-- {
			sum := complex128(0)
			for j := i + 1; j <= k; j++ {
				sum -= t.v[i*n+j] * v.v[j*n+k]
			}
			gap := t.v[i*n+i] - t.v[k*n+k]
			if gap == 0 { // a defective matrix has no vector here; this is near one
				gap = complex(max(least, 0x1p-1000), 0)
			}
			v.v[i*n+k] = sum / gap
		}
	}
	return v
}
