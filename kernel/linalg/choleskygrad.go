package linalg

import (
	"context"
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
)

// choleskyGrad computes the gradient of Cholesky from that of its factors. It
// is the kernel of CholeskyGrad and BatchCholeskyGrad. Input 0 has factors
// l, input 1 their gradients g, both [..., n, n]; it reads their lower triangles. M is
// the lower triangle of l* g with half its diagonal. The result is the symmetric part
// of l^-* M l^-1. A zero or NaN on the diagonal of l is an error.
func choleskyGrad(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	l, err := input[float64](c, 0, true)
	if err != nil {
		return err
	}
	g, err := input[float64](c, 1, true)
	if err != nil {
		return err
	}
	if c.In(0).DType() != c.In(1).DType() || !c.In(0).Shape().Equal(c.In(1).Shape()) {
		return fmt.Errorf("factors %v%v don't fit the gradients %v%v", c.In(0).DType(), c.In(0).Shape(), c.In(1).DType(), c.In(1).Shape())
	}
	n := l.rows
	out := newResult[float64](c, l.outer, n, n)
	err = each(c, l.len(), 4*cube(n), func(ctx context.Context, i int) error {
		f, d := l.at(i), g.at(i) // copies of the inputs
		for r := range n {       // the upper triangles don't count
			for k := r + 1; k < n; k++ {
				f.v[r*n+k], d.v[r*n+k] = 0, 0
			}
			if f.v[r*n+r] == 0 || math.IsNaN(f.v[r*n+r]) {
				return errPositive
			}
		}
		middle := product(ctx, f.adjoint(), d)
		for r := range n {
			middle.v[r*n+r] /= 2
			for k := r + 1; k < n; k++ {
				middle.v[r*n+k] = 0
			}
		}
		adjoint := f.adjoint()
		if err := substitute(ctx, adjoint, middle, false, false); err != nil { // middle = l^-* M
			return err
		}
		right := middle.adjoint()
		if err := substitute(ctx, adjoint, right, false, false); err != nil { // right = (l^-* M l^-1)*
			return err
		}
		for r := range n {
			for k := range n {
				out.v[(i*n+r)*n+k] = (right.v[k*n+r] + right.v[r*n+k]) / 2
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.setOutput(c, 0)
}
