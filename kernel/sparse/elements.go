package sparse

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/tensor"
)

// Tables by element type for the family's kernels.

// ordered has the element types that can be compared.
type ordered interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// numeric has the element types that can be added.
type numeric interface {
	ordered | complex64 | complex128
}

// narrow returns a Func for half precision that runs f in single precision. The
// listed inputs and outputs have half precision.
func narrow(f elementwise.Func, d tensor.DType, in, out []int) elementwise.Func {
	return func(c *engine.Call) error {
		for _, i := range in {
			wide, err := tensor.Cast(c.In(i), tensor.Float32)
			if err != nil {
				return err
			}
			c.Substitute(i, wide)
		}
		if err := f(c); err != nil {
			return err
		}
		for _, i := range out {
			t, err := tensor.Cast(c.Refs().Outputs()[i].Tensor, d)
			if err != nil {
				return err
			}
			c.Set(i, t)
		}
		return nil
	}
}

// withHalves adds both half-precision types to a table by narrow.
func withHalves(t elementwise.ByType, in, out []int) elementwise.ByType {
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		t[d] = narrow(t[tensor.Float32], d, in, out)
	}
	return t
}

// byValues returns a kernel that runs the Func for the type of input i, after
// checking that there are n tensors.
func byValues(op string, n, i int, t elementwise.ByType, p engine.Precision) engine.Kernel {
	return engine.Kernel{Op: op, Types: engine.Types{"T": t.Types()}, Precision: p, Run: func(c *engine.Call) error {
		if err := c.Need(n); err != nil {
			return err
		}
		return t.RunAs(c, c.In(i).DType())
	}}
}
