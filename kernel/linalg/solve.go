package linalg

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of MatrixInverse, MatrixSolve, MatrixTriangularSolve, their Batch
// forms, and Lu. They overwrite matrices that input returns: these are copies of the
// op's inputs.

// inverse returns the inverses of square matrices, or of their adjoints. A
// singular one is an error.
func inverse[T scalar](c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input[T](c, 0, true)
	if err != nil {
		return err
	}
	out := newResult[T](c, b.outer, b.rows, b.rows)
	err = each(c, b.len(), cube(b.rows), func(ctx context.Context, i int) error {
		m := b.at(i)
		if c.Attrs().Bool("adjoint") {
			m = m.adjoint()
		}
		order, err := invertible(ctx, m)
		if err != nil {
			return err
		}
		x := out.at(i)
		for k, from := range order {
			x.v[k*x.cols+from] = 1
		}
		return unfactorize(ctx, m, x)
	})
	if err != nil {
		return err
	}
	return out.setOutput(c, 0)
}

// solve solves with square matrices [..., n, n], or their adjoints, for right-hand
// sides [..., n, k].
func solve[T scalar](c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	b, err := input[T](c, 0, true)
	if err != nil {
		return err
	}
	rhs, err := input[T](c, 1, false)
	if err != nil {
		return err
	}
	if c.In(0).DType() != c.In(1).DType() || !b.outer.Equal(rhs.outer) || rhs.rows != b.rows {
		return fmt.Errorf("matrices %v%v don't fit the right sides %v%v", c.In(0).DType(), c.In(0).Shape(), c.In(1).DType(), c.In(1).Shape())
	}
	out := newResult[T](c, b.outer, b.rows, rhs.cols)
	err = each(c, b.len(), cube(b.rows), func(ctx context.Context, i int) error {
		m := b.at(i)
		if c.Attrs().Bool("adjoint") {
			m = m.adjoint()
		}
		return solveTo(ctx, out.at(i), m, rhs.at(i))
	})
	if err != nil {
		return err
	}
	return out.setOutput(c, 0)
}

// triangularSolve solves with triangular matrices. It reads the triangle that the
// attribute lower chooses, and batches broadcast. A zero on the diagonal makes infinities or NaN, not an
// error.
func triangularSolve[T scalar](c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	b, err := input[T](c, 0, true)
	if err != nil {
		return err
	}
	rhs, err := input[T](c, 1, false)
	if err != nil {
		return err
	}
	if c.In(0).DType() != c.In(1).DType() || rhs.rows != b.rows {
		return fmt.Errorf("matrices %v%v don't fit the right sides %v%v", c.In(0).DType(), c.In(0).Shape(), c.In(1).DType(), c.In(1).Shape())
	}
	outer, err := shape.Broadcast(b.outer, rhs.outer)
	if err != nil {
		return err
	}
	lower, adjoint := c.Attrs().Bool("lower"), c.Attrs().Bool("adjoint")
	out := newResult[T](c, outer, b.rows, rhs.cols)
	ms, rs := shapes.BroadcastStrides(b.outer, outer), shapes.BroadcastStrides(rhs.outer, outer)
	err = each(c, shapes.Count(outer), cube(b.rows), func(ctx context.Context, i int) error {
		at, from := 0, 0
		for d, k := len(outer)-1, i; d >= 0; d-- {
			at, from = at+k%outer[d]*ms[d], from+k%outer[d]*rs[d]
			k /= outer[d]
		}
		m, x := b.at(at), rhs.at(from).clone()
		if adjoint {
			m = m.adjoint()
		}
		err := substitute(ctx, m, x, lower != adjoint, false)
		out.put(i, x.v)
		return err
	})
	if err != nil {
		return err
	}
	return out.setOutput(c, 0)
}

// lu returns both factors in one matrix, and the order of the rows. A singular matrix
// is an error.
func lu[T scalar](c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	b, err := input[T](c, 0, true)
	if err != nil {
		return err
	}
	out := newResult[T](c, b.outer, b.rows, b.rows)
	rows := make([]int64, b.len()*b.rows)
	err = each(c, b.len(), cube(b.rows), func(ctx context.Context, i int) error {
		m := b.at(i)
		order, err := invertible(ctx, m)
		if err != nil {
			return err
		}
		out.put(i, m.v)
		for k, from := range order {
			rows[i*b.rows+k] = int64(from)
		}
		return nil
	})
	if err != nil {
		return err
	}
	p, err := tensor.Cast(tensor.Must(tensor.New(rows, append(b.outer.Clone(), b.rows)...)), c.Attrs().Type("output_idx_type", tensor.Int32))
	if err != nil {
		return err
	}
	if err := out.setOutput(c, 0); err != nil {
		return err
	}
	c.Set(1, p)
	return nil
}
