package array

import (
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/stepwise"
	"github.com/cairnml/cairn/tensor"
)

// adders add up parts, by the type of the elements. The kernels of ScatterNd,
// UnsortedSegmentSum, MirrorPadGrad and TileGrad use them through [addParts].
// They add in the order of at, on one goroutine: the order of sums decides the
// last bit.
var adders = engine.ByType[func(c *engine.Call, out, x *tensor.Tensor, at []int, n int)]{
	tensor.Float32: adder[float32], tensor.Float64: adder[float64],
	tensor.Float16: adderHalf[tensor.F16], tensor.BFloat16: adderHalf[tensor.BF16],
	tensor.Int8: adder[int8], tensor.Int16: adder[int16], tensor.Int32: adder[int32], tensor.Int64: adder[int64],
	tensor.Uint8: adder[uint8], tensor.Uint16: adder[uint16], tensor.Uint32: adder[uint32], tensor.Uint64: adder[uint64],
	tensor.Complex64: adder[complex64], tensor.Complex128: adder[complex128],
}

// joiners are the adders of types that aren't numbers: booleans are added by
// "or", strings are concatenated.
var joiners = engine.ByType[func(c *engine.Call, out, x *tensor.Tensor, at []int, n int)]{
	tensor.Bool: orParts, tensor.String: joinParts,
}

func orParts(c *engine.Call, out, x *tensor.Tensor, at []int, n int) {
	dst, src, pace := tensor.Values[bool](out), tensor.Values[bool](x), engine.NewPace(c)
	for i, to := range at {
		pace.Work(n + 1)
		for k := 0; to >= 0 && k < n; k++ {
			dst[to+k] = dst[to+k] || src[i*n+k]
		}
	}
}

// joinParts copies each byte once, however many strings are added to one.
func joinParts(c *engine.Call, out, x *tensor.Tensor, at []int, n int) {
	dst, src, pace := out.Strings(), x.Strings(), engine.NewPace(c)
	built := map[int]*strings.Builder{}
	for i, to := range at {
		pace.Work(64*n + 1)
		for k := 0; to >= 0 && k < n; k++ {
			b := built[to+k]
			if b == nil {
				b = new(strings.Builder)
				built[to+k] = b
			}
			b.WriteString(src[i*n+k])
		}
	}
	for i, b := range built {
		dst[i] = b.String()
	}
}

// addParts adds part i of x, n elements, to those of out from at[i] on. It
// skips a part if at[i] is below 0.
func addParts(c *engine.Call, out, x *tensor.Tensor, at []int, n int) error {
	f, err := adders.Of(x.DType())
	if err != nil {
		return err
	}
	f(c, out, x, at, n)
	return nil
}

func adder[T number](c *engine.Call, out, x *tensor.Tensor, at []int, n int) {
	dst, src := tensor.Values[T](out), tensor.Values[T](x)
	for each := 1 + 1<<14/(n+1); len(at) > 0; c.Check() {
		k := min(each, len(at))
		addTo(dst, src, at[:k], n)
		src, at = src[k*n:], at[k:]
	}
}

// adderHalf rounds each sum at every step, as TensorFlow does.
func adderHalf[H elementwise.Half](c *engine.Call, out, x *tensor.Tensor, at []int, n int) {
	dst, src, round := elementwise.Wide(c, out.Len()), elementwise.Widened[H](c, x), stepwise.Rounding[H]()
	pace := engine.NewPace(c)
	for i, to := range at {
		pace.Work(4*n + 1)
		for k := 0; to >= 0 && k < n; k++ {
			dst[to+k] = round(dst[to+k] + src[i*n+k])
		}
	}
	elementwise.Narrow(tensor.Values[H](out), dst)
}

func addTo[T number](dst, src []T, at []int, n int) {
	for i, to := range at {
		if to < 0 {
			continue
		}
		part := dst[to : to+n]
		for k, v := range src[i*n:][:len(part)] {
			part[k] += v
		}
	}
}

// pickParts sets element i of out to element at[i] of x.
func pickParts(c *engine.Call, out, x *tensor.Tensor, at []int) {
	switch out.DType().Size() {
	case 0:
		pick(c, out.Strings(), x.Strings(), at)
	case 1:
		pick(c, elementwise.View[uint8](out), elementwise.View[uint8](x), at)
	case 2:
		pick(c, elementwise.View[uint16](out), elementwise.View[uint16](x), at)
	case 4:
		pick(c, elementwise.View[uint32](out), elementwise.View[uint32](x), at)
	case 8:
		pick(c, elementwise.View[uint64](out), elementwise.View[uint64](x), at)
	case 16:
		pick(c, elementwise.View[[2]uint64](out), elementwise.View[[2]uint64](x), at)
	}
}

func pick[T any](c *engine.Call, dst, src []T, at []int) {
	for i, from := range at {
		c.Step(i)
		dst[i] = src[from]
	}
}
