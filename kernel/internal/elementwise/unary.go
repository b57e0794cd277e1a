package elementwise

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// Func runs a call whose inputs have one known element type.
type Func func(c *engine.Call) error

// ByType picks a Func by the element type of input 0.
type ByType [34]Func

// Run runs the call, or says which types the op takes.
func (t *ByType) Run(c *engine.Call) error {
	if c.NumIn() == 0 {
		return fmt.Errorf("takes inputs, none were given")
	}
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	return t.Of(c, c.In(0).DType())
}

// Of runs the Func of type d.
func (t *ByType) Of(c *engine.Call, d tensor.DType) error {
	if int(d) >= len(t) || d < 0 || t[d] == nil {
		return t.Unsupported(d)
	}
	return t[d](c)
}

// Unsupported returns the error for a type that the table lacks.
func (t *ByType) Unsupported(d tensor.DType) error {
	var known []tensor.DType
	for k, f := range t {
		if f != nil {
			known = append(known, tensor.DType(k))
		}
	}
	return fmt.Errorf("isn't defined for %v, only for %v", d, known)
}

// Unary makes a Func of a loop. ns is roughly what an element takes.
func Unary[T, R tensor.Element](f func(dst []R, x []T), ns float64) Func {
	d := tensor.TypeOf[R]()
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		x := c.In(0)
		out, err := c.AllocOver(0, 0, d, x.Shape())
		if err != nil {
			return err
		}
		src, dst := tensor.Values[T](x), tensor.Values[R](out)
		if !c.Large(len(dst), ns) {
			f(dst, src)
			return nil
		}
		c.Parallel(len(dst), ns, func(lo, hi int) { f(dst[lo:hi], src[lo:hi]) })
		return nil
	}
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

// UnaryHalfBool does what UnaryHalf does, for a loop that gives booleans.
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
		for i, x := range src {
			dst[i] = x.Float()
		}
	case []tensor.BF16:
		for i, x := range src {
			dst[i] = x.Float()
		}
	}
}

// Narrow rounds float32 to halves, to the nearest, ties to even.
func Narrow[H Half](dst []H, src []float32) {
	switch dst := any(dst).(type) {
	case []tensor.F16:
		for i, x := range src {
			dst[i] = tensor.ToF16(x)
		}
	case []tensor.BF16:
		for i, x := range src {
			dst[i] = tensor.ToBF16(x)
		}
	}
}
