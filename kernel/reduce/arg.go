package reduce

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/stepwise"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of ArgMax, ArgMin, Cumsum, Cumprod and CumulativeLogsumexp.

// argMax has ArgMax by element type.
var argMax = elementwise.ByType{
	tensor.Float32: arg[float32](true), tensor.Float64: arg[float64](true),
	tensor.Float16: argHalf[tensor.F16](true), tensor.BFloat16: argHalf[tensor.BF16](true),
	tensor.Int8: arg[int8](true), tensor.Int16: arg[int16](true), tensor.Int32: arg[int32](true), tensor.Int64: arg[int64](true),
	tensor.Uint8: arg[uint8](true), tensor.Uint16: arg[uint16](true), tensor.Uint32: arg[uint32](true), tensor.Uint64: arg[uint64](true),
	tensor.Bool: argBool(true),
}

// argMin has ArgMin by element type.
var argMin = elementwise.ByType{
	tensor.Float32: arg[float32](false), tensor.Float64: arg[float64](false),
	tensor.Float16: argHalf[tensor.F16](false), tensor.BFloat16: argHalf[tensor.BF16](false),
	tensor.Int8: arg[int8](false), tensor.Int16: arg[int16](false), tensor.Int32: arg[int32](false), tensor.Int64: arg[int64](false),
	tensor.Uint8: arg[uint8](false), tensor.Uint16: arg[uint16](false), tensor.Uint32: arg[uint32](false), tensor.Uint64: arg[uint64](false),
	tensor.Bool: argBool(false),
}

// along splits a shape at an axis. The parts are the numbers of elements before the axis, along it
// and after it.
func along(s tensor.Shape, axis int) (outer, n, inner int) {
	return shapes.Count(s[:axis]), s[axis], shapes.Count(s[axis+1:])
}

// arg returns ArgMax, or ArgMin if largest is false.
func arg[T realNumber](largest bool) elementwise.Func {
	return func(c *engine.Call) error { return argOver(c, tensor.Values[T](c.In(0)), largest) }
}

// finite returns the largest finite number of a type of floating-point numbers.
func finite(d tensor.DType) float64 {
	switch d {
	case tensor.Float16:
		return 65504
	case tensor.BFloat16:
		return float64(math.Float32frombits(0x7f7f0000))
	case tensor.Float32:
		return math.MaxFloat32
	}
	return math.MaxFloat64
}

// argHalf does so for half precision.
func argHalf[H elementwise.Half](largest bool) elementwise.Func {
	return func(c *engine.Call) error {
		return argOver(c, elementwise.Widened[H](c, c.In(0)), largest)
	}
}

// argBool does so for booleans.
func argBool(largest bool) elementwise.Func {
	return func(c *engine.Call) error {
		return argOver(c, elementwise.View[uint8](c.In(0)), largest)
	}
}

// argOver sets output 0 to the index of the largest or least element along the axis in input 1. Of
// equal ones it is the first.
func argOver[T realNumber](c *engine.Call, x []T, largest bool) error {
	if err := c.Need(2); err != nil {
		return err
	}
	s := c.In(0).Shape()
	if r := c.In(1).Rank(); r != 0 {
		return fmt.Errorf("the axis has %d dimensions (want a scalar)", r)
	}
	i, err := shapes.Int(c.In(1), "the axis")
	if err != nil {
		return err
	}
	rest, axis, err := shape.ArgReduction(s, i)
	if err != nil {
		return err
	}
	outer, n, inner := along(s, axis)
	d := c.Attrs().Type("output_type", tensor.Int64)
	out, err := c.Alloc(0, d, rest)
	if err != nil {
		return err
	}
	var set func(at, k int)
	switch d {
	case tensor.Int64:
		v := tensor.Values[int64](out)
		set = func(at, k int) { v[at] = int64(k) }
	case tensor.Int32:
		v := tensor.Values[int32](out)
		set = func(at, k int) { v[at] = int32(k) }
	case tensor.Uint16:
		v := tensor.Values[uint16](out)
		set = func(at, k int) { v[at] = uint16(k) }
	case tensor.Int16:
		v := tensor.Values[int16](out)
		set = func(at, k int) { v[at] = int16(k) }
	default:
		return fmt.Errorf("output_type %v isn't int32 or int64", d)
	}
	// TensorFlow compares floating-point numbers with the worst finite one first: index 0 is
	// that of NaN, and of infinities that are not better.
	isFloat := c.In(0).DType().IsFloating()
	worst := finite(c.In(0).DType())
	if largest {
		worst = -worst
	}
	for o := range outer {
		for in := range inner {
			base, best := o*n*inner+in, 0
			var b T
			if isFloat {
				b = T(worst)
			} else if n > 0 {
				b = x[base]
			}
			for k := range n {
				c.Step(k)
				v := x[base+k*inner]
				if largest && v > b || !largest && v < b {
					best, b = k, v
				}
			}
			set(o*inner+in, best)
		}
	}
	return nil
}

