package array

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/scatter"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/stepwise"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of SegmentSum, SegmentMean, SegmentProd, SegmentMin, SegmentMax, UnsortedSegmentProd,
// UnsortedSegmentMin and UnsortedSegmentMax. UnsortedSegmentSum is in gather.go.

// segmentKernels returns the reductions over segments.
func segmentKernels() []engine.Kernel {
	of := func(op string, types []tensor.DType, run func(*engine.Call) error) engine.Kernel {
		return engine.Kernel{Op: op, Run: run, Types: engine.Types{"T": types}, Precision: engine.Accumulated}
	}
	return []engine.Kernel{
		of("SegmentSum", scatter.Types(), sortedSegments(scatter.Add)),
		of("SegmentMean", scatter.Types(), sortedSegments(mean)),
		of("SegmentProd", scatter.Types(), sortedSegments(scatter.Mul)),
		of("SegmentMin", scatter.Ordered(), sortedSegments(scatter.Min)),
		of("SegmentMax", scatter.Ordered(), sortedSegments(scatter.Max)),
		of("UnsortedSegmentProd", scatter.Types(), unsortedSegments(scatter.Mul)),
		of("UnsortedSegmentMin", scatter.Ordered(), unsortedSegments(scatter.Min)),
		of("UnsortedSegmentMax", scatter.Ordered(), unsortedSegments(scatter.Max)),
	}
}

// mean is the reduction of SegmentMean: the sum divided by the count. It is no
// way of package scatter, and its number is none of that package's.
const mean = scatter.How(255)

// sortedSegments reduces rows whose ids never fall. A segment without rows is
// zero, or one for a product.
func sortedSegments(h scatter.How) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := c.Need(2); err != nil {
			return err
		}
		x := c.In(0)
		ids, err := shapes.AllInts(c.In(1), "the segment ids")
		if err != nil {
			return err
		}
		dims, err := shape.SortedSegments(x.Shape(), c.In(1).Shape(), ids)
		if err != nil {
			return err
		}
		out, err := c.AllocZero(0, x.DType(), dims)
		if err != nil {
			return err
		}
		if h == scatter.Mul {
			if err := start(c, out, oneOf); err != nil {
				return err
			}
		}
		if out.Len() == 0 {
			return nil
		}
		return reduceSorted(c, out, x, ids, h)
	}
}

// reduceSorted reduces rows of x to those of out: the first row of a segment is copied, the others
// change it. x is [rows, ...], ids has a segment for each row, out is [segments, ...].
func reduceSorted(c *engine.Call, out, x *tensor.Tensor, ids []int64, h scatter.How) error {
	n := shapes.Count(x.Shape()[1:])
	firsts, at := engine.Zeroed[int](c, len(ids)), engine.Zeroed[int](c, len(ids))
	counts := engine.Zeroed[int](c, out.Shape()[0])
	for i, id := range ids {
		firsts[i], at[i] = -1, int(id)*n
		if counts[id] == 0 {
			firsts[i], at[i] = at[i], -1
		}
		counts[id]++
	}
	if len(x.Shape()) == 1 { // so that a vector of one row isn't taken as a scalar for all
		x = tensor.Must(x.Reshape(len(ids), 1))
	}
	if err := scatter.To(c, out, firsts, n, x, scatter.Update); err != nil {
		return err
	}
	if f := columns[out.DType()]; f != nil && (h == scatter.Add || h == scatter.Mul) {
		c.Reserve(4 * (x.Len() + n)) // as float32
		f(out, x, ids, n, h)
		return nil
	}
	if h != mean {
		return scatter.To(c, out, at, n, x, h)
	}
	if err := scatter.To(c, out, at, n, x, scatter.Add); err != nil {
		return err
	}
	f, err := averages.Of(out.DType())
	if err == nil {
		if out.DType().Size() == 2 {
			c.Reserve(4 * out.Len()) // as float32
		}
		f(out, counts, n)
	}
	return err
}

// columns add up or multiply the rows of segments in half precision, each step rounded, in
// TensorFlow's order.
var columns = engine.ByType[func(out, x *tensor.Tensor, ids []int64, n int, h scatter.How)]{
	tensor.Float16: columnsHalf[tensor.F16], tensor.BFloat16: columnsHalf[tensor.BF16],
}

