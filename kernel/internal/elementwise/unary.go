package elementwise

import (
	"errors"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/simd"
	"github.com/cairnml/cairn/tensor"
)

// Unary ops over whole tensors, tables of functions by element type, and
// conversions of halves.

// Func runs a call whose inputs have one known element type.
type Func func(c *engine.Call) error

// ByType has a Func for each element type that an op takes.
type ByType map[tensor.DType]Func

// Types lists the types in TensorFlow's order.
func (t ByType) Types() []tensor.DType { return engine.ByType[Func](t).Types() }

// Kernel returns the kernel of an op. attr is the attribute with the type of
// its inputs, or empty if they can have only one type. The Func is chosen once
// per node, by the type of input 0.
func (t ByType) Kernel(op, attr string, p engine.Precision) engine.Kernel {
	k := engine.Kernel{Op: op, Prepare: t.Prepare, Precision: p}
	if attr != "" {
		k.Types = engine.Types{attr: t.Types()}
	}
	return k
}

// Prepare chooses the Func for a node.
func (t ByType) Prepare(n *engine.Node) (func(*engine.Call) error, error) {
	if len(n.In) == 0 {
		return nil, errors.New("takes inputs, none were given")
	}
	f, err := engine.ByType[Func](t).Of(n.In[0].DType)
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		if err := c.NeedTensors(0); err != nil {
			return err
		}
		return f(c)
	}, nil
}

// Run runs the Func for the type of input 0, for kernels that continue as the
// kernel of another op.
func (t ByType) Run(c *engine.Call) error {
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	f, err := engine.ByType[Func](t).Of(c.In(0).DType())
	if err != nil {
		return err
	}
	return f(c)
}

// RunAs runs the Func for type d, for kernels whose type isn't input 0's.
func (t ByType) RunAs(c *engine.Call, d tensor.DType) error {
	f, err := engine.ByType[Func](t).Of(d)
	if err != nil {
		return err
	}
	return f(c)
}

// Or returns the table whose Funcs run only if done has not computed the
// outputs already.
func (t ByType) Or(done func(*engine.Call) (bool, error)) ByType {
	out := make(ByType, len(t))
	for d, f := range t {
		out[d] = func(c *engine.Call) error {
			if ok, err := done(c); ok || err != nil {
				return err
			}
			return f(c)
		}
	}
	return out
}

// Before returns the table whose Funcs run only if check returns no error.
func (t ByType) Before(check func(*engine.Call) error) ByType {
	out := make(ByType, len(t))
	for d, f := range t {
		out[d] = func(c *engine.Call) error {
			if err := check(c); err != nil {
				return err
			}
			return f(c)
		}
	}
	return out
}

// Unary makes a Func of a loop. ns is the approximate cost of an element, in
// nanoseconds.
func Unary[T, R tensor.Element](f func(dst []R, x []T), ns float64) Func {
	in, d := tensor.TypeOf[T](), tensor.TypeOf[R]()
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		x := c.In(0)
		out, err := c.AllocOver(0, 0, d, x.Shape())
		if err != nil {
			return err
		}
		src, dst := elements[T](x, in), elements[R](out, d)
		if !c.Large(len(dst), ns) {
			f(dst, src)
			return nil
		}
		c.Parallel(len(dst), ns, func(lo, hi int) { f(dst[lo:hi], src[lo:hi]) })
		return nil
	}
}

// Floating lists the floating-point types of real numbers in which kernels
// compute. The 16-bit ones are computed as float32.
func Floating() []tensor.DType {
	return []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Float16}
}

// Half are the 16-bit floating types.
type Half interface{ tensor.F16 | tensor.BF16 }

// block is how many halves are widened at a time.
const block = 512

// UnaryHalf makes a Func over halves of a loop over float32.
func UnaryHalf[H Half](f func(dst, x []float32), ns float64) Func {
	return Unary[H, H](func(dst, src []H) {
		var a, b [block]float32
		for lo := 0; lo < len(dst); lo += block {
			n := min(block, len(dst)-lo)
			Widen(a[:n], src[lo:lo+n])
			f(b[:n], a[:n])
			Narrow(dst[lo:lo+n], b[:n])
		}
	}, ns+4)
}

// UnaryHalfBool makes a Func as UnaryHalf does, for a loop that returns
// booleans.
func UnaryHalfBool[H Half](f func(dst []bool, x []float32), ns float64) Func {
	return Unary[H, bool](func(dst []bool, src []H) {
		var a [block]float32
		for lo := 0; lo < len(dst); lo += block {
			n := min(block, len(dst)-lo)
			Widen(a[:n], src[lo:lo+n])
			f(dst[lo:lo+n], a[:n])
		}
	}, ns+4)
}

// Widen converts halves to float32, exactly.
func Widen[H Half](dst []float32, src []H) {
	switch src := any(src).(type) {
	case []tensor.F16:
		n := simd.Widen(dst[:len(src)], src, simd.ToFloat16)
		for i, x := range src[n:] {
			dst[n+i] = x.Float()
		}
	case []tensor.BF16:
		n := simd.Widen(dst[:len(src)], src, simd.ToBFloat16)
		for i, x := range src[n:] {
			dst[n+i] = x.Float()
		}
	}
}

// Widened returns the halves of a tensor as float32, in memory that lasts until
// the kernel returns.
func Widened[H Half](c *engine.Call, t *tensor.Tensor) []float32 {
	x, _ := engine.Scratch[float32](c, t.Len())
	Widen(x, tensor.Values[H](t))
	return x
}

// Wide returns zeroed memory of n numbers that lasts until the kernel returns.
func Wide(c *engine.Call, n int) []float32 {
	x, _ := engine.Scratch[float32](c, n)
	clear(x)
	return x
}

// Narrow rounds float32 to the nearest half, ties to even.
func Narrow[H Half](dst []H, src []float32) {
	switch dst := any(dst).(type) {
	case []tensor.F16:
		n := simd.Narrow(dst[:len(src)], src, simd.ToFloat16)
		for i, x := range src[n:] {
			dst[n+i] = tensor.ToF16(x)
		}
	case []tensor.BF16:
		n := simd.Narrow(dst[:len(src)], src, simd.ToBFloat16)
		for i, x := range src[n:] {
			dst[n+i] = tensor.ToBF16(x)
		}
	}
}

// RoundTo rounds float32 to the values of halves of type H. NaN stays NaN.
func RoundTo[H Half](x []float32) {
	if tensor.TypeOf[H]() == tensor.BFloat16 {
		for n := simd.Round(x, simd.ToBFloat16); n < len(x); n++ {
			x[n] = tensor.ToBF16(x[n]).Float()
		}
		return
	}
	for n := simd.Round(x, simd.ToFloat16); n < len(x); n++ {
		x[n] = tensor.ToF16(x[n]).Float()
	}
}