// cumsums has Cumsum by element type.
var cumsums = elementwise.ByType{
	tensor.Float32: cumulate(cumsum[float32], 0), tensor.Float64: cumulate(cumsum[float64], 0),
	tensor.Int8: cumulate(cumsum[int8], 0), tensor.Int16: cumulate(cumsum[int16], 0),
	tensor.Int32: cumulate(cumsum[int32], 0), tensor.Int64: cumulate(cumsum[int64], 0),
	tensor.Uint8: cumulate(cumsum[uint8], 0), tensor.Uint16: cumulate(cumsum[uint16], 0),
	tensor.Uint32: cumulate(cumsum[uint32], 0), tensor.Uint64: cumulate(cumsum[uint64], 0),
	tensor.Complex64: cumulate(cumsum[complex64], 0), tensor.Complex128: cumulate(cumsum[complex128], 0),
	tensor.Float16: cumulateHalf[tensor.F16](inSteps(stepwise.Sum[tensor.F16]()), 0), tensor.BFloat16: cumulateHalf[tensor.BF16](inSteps(stepwise.Sum[tensor.BF16]()), 0),
}

// cumprods has Cumprod by element type.
var cumprods = elementwise.ByType{
	tensor.Float32: cumulate(cumprod[float32], 1), tensor.Float64: cumulate(cumprod[float64], 1),
	tensor.Int8: cumulate(cumprod[int8], 1), tensor.Int16: cumulate(cumprod[int16], 1),
	tensor.Int32: cumulate(cumprod[int32], 1), tensor.Int64: cumulate(cumprod[int64], 1),
	tensor.Uint8: cumulate(cumprod[uint8], 1), tensor.Uint16: cumulate(cumprod[uint16], 1),
	tensor.Uint32: cumulate(cumprod[uint32], 1), tensor.Uint64: cumulate(cumprod[uint64], 1),
	tensor.Complex64: cumulate(cumprod[complex64], 1), tensor.Complex128: cumulate(cumprod[complex128], 1),
	tensor.Float16: cumulateHalf[tensor.F16](inSteps(stepwise.Prod[tensor.F16]()), 1), tensor.BFloat16: cumulateHalf[tensor.BF16](inSteps(stepwise.Prod[tensor.BF16]()), 1),
}

// cumulativeLogSumExps has CumulativeLogsumexp by element type.
var cumulativeLogSumExps = elementwise.ByType{
	tensor.Float32: cumulate(cumulativeLogSumExp(exact[float32]), float32(math.Inf(-1))), tensor.Float64: cumulate(cumulativeLogSumExp(exact[float64]), math.Inf(-1)),
	tensor.Float16:  cumulateHalf[tensor.F16](cumulativeLogSumExp(stepwise.Rounding[tensor.F16]()), float32(math.Inf(-1))),
	tensor.BFloat16: cumulateHalf[tensor.BF16](cumulativeLogSumExp(stepwise.Rounding[tensor.BF16]()), float32(math.Inf(-1))),
}

// exact returns v: float32 and float64 need no rounding.
func exact[T float](v T) T { return v }

// inSteps computes cumsum and cumprod, and rounds each step to half precision,
// as TensorFlow does. A long sum differs from one that is rounded once.
func inSteps(s *stepwise.Steps) func(dst, x []float32, l line, exclusive bool, sum float32) {
	return func(dst, x []float32, l line, exclusive bool, sum float32) {
		for k, at := 0, l.begin; k < l.n; k, at = k+1, at+l.step {
			v := s.Step(sum, x[at])
			if exclusive {
				dst[at] = sum
			} else {
				dst[at] = v
			}
			sum = v
		}
	}
}

