package matmul

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/epilogue"
	"github.com/cairnml/cairn/tensor"
)

// prepareFused prepares a product with an epilogue.
func prepareFused(n *engine.Node) (func(*engine.Call) error, error) {
	e, err := epilogue.Of(n, 2)
	if err != nil {
		return nil, err
	}
	k, err := newMatMul(n, "transpose_a", "transpose_b", false)
	if err != nil {
		return nil, err
	}
	inputs := len(n.In)
	return func(c *engine.Call) error {
		if err := c.Need(inputs); err != nil {
			return err
		}
		for i := range 2 {
			if d := c.In(i).DType(); d != tensor.Float32 {
				return &engine.UnsupportedTypeError{Type: d, Known: []tensor.DType{tensor.Float32}}
			}
		}
		s, err := k.forCall(c)
		if err != nil {
			return err
		}
		if err := e.Check(c, s.dims, 1); err != nil {
			return err
		}
		out, err := k.compute(c, s)
		if err != nil {
			return err
		}
		if out.Len() > 0 {
			e.Apply(c, out, 1)
		}
		return nil
	}, nil
}
