package matmul

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/epilogue"
	"github.com/cairnml/cairn/tensor"
)

// prepareFused prepares a product with an epilogue.
func prepareFused(n *engine.Node) (func(*engine.Call) error, error) {
	e, err := epilogue.Of(n, 2)
	if err != nil {
		return nil, err
	}
	ta, tb, inputs := n.Attrs.Bool("transpose_a"), n.Attrs.Bool("transpose_b"), max(2, len(n.In))
	return func(c *engine.Call) error {
		if err := c.Need(inputs); err != nil {
			return err
		}
		for i := range 2 {
			if d := c.In(i).DType(); d != tensor.Float32 {
				return &engine.UnsupportedTypeError{Type: d, Known: []tensor.DType{tensor.Float32}}
			}
		}
		p := product{batch: 1, ta: ta, tb: tb}
		sizes, err := shape.TwoMatrices(c.In(0).Shape(), c.In(1).Shape(), ta, tb)
		if err != nil {
			return err
		}
		p.m, p.n, p.k = sizes.M, sizes.N, sizes.K
		dims := tensor.Shape{p.m, p.n}
		if err := e.Check(c, dims, 1); err != nil {
			return err
		}
		if err := p.run(c, dims); err != nil {
			return err
		}
		if out := c.Results()[0].Tensor; out.Len() > 0 {
			e.Apply(c, out, 1)
		}
		return nil
	}, nil
}