// cumulativeLogSumExp sums exponentials by their logarithms, the larger one
// first, so that none overflows. NaN counts as the sum so far, as in
// TensorFlow. Each step is rounded to the element type.
func cumulativeLogSumExp[T float](round func(T) T) func(dst, x []T, l line, exclusive bool, sum T) {
	return func(dst, x []T, l line, exclusive bool, sum T) {
		for k, at := 0, l.begin; k < l.n; k, at = k+1, at+l.step {
			l.call.Step(k)
			v := x[at]
			if exclusive {
				dst[at] = sum
			}
			if v != v {
				v = sum
			}
			hi, lo := max(sum, v), min(sum, v)
			switch d := round(lo - hi); {
			case math.IsInf(float64(hi), -1) || math.IsInf(float64(d), -1):
				sum = hi
			default:
				sum = round(hi + round(T(math.Log1p(float64(round(T(math.Exp(float64(d)))))))))
			}
			if !exclusive {
				dst[at] = sum
			}
		}
	}
}

// line is a strided part of a call's tensor: n elements from begin on, step
// apart.
type line struct {
	begin, step, n int
	call           *engine.Call
}

// cumsum writes the running sums of line l. exclusive leaves out the element itself.
func cumsum[T number](dst, x []T, l line, exclusive bool, sum T) {
	for k, at := 0, l.begin; k < l.n; k, at = k+1, at+l.step {
		v := x[at]
		if exclusive {
			dst[at] = sum
			sum += v
		} else {
			sum += v
			dst[at] = sum
		}
	}
}

// cumprod writes the running products of line l.
func cumprod[T number](dst, x []T, l line, exclusive bool, prod T) {
	for k, at := 0, l.begin; k < l.n; k, at = k+1, at+l.step {
		v := x[at]
		if exclusive {
			dst[at] = prod
			prod *= v
		} else {
			prod *= v
			dst[at] = prod
		}
	}
}

// cumulate returns a kernel that walks each line; first is the value before the first element.
func cumulate[T tensor.Element](walk func(dst, x []T, l line, exclusive bool, first T), first T) elementwise.Func {
	return func(c *engine.Call) error {
		return cumulateWith(c, func(out *tensor.Tensor, each func(func(l line))) {
			dst, x := tensor.Values[T](out), tensor.Values[T](c.In(0))
			exclusive := c.Attrs().Bool("exclusive")
			each(func(l line) { walk(dst, x, l, exclusive, first) })
		})
	}
}

// cumulateHalf does so for half precision, widened to float32.
func cumulateHalf[H elementwise.Half](walk func(dst, x []float32, l line, exclusive bool, first float32), first float32) elementwise.Func {
	return func(c *engine.Call) error {
		return cumulateWith(c, func(out *tensor.Tensor, each func(func(l line))) {
			dst, x := make([]float32, out.Len()), make([]float32, out.Len())
			elementwise.Widen(x, tensor.Values[H](c.In(0)))
			exclusive := c.Attrs().Bool("exclusive")
			each(func(l line) { walk(dst, x, l, exclusive, first) })
			elementwise.Narrow(tensor.Values[H](out), dst)
		})
	}
}

// cumulateWith reads the axis, allocates output 0 and calls f with a function that visits all
// lines.
func cumulateWith(c *engine.Call, f func(out *tensor.Tensor, each func(func(l line)))) error {
	if err := c.Need(2); err != nil {
		return err
	}
	s := c.In(0).Shape()
	if r := len(c.In(1).Shape()); r != 0 {
		return fmt.Errorf("the axis has %d dimensions; it must be a scalar", r)
	}
	i, err := shapes.Int(c.In(1), "the axis")
	if err != nil {
		return err
	}
	if len(s) == 0 {
		return c.Forward(0, 0, s)
	}
	axis, err := shape.Axis(i, len(s))
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, c.In(0).DType(), s)
	if err != nil {
		return err
	}
	outer, n, inner := along(s, axis)
	reverse := c.Attrs().Bool("reverse")
	f(out, func(walk func(l line)) {
		for o := range outer {
			for in := range inner {
				c.Step(o*inner + in)
				l := line{o*n*inner + in, inner, n, c}
				if reverse {
					l.begin, l.step = l.begin+(n-1)*inner, -inner
				}
				walk(l)
			}
		}
	})
	return nil
}
