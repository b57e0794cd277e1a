package linalg

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
)

// The kernel of BandedTriangularSolve. Batches of both inputs broadcast.

// bandedSolve solves with triangular matrices whose diagonals are stored as
// rows. A lower one has the main diagonal first, then those below it. An upper
// one has the main diagonal last. Each element is stored at the index of its
// matrix row.
func bandedSolve[T scalar](c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	b, err := input[T](c, 0, false)
	if err != nil {
		return err
	}
	rhs, err := input[T](c, 1, false)
	if err != nil {
		return err
	}
	if c.In(0).DType() != c.In(1).DType() || rhs.rows != b.cols || b.rows < 1 || b.rows > max(b.cols, 1) {
		return fmt.Errorf("diagonals %v%v don't fit the right sides %v%v", c.In(0).DType(), c.In(0).Shape(), c.In(1).DType(), c.In(1).Shape())
	}
	outer, err := shape.Broadcast(b.outer, rhs.outer)
	if err != nil {
		return err
	}
	lower, adjoint := !c.Attrs().Has("lower") || c.Attrs().Bool("lower"), c.Attrs().Bool("adjoint")
	out := newResult[T](c, outer, b.cols, rhs.cols)
	ms, rs := shapes.BroadcastStrides(b.outer, outer), shapes.BroadcastStrides(rhs.outer, outer)
	n := b.cols
	err = each(c, shapes.Count(outer), float64(n*b.rows*max(rhs.cols, 1))*8, func(ctx context.Context, i int) error {
		at, from := 0, 0
		for d, k := len(outer)-1, i; d >= 0; d-- {
			at, from = at+k%outer[d]*ms[d], from+k%outer[d]*rs[d]
			k /= outer[d]
		}
		bands, x := b.at(at), rhs.at(from).clone()
		if err := substituteBands(ctx, bands, x, lower, adjoint); err != nil {
			return err
		}
		out.put(i, x.v)
		return nil
	})
	if err != nil {
		return err
	}
	return out.setOutput(c, 0)
}

// substituteBands solves in place.
func substituteBands[T scalar](ctx context.Context, bands, x matrix[T], lower, adjoint bool) error {
	n, k := bands.cols, bands.rows
	// element returns the element at d places from the diagonal in a row.
	element := func(row, d int) T {
		if lower {
			return bands.v[d*n+row]
		}
		return bands.v[(k-1-d)*n+row]
	}
	forward := lower != adjoint
	for step := range n {
		i := step
		if !forward {
			i = n - 1 - step
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for d := 1; d < k && d <= step; d++ {
			j := i - d // already solved
			if !forward {
				j = i + d
			}
			z := element(i, d)
			if adjoint {
				z = element(j, d)
				z = conj(z)
			}
			axpy(x.row(i), -z, x.row(j))
		}
		z := element(i, 0)
		if adjoint {
			z = conj(z)
		}
		if z == 0 {
			return errSingular
		}
		for j := range x.row(i) {
			x.row(i)[j] /= z
		}
	}
	return nil
}