func columnsHalf[H elementwise.Half](out, x *tensor.Tensor, ids []int64, n int, h scatter.How) {
	s := stepwise.Sum[H]()
	if h == scatter.Mul {
		s = stepwise.Prod[H]()
	}
	src, dst := make([]float32, x.Len()), make([]float32, n)
	elementwise.Widen(src, tensor.Values[H](x))
	for lo, hi := 0, 0; lo < len(ids); lo = hi {
		for hi = lo; hi < len(ids) && ids[hi] == ids[lo]; hi++ {
		}
		s.Columns(dst, src[lo*n:hi*n], hi-lo, 0, n)
		elementwise.Narrow(tensor.Values[H](out)[int(ids[lo])*n:][:n], dst)
	}
}

// averages divide sums by their numbers of terms. The first count is that of the
// first n sums, the second one that of the next n, and so on.
var averages = engine.ByType[func(out *tensor.Tensor, counts []int, n int)]{
	tensor.Float32: overFloat[float32], tensor.Float64: overFloat[float64],
	tensor.Float16: overHalf[tensor.F16], tensor.BFloat16: overHalf[tensor.BF16],
	tensor.Complex64: overComplex[complex64], tensor.Complex128: overComplex[complex128],
	tensor.Int8: overInt[int8], tensor.Int16: overInt[int16], tensor.Int32: overInt[int32], tensor.Int64: overInt[int64],
	tensor.Uint8: overInt[uint8], tensor.Uint16: overInt[uint16], tensor.Uint32: overInt[uint32], tensor.Uint64: overUint64,
}

// divideAll divides each of n sums by its count. It leaves those of one term, or of none,
// unchanged.
func divideAll[T any](sums []T, counts []int, n int, over func(sum T, count int) T) {
	for i := range sums {
		if k := counts[i/n]; k > 1 {
			sums[i] = over(sums[i], k)
		}
	}
}

func overFloat[T float32 | float64](out *tensor.Tensor, counts []int, n int) {
	divideAll(tensor.Values[T](out), counts, n, func(x T, k int) T { return x / T(k) })
}

func overComplex[T complex64 | complex128](out *tensor.Tensor, counts []int, n int) {
	divideAll(tensor.Values[T](out), counts, n, func(x T, k int) T { return x / T(complex(float64(k), 0)) })
}

// overInt divides as an int64, because T may be too narrow for the count.
func overInt[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](out *tensor.Tensor, counts []int, n int) {
	divideAll(tensor.Values[T](out), counts, n, func(x T, k int) T { return T(int64(x) / int64(k)) })
}

func overUint64(out *tensor.Tensor, counts []int, n int) {
	divideAll(tensor.Values[uint64](out), counts, n, func(x uint64, k int) uint64 { return x / uint64(k) })
}

func overHalf[H elementwise.Half](out *tensor.Tensor, counts []int, n int) {
	v := tensor.Values[H](out)
	wide, round := make([]float32, len(v)), stepwise.Rounding[H]()
	elementwise.Widen(wide, v)
	divideAll(wide, counts, n, func(x float32, k int) float32 { return x / round(float32(k)) })
	elementwise.Narrow(v, wide)
}

// unsortedSegments reduces rows by ids in any order; it skips rows with an id below 0. A segment
// without rows is one for a product. For Min it is the type's largest finite number, for Max the
// least: TensorFlow's initial values.
func unsortedSegments(h scatter.How) func(*engine.Call) error {
	first := map[scatter.How]engine.ByType[func() *tensor.Tensor]{scatter.Mul: oneOf, scatter.Min: highest, scatter.Max: lowest}[h]
	return func(c *engine.Call) error {
		dims, at, inner, err := segmentPlaces(c)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, c.In(0).DType(), dims)
		if err != nil {
			return err
		}
		if err := start(c, out, first); err != nil || out.Len() == 0 {
			return err
		}
		x := c.In(0)
		if len(x.Shape()) == 0 { // a row of one element isn't taken as a scalar for all
			x = tensor.Must(x.Reshape(1))
		}
		return scatter.To(c, out, at, inner, x, h)
	}
}

