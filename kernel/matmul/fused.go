package matmul

import (
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/epilogue"
	"github.com/cairnml/cairn/kernel/internal/gemm"
	"github.com/cairnml/cairn/tensor"
)

// endings keeps the epilogues of products that apply them themselves.
var endings = sync.Pool{New: func() any { return new(gemm.Epilogue[float32]) }}

// prepareFused prepares a product with an epilogue. It is the kernel of
// _FusedMatMul, for float32. Packed weights apply the epilogue tile by tile;
// otherwise it is applied to the whole result, with the same bits.
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
		p := &s.product
		if w, ok := c.Packed(k.packing).(*gemm.Weights[float32]); ok && p.k > 0 {
			out, err := c.Alloc(0, tensor.Float32, s.dims)
			if err == nil && out.Len() > 0 {
				finish := endings.Get().(*gemm.Epilogue[float32])
				*finish = e.During(c)
				w.Multiply(tensor.Values[float32](out), p.ldc, tensor.Values[float32](c.In(0)), p.lda, p.m, finish, c.Workers())
				*finish = gemm.Epilogue[float32]{}
				endings.Put(finish)
			}
			return err
		}
		out, err := k.compute(c, s)
		if err == nil && out.Len() > 0 {
			e.Finish(c, tensor.Values[float32](out), p.n)
		}
		return err
	}, nil
}
