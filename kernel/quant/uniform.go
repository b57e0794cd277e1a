package quant

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of UniformQuantize and UniformDequantize.

// affine has the attributes of an op of uniform quantization. Integers
// represent floats by a scale and the integer of zero: one pair for all, or one
// for each slice along an axis.
type affine struct {
	axis            int64
	lowest, highest int32
}

// prepareUniform reads the attributes and prepares run with them.
func prepareUniform(run func(*engine.Call, *affine) error) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		lowest, highest := n.Attrs.Int("quantization_min_val", 0), n.Attrs.Int("quantization_max_val", 0)
		a := &affine{n.Attrs.Int("quantization_axis", -1), int32(lowest), int32(highest)}
		if int64(a.lowest) != lowest || int64(a.highest) != highest {
			return nil, fmt.Errorf("quantization_min_val and quantization_max_val are %d and %d", lowest, highest)
		}
		if a.axis < -1 {
			return nil, fmt.Errorf("quantization_axis must be at least -1, is %d", a.axis)
		}
		return func(c *engine.Call) error { return run(c, a) }, nil
	}
}

// pairs returns the slices of input 0 with their scales and zeros.
func (a *affine) pairs(c *engine.Call) (s slices, scales []float32, zeros []int32, err error) {
	if err = c.Need(3); err != nil {
		return
	}
	if s, err = alongAxis(c.In(0).Shape(), a.axis); err != nil {
		return
	}
	v, z := c.In(1), c.In(2)
	want := tensor.Shape{}
	if a.axis != -1 {
		want = tensor.Shape{s.n}
	}
	if v.DType() != tensor.Float32 || z.DType() != tensor.Int32 || !v.Shape().Equal(want) || !z.Shape().Equal(want) {
		return s, nil, nil, fmt.Errorf("scales are %v%v and zero_points %v%v; their shape has to be %v", v.DType(), v.Shape(), z.DType(), z.Shape(), want)
	}
	return s, tensor.Values[float32](v), tensor.Values[int32](z), nil
}

// uniformKernel writes and reads the codes [lo, hi) of a tensor.
type uniformKernel struct {
	to   func(out *tensor.Tensor, lo, hi int, f func(i int) int32)
	from func(in *tensor.Tensor, lo, hi int, visit func(i int, v int32))
}

// uniform has the functions for each type of codes.
var uniform = engine.ByType[uniformKernel]{
	tensor.QInt8: uniformOf[tensor.Q8](), tensor.QUint8: uniformOf[tensor.QU8](), tensor.QInt32: uniformOf[tensor.Q32](),
}

// uniformOf returns the functions for type T.
func uniformOf[T tensor.Q8 | tensor.QU8 | tensor.Q32]() uniformKernel {
	return uniformKernel{
		to: func(out *tensor.Tensor, lo, hi int, f func(i int) int32) {
			y := tensor.Values[T](out)
			for i := lo; i < hi; i++ {
				y[i] = T(f(i))
			}
		},
		from: func(in *tensor.Tensor, lo, hi int, visit func(i int, v int32)) {
			x := tensor.Values[T](in)
			for i := lo; i < hi; i++ {
				visit(i, truncated(float32(x[i]))) // TensorFlow reads the code as a float, too
			}
		},
	}
}

// uniformQuantize converts the floats of input 0 to codes. It multiplies by the
// inverse of the scale, as TensorFlow does; a division could change codes.
func uniformQuantize(c *engine.Call, a *affine) error {
	s, scales, zeros, err := a.pairs(c)
	if err != nil {
		return err
	}
	d := c.Attrs().Type("Tout", tensor.QInt8)
	f, err := uniform.Of(d)
	if err != nil {
		return err
	}
	if c.In(0).DType() != tensor.Float32 {
		return &engine.UnsupportedTypeError{Attr: "Tin", Type: c.In(0).DType(), Known: []tensor.DType{tensor.Float32}}
	}
	out, err := c.Alloc(0, d, c.In(0).Shape())
	if err != nil {
		return err
	}
	x := tensor.Values[float32](c.In(0))
	for k := range s.n {
		by := 1 / scales[k]
		s.each(c, k, func(lo, hi int) {
			f.to(out, lo, hi, func(i int) int32 {
				return max(min(truncated(floor(float32(x[i]*by)+0.5))+zeros[k], a.highest), a.lowest)
			})
		})
	}
	return nil
}

// uniformDequantize converts the codes of input 0 to floats.
func uniformDequantize(c *engine.Call, a *affine) error {
	s, scales, zeros, err := a.pairs(c)
	if err != nil {
		return err
	}
	for _, x := range scales {
		if !(x >= 0x1p-126) { // TensorFlow reads smaller ones as zero
			return fmt.Errorf("a scale is %v; they must be positive", x)
		}
	}
	f, err := uniform.Of(c.In(0).DType())
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tensor.Float32, c.In(0).Shape())
	if err != nil {
		return err
	}
	y := tensor.Values[float32](out)
	for k := range s.n {
		s.each(c, k, func(lo, hi int) {
			f.from(c.In(0), lo, hi, func(i int, v int32) { y[i] = float32(v-zeros[k]) * scales[k] })
		})
	}
	return nil
}
