package math

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/stepwise"
	"github.com/cairnml/cairn/kernel/internal/variant"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of AddN, BiasAdd, BiasAddV1, LeakyRelu and LeakyReluGrad.

// addN adds inputs of one shape, or variants that can be added.
func addN(c *engine.Call) error {
	if c.NumIn() == 0 {
		return fmt.Errorf("takes at least one input")
	}
	if _, ok := c.Input(0).Object.(engine.Variant); ok {
		return addVariants(c)
	}
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	first := c.In(0)
	for i := 1; i < c.NumIn(); i++ {
		if x := c.In(i); x.DType() != first.DType() || !x.Shape().Equal(first.Shape()) {
			return fmt.Errorf("input %d is %v%v, the first %v%v", i, x.DType(), x.Shape(), first.DType(), first.Shape())
		}
	}
	if c.NumIn() == 1 {
		return c.Forward(0, 0, first.Shape())
	}
	return addNs.Run(c)
}

// addVariants adds lists element by element.
func addVariants(c *engine.Call) error {
	sum := c.Refs().Share(0)
	for i := 1; i < c.NumIn(); i++ {
		next, err := variant.Add(c, sum, c.Input(i), func(a, b *tensor.Tensor) (engine.Value, error) {
			v, err := c.Refs().New(a.DType(), a.Shape())
			if err != nil {
				return v, err
			}
			copy(v.Tensor.Bytes(), a.Bytes())
			return v, elementwise.AddTo(v.Tensor, b)
		})
		if err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
		c.Refs().Release(sum)
		sum = next
	}
	c.Refs().Output(0, sum)
	return nil
}

var addNs = elementwise.ByType{
	tensor.Float32: addNOf[float32], tensor.Float64: addNOf[float64],
	tensor.Float16: addNHalf[tensor.F16], tensor.BFloat16: addNHalf[tensor.BF16],
	tensor.Int8: addNOf[int8], tensor.Int16: addNOf[int16], tensor.Int32: addNOf[int32], tensor.Int64: addNOf[int64],
	tensor.Uint8: addNOf[uint8], tensor.Uint16: addNOf[uint16], tensor.Uint32: addNOf[uint32], tensor.Uint64: addNOf[uint64],
	tensor.Complex64: addNOf[complex64], tensor.Complex128: addNOf[complex128],
}

// addNOf adds in the order of the inputs.
func addNOf[T interface {
	vec.Number
	tensor.Element
}](c *engine.Call) error {
	out, err := c.Alloc(0, c.In(0).DType(), c.In(0).Shape())
	if err != nil {
		return err
	}
	dst := tensor.Values[T](out)
	vec.AddVV(dst, tensor.Values[T](c.In(0)), tensor.Values[T](c.In(1)))
	for i := 2; i < c.NumIn(); i++ {
		vec.AddVV(dst, dst, tensor.Values[T](c.In(i)))
	}
	return nil
}

// addNHalf rounds each sum.
func addNHalf[H elementwise.Half](c *engine.Call) error {
	out, err := c.Alloc(0, c.In(0).DType(), c.In(0).Shape())
	if err != nil {
		return err
	}
	round := stepwise.Rounding[H]()
	sum, x := elementwise.Widened[H](c, c.In(0)), elementwise.Wide(c, out.Len())
	for i := 1; i < c.NumIn(); i++ {
		elementwise.Widen(x, tensor.Values[H](c.In(i)))
		for k, v := range x {
			sum[k] = round(sum[k] + v)
		}
	}
	elementwise.Narrow(tensor.Values[H](out), sum)
	return nil
}

// biasAdd adds a vector along the last dimension, or along dimension 1 if
// data_format is NCHW.
func biasAdd(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	x, b := c.In(0), c.In(1)
	xs, bs := x.Shape(), b.Shape()
	axis, err := shape.Bias(xs, bs, c.Attrs().String("data_format", "NHWC"))
	if err != nil {
		return err
	}
	if axis == len(xs)-1 {
		return byAddV2.Run(c)
	}
	// A bias of shape [channels, 1, 1, …] broadcasts along dimension 1.
	dims := make([]int, len(xs)-1)
	for i := range dims {
		dims[i] = 1
	}
	dims[0] = bs[0]
	wide, err := b.Reshape(dims...)
	if err != nil {
		return err
	}
	c.Substitute(1, wide)
	return byAddV2.Run(c)
}