// segmentPlaces reads the inputs of a reduction over unsorted segments. It
// returns the shape of the output and the offset in it of each part, of inner
// elements.
func segmentPlaces(c *engine.Call) (dims tensor.Shape, at []int, inner int, err error) {
	if err := c.Need(3); err != nil {
		return nil, nil, 0, err
	}
	x, ids := c.In(0), c.In(1)
	s, is := x.Shape(), ids.Shape()
	n, err := shapes.Int(c.In(2), "the number of segments")
	if err != nil {
		return nil, nil, 0, err
	}
	if n < 0 || n != int64(int(n)) {
		return nil, nil, 0, fmt.Errorf("there can't be %d segments", n)
	}
	if dims, err = shape.Segments(s, is, int(n)); err != nil {
		return nil, nil, 0, err
	}
	v, err := shapes.AllInts(ids, "the ids")
	if err != nil {
		return nil, nil, 0, err
	}
	inner = shapes.Count(s[len(is):])
	at = engine.Zeroed[int](c, len(v))
	for i, id := range v {
		if id >= n {
			return nil, nil, 0, fmt.Errorf("id %d is outside of [0, %d)", id, n)
		}
		if at[i] = int(id) * inner; id < 0 {
			at[i] = -1 // skipped
		}
	}
	return dims, at, inner, nil
}

// start fills a tensor with a number of its type.
func start(c *engine.Call, out *tensor.Tensor, first engine.ByType[func() *tensor.Tensor]) error {
	f, err := first.Of(out.DType())
	if err != nil || out.Len() == 0 {
		return err
	}
	return scatter.To(c, out, []int{0}, out.Len(), f(), scatter.Update)
}

func scalar[T tensor.Element](x T) func() *tensor.Tensor {
	return func() *tensor.Tensor { return tensor.Scalar(x) }
}

var oneOf = engine.ByType[func() *tensor.Tensor]{
	tensor.Float32: scalar[float32](1), tensor.Float64: scalar[float64](1), tensor.Float16: scalar(tensor.ToF16(1)), tensor.BFloat16: scalar(tensor.ToBF16(1)),
	tensor.Int8: scalar[int8](1), tensor.Int16: scalar[int16](1), tensor.Int32: scalar[int32](1), tensor.Int64: scalar[int64](1),
	tensor.Uint8: scalar[uint8](1), tensor.Uint16: scalar[uint16](1), tensor.Uint32: scalar[uint32](1), tensor.Uint64: scalar[uint64](1),
	tensor.Complex64: scalar[complex64](1), tensor.Complex128: scalar[complex128](1),
}

// The largest finite numbers of the 16-bit floating types.
const (
	maxF16  = tensor.F16(0x7bff)
	maxBF16 = tensor.BF16(0x7f7f)
	sign16  = 0x8000
)

// lowest and highest have the least and the largest finite number of each type.
var (
	lowest = engine.ByType[func() *tensor.Tensor]{
		tensor.Float32: scalar(float32(-math.MaxFloat32)), tensor.Float64: scalar(-math.MaxFloat64), tensor.Float16: scalar(maxF16 | sign16), tensor.BFloat16: scalar(maxBF16 | sign16),
		tensor.Int8: scalar(vec.Lowest[int8]()), tensor.Int16: scalar(vec.Lowest[int16]()), tensor.Int32: scalar(vec.Lowest[int32]()), tensor.Int64: scalar(vec.Lowest[int64]()),
		tensor.Uint8: scalar[uint8](0), tensor.Uint16: scalar[uint16](0), tensor.Uint32: scalar[uint32](0), tensor.Uint64: scalar[uint64](0),
	}
	highest = engine.ByType[func() *tensor.Tensor]{
		tensor.Float32: scalar(float32(math.MaxFloat32)), tensor.Float64: scalar(math.MaxFloat64), tensor.Float16: scalar(maxF16), tensor.BFloat16: scalar(maxBF16),
		tensor.Int8: scalar(vec.Highest[int8]()), tensor.Int16: scalar(vec.Highest[int16]()), tensor.Int32: scalar(vec.Highest[int32]()), tensor.Int64: scalar(vec.Highest[int64]()),
		tensor.Uint8: scalar(vec.Highest[uint8]()), tensor.Uint16: scalar(vec.Highest[uint16]()), tensor.Uint32: scalar(vec.Highest[uint32]()), tensor.Uint64: scalar(vec.Highest[uint64]()),
	}
)
