package math

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// words returns the kernels on the bits of numbers, and a few others of two
// inputs.
func words() []engine.Kernel {
	return []engine.Kernel{
		leftShifts.Kernel("LeftShift", "T", engine.Exact),
		rightShifts.Kernel("RightShift", "T", engine.Exact),
		populations.Kernel("PopulationCount", "T", engine.Exact),
		nextAfters.Kernel("NextAfter", "T", engine.Exact),
		{Op: "ApproximateEqual", Run: approximateEqual, Types: engine.Types{"T": {tensor.Float32, tensor.Float64}}},
		crosses.Kernel("Cross", "T", engine.Accumulated),
	}
}

type integer interface {
	vec.Int
	tensor.Element
}

// shiftBy limits y to the shifts that C defines: at least 0 and at most
// width-1. C++ doesn't define others, and TensorFlow clamps them in the same
// way.
func shiftBy[T integer](y T, width int) T {
	if y < 0 {
		return 0
	}
	return min(y, T(width-1))
}

func shiftsOf[T integer](f func(x, y T) T) elementwise.Func {
	width := tensor.TypeOf[T]().Size() * 8
	return pairwise(func(x, y T) T { return f(x, shiftBy(y, width)) }, 1)
}

func left[T integer](x, y T) T  { return x << y }
func right[T integer](x, y T) T { return x >> y }

var leftShifts = elementwise.ByType{
	tensor.Int8: shiftsOf(left[int8]), tensor.Int16: shiftsOf(left[int16]), tensor.Int32: shiftsOf(left[int32]), tensor.Int64: shiftsOf(left[int64]),
	tensor.Uint8: shiftsOf(left[uint8]), tensor.Uint16: shiftsOf(left[uint16]), tensor.Uint32: shiftsOf(left[uint32]), tensor.Uint64: shiftsOf(left[uint64]),
}

var rightShifts = elementwise.ByType{
	tensor.Int8: shiftsOf(right[int8]), tensor.Int16: shiftsOf(right[int16]), tensor.Int32: shiftsOf(right[int32]), tensor.Int64: shiftsOf(right[int64]),
	tensor.Uint8: shiftsOf(right[uint8]), tensor.Uint16: shiftsOf(right[uint16]), tensor.Uint32: shiftsOf(right[uint32]), tensor.Uint64: shiftsOf(right[uint64]),
}

// ones counts the bits that are set; negative numbers are in two's complement.
func ones[T integer](c *engine.Call) error {
	mask := ^uint64(0) >> (64 - tensor.TypeOf[T]().Size()*8)
	return elementwise.Unary(func(dst []uint8, x []T) {
		for i, v := range x {
			dst[i] = uint8(bits.OnesCount64(uint64(v) & mask))
		}
	}, 1)(c)
}

var populations = elementwise.ByType{
	tensor.Int8: ones[int8], tensor.Int16: ones[int16], tensor.Int32: ones[int32], tensor.Int64: ones[int64],
	tensor.Uint8: ones[uint8], tensor.Uint16: ones[uint16], tensor.Uint32: ones[uint32], tensor.Uint64: ones[uint64],
}

var nextAfters = elementwise.ByType{
	tensor.Float32: pairwise(math.Nextafter32, 3), tensor.Float64: pairwise(math.Nextafter, 3),
}

// errTypes returns the error for inputs of different types.
func errTypes(c *engine.Call) error {
	types := make([]tensor.DType, c.NumIn())
	for i := range types {
		types[i] = c.In(i).DType()
	}
	return fmt.Errorf("the inputs' types differ: %v; Cast converts", types)
}

// approximateEqual compares tensors of one shape by the attribute tolerance.
func approximateEqual(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	if a, b := c.In(0).Shape(), c.In(1).Shape(); !a.Equal(b) {
		return fmt.Errorf("the shapes %v and %v differ", a, b)
	}
	tolerance := c.Attrs().Float("tolerance", 1e-5)
	near := elementwise.ByType{
		tensor.Float32: pairwise(func(x, y float32) bool { return float32(math.Abs(float64(x-y))) <= float32(tolerance) }, 1),
		tensor.Float64: pairwise(func(x, y float64) bool { return math.Abs(x-y) <= float64(float32(tolerance)) }, 1),
	}
	return near.Run(c)
}

type orderable interface {
	vec.Real
	tensor.Element
}

// crossOf computes the cross products of vectors of three, the last dimension.
func crossOf[T orderable](c *engine.Call) error {
	dims, err := crossed(c)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, c.In(0).DType(), dims)
	if err == nil {
		crossAll(tensor.Values[T](out), tensor.Values[T](c.In(0)), tensor.Values[T](c.In(1)))
	}
	return err
}

func crossHalf[H elementwise.Half](c *engine.Call) error {
	dims, err := crossed(c)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, c.In(0).DType(), dims)
	if err != nil {
		return err
	}
	wide := elementwise.Wide(c, out.Len())
	crossAll(wide, elementwise.Widened[H](c, c.In(0)), elementwise.Widened[H](c, c.In(1)))
	elementwise.Narrow(tensor.Values[H](out), wide)
	return nil
}

func crossed(c *engine.Call) (tensor.Shape, error) {
	if err := c.Need(2); err != nil {
		return nil, err
	}
	if c.In(0).DType() != c.In(1).DType() {
		return nil, errTypes(c)
	}
	s, err := shape.Cross(graph.Whole(c.In(0).Shape()), graph.Whole(c.In(1).Shape()))
	return s.Dims(), err
}

func crossAll[T vec.Real](dst, a, b []T) {
	for i := 0; i < len(dst); i += 3 {
		u, v, w := a[i:i+3], b[i:i+3], dst[i:i+3]
		w[0] = u[1]*v[2] - u[2]*v[1]
		w[1] = u[2]*v[0] - u[0]*v[2]
		w[2] = u[0]*v[1] - u[1]*v[0]
	}
}

var crosses = elementwise.ByType{
	tensor.Float32: crossOf[float32], tensor.Float64: crossOf[float64], tensor.Float16: crossHalf[tensor.F16], tensor.BFloat16: crossHalf[tensor.BF16],
	tensor.Int8: crossOf[int8], tensor.Int16: crossOf[int16], tensor.Int32: crossOf[int32], tensor.Int64: crossOf[int64],
	tensor.Uint8: crossOf[uint8], tensor.Uint16: crossOf[uint16], tensor.Uint32: crossOf[uint32], tensor.Uint64: crossOf[uint64],
}