// leaky has the loops of LeakyRelu: x if it is positive, otherwise alpha*x.
var leaky = elementwise.ByType{
	tensor.Float32: func(c *engine.Call) error { return leakyOf[float32](c) },
	tensor.Float64: func(c *engine.Call) error { return leakyOf[float64](c) },
	tensor.Float16: func(c *engine.Call) error { return leakyHalf[tensor.F16](c) },
	tensor.BFloat16: func(c *engine.Call) error {
		return leakyHalf[tensor.BF16](c)
	},
}

// alphaOf returns the attribute alpha, which is a float32 in TensorFlow.
func alphaOf(c *engine.Call) float64 { return float64(float32(c.Attrs().Float("alpha", 0.2))) }

func leakyOf[T interface {
	vec.Float
	tensor.Element
}](c *engine.Call) error {
	alpha := T(alphaOf(c))
	return elementwise.Unary(func(dst, x []T) {
		for i, v := range x {
			if v > 0 {
				dst[i] = v
			} else {
				dst[i] = v * alpha
			}
		}
	}, 1)(c)
}

func leakyHalf[H elementwise.Half](c *engine.Call) error {
	alpha := halfAlpha[H](c)
	return elementwise.UnaryHalf[H](func(dst, x []float32) {
		for i, v := range x {
			if v > 0 {
				dst[i] = v
			} else {
				dst[i] = v * alpha
			}
		}
	}, 1)(c)
}

// halfAlpha returns alpha as a half: TensorFlow rounds it before it multiplies.
func halfAlpha[H elementwise.Half](c *engine.Call) float32 {
	wide, h := [1]float32{float32(alphaOf(c))}, [1]H{}
	elementwise.Narrow(h[:], wide[:])
	elementwise.Widen(wide[:], h[:])
	return wide[0]
}

// leakyGrad has the loops of LeakyReluGrad, whose inputs are the gradient and the features.
var leakyGrad = elementwise.ByType{
	tensor.Float32:  leakyGradOf[float32],
	tensor.Float64:  leakyGradOf[float64],
	tensor.Float16:  leakyGradHalf[tensor.F16],
	tensor.BFloat16: leakyGradHalf[tensor.BF16],
}

func leakyGradLoop[T vec.Float](dst, dy, x []T, alpha T) {
	for i, v := range x {
		if v > 0 {
			dst[i] = dy[i]
		} else {
			dst[i] = dy[i] * alpha
		}
	}
}

// sameShape refuses inputs that would broadcast: gradients don't.
func sameShape(c *engine.Call) error {
	if err := elementwise.Same(c); err != nil {
		return err
	}
	if a, b := c.In(0).Shape(), c.In(1).Shape(); !a.Equal(b) {
		return fmt.Errorf("the inputs' shapes differ: %v and %v", a, b)
	}
	return nil
}

func leakyGradOf[T interface {
	vec.Float
	tensor.Element
}](c *engine.Call) error {
	if err := sameShape(c); err != nil {
		return err
	}
	out, err := c.Alloc(0, c.In(0).DType(), c.In(0).Shape())
	if err == nil {
		leakyGradLoop(tensor.Values[T](out), tensor.Values[T](c.In(0)), tensor.Values[T](c.In(1)), T(alphaOf(c)))
	}
	return err
}

func leakyGradHalf[H elementwise.Half](c *engine.Call) error {
	if err := sameShape(c); err != nil {
		return err
	}
	out, err := c.Alloc(0, c.In(0).DType(), c.In(0).Shape())
	if err != nil {
		return err
	}
	dy, x := engine.Zeroed[float32](c, out.Len()), engine.Zeroed[float32](c, out.Len())
	elementwise.Widen(dy, tensor.Values[H](c.In(0)))
	elementwise.Widen(x, tensor.Values[H](c.In(1)))
	leakyGradLoop(dy, dy, x, halfAlpha[H](c))
	elementwise.Narrow(tensor.Values[H](out), dy)
	return nil
}
