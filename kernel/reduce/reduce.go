package reduce

import (
	"bytes"
	"maps"
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/stepwise"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of Sum, Mean, Prod, Max, Min, All, Any, EuclideanNorm, L2Loss and
// BiasAddGrad. Sums may be added in another order within the kernels'
// precision, but never in one that depends on the number of workers.

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	return []engine.Kernel{
		sums.Kernel("Sum", "T", engine.Accumulated),
		means.Kernel("Mean", "T", engine.Accumulated),
		prods.Kernel("Prod", "T", engine.Accumulated),
		maxes.Kernel("Max", "T", engine.Exact),
		mins.Kernel("Min", "T", engine.Exact),
		alls.Kernel("All", "", engine.Exact),
		anys.Kernel("Any", "", engine.Exact),
		norms.Kernel("EuclideanNorm", "T", engine.Accumulated),
		argMax.Kernel("ArgMax", "T", engine.Exact),
		argMin.Kernel("ArgMin", "T", engine.Exact),
		cumsums.Kernel("Cumsum", "T", engine.Accumulated),
		cumprods.Kernel("Cumprod", "T", engine.Accumulated),
		cumulativeLogSumExps.Kernel("CumulativeLogsumexp", "T", engine.Accumulated),
		l2Losses.Kernel("L2Loss", "T", engine.Accumulated),
		{Op: "BiasAddGrad", Run: biasAddGrad, Precision: engine.Accumulated},
	}
}

// number has the types that can be added.
type number interface {
	vec.Number
	tensor.Element
}

// realNumber has the types that can be compared.
type realNumber interface {
	vec.Real
	tensor.Element
}

// float has float32 and float64.
type float interface {
	vec.Float
	tensor.Element
}

// reducer has the functions that reduce elements of one type.
type reducer[T any] struct {
	empty T                   // the result for no elements
	row   func(x []T) T       // reduces a row that isn't empty
	acc   func(dst, a, b []T) // joins two rows, element by element
	end   func(x []T, n int)  // for each result of n elements
	begin func(dst, src []T)  // for each element; nil: none
}

// sumOf returns the reducer of Sum.
func sumOf[T number]() reducer[T] { return reducer[T]{row: vec.Total[T], acc: vec.AddVV[T]} }

// prodOf returns the reducer of Prod.
func prodOf[T number]() reducer[T] { return reducer[T]{empty: 1, row: vec.Prod[T], acc: vec.MulVV[T]} }

// maxOf returns the reducer of Max.
func maxOf[T realNumber]() reducer[T] {
	return reducer[T]{empty: vec.Lowest[T](), row: vec.MaxOf[T], acc: vec.MaxVV[T]}
}

// minOf returns the reducer of Min.
func minOf[T realNumber]() reducer[T] {
	return reducer[T]{empty: vec.Highest[T](), row: vec.MinOf[T], acc: vec.MinVV[T]}
}

// meanFloat returns the reducer of Mean; no elements have the mean NaN.
func meanFloat[T vec.Float | vec.Complex]() reducer[T] {
	return reducer[T]{row: vec.Total[T], acc: vec.AddVV[T], end: divide[T]}
}

// meanComplex returns the average, zero for no elements.
func meanComplex[T vec.Complex]() reducer[T] {
	r := meanFloat[T]()
	r.end = func(x []T, n int) {
		if n > 0 {
			divide(x, n)
		}
	}
	return r
}

// divide divides all elements of x by n.
func divide[T vec.Number](x []T, n int) {
	d := vec.FromInt[T](n)
	for i := range x {
		x[i] /= d
	}
}

// meanWide averages integers of up to 32 bits by sums in W, a wider type.
func meanWide[T, W interface {
	vec.Int
	tensor.Element
}]() elementwise.Func {
	r := meanInt[W]()
	return func(c *engine.Call) error {
		groups, out, count, err := begin(c)
		if err != nil {
			return err
		}
		src, free := engine.Scratch[W](c, c.In(0).Len())
		defer free()
		dst, freeDst := engine.Scratch[W](c, out.Len())
		defer freeDst()
		for i, v := range tensor.Values[T](c.In(0)) {
			src[i] = W(v)
		}
		r.reduce(c, dst, src, groups, count)
		for i, v := range dst {
			tensor.Values[T](out)[i] = T(v)
		}
		return nil
	}
}

// meanInt returns the reducer of Mean for integers, zero for no elements.
func meanInt[T vec.Int]() reducer[T] {
	return reducer[T]{row: vec.Sum[T], acc: vec.AddVV[T], end: func(x []T, n int) {
		if n > 0 && T(n) != 0 {
			divide(x, n)
		}
	}}
}

// normOf returns the reducer of EuclideanNorm.
func normOf[T float]() reducer[T] {
	return reducer[T]{row: vec.Total[T], acc: vec.AddVV[T],
		begin: func(dst, src []T) { vec.Square(dst, src) },
		end:   func(x []T, n int) { vec.Sqrt(x, x) }}
}

// normInt adds squares in the type itself, in which they may wrap, and rounds
// the root down.
func normInt[T vec.Int]() reducer[T] {
	return reducer[T]{row: vec.Sum[T], acc: vec.AddVV[T],
		begin: func(dst, src []T) { vec.Square(dst, src) },
		end: func(x []T, _ int) {
			for i, v := range x {
				x[i] = T(math.Sqrt(max(0, float64(v))))
			}
		}}
}

// normComplex returns the root of the sum of squared magnitudes, as a complex
// number.
func normComplex[T vec.Complex]() reducer[T] {
	return reducer[T]{row: vec.Total[T], acc: vec.AddVV[T],
		begin: func(dst, src []T) {
			for i, v := range src {
				z := complex128(v)
				dst[i] = T(complex(real(z)*real(z)+imag(z)*imag(z), 0))
			}
		},
		end: func(x []T, _ int) {
			for i, v := range x {
				x[i] = T(complex(math.Sqrt(real(complex128(v))), 0))
			}
		}}
}

var (
	// The kernels by element type.
	sums = elementwise.ByType{
		tensor.Float32: run(sumOf[float32]()), tensor.Float64: run(sumOf[float64]()),
		tensor.Float16: stepwiseReduction[tensor.F16](stepSum[tensor.F16]()), tensor.BFloat16: runHalf[tensor.BF16](sumOf[float32]()),
		tensor.Int8: run(sumOf[int8]()), tensor.Int16: run(sumOf[int16]()), tensor.Int32: run(sumOf[int32]()), tensor.Int64: run(sumOf[int64]()),
		tensor.Uint8: run(sumOf[uint8]()), tensor.Uint16: run(sumOf[uint16]()), tensor.Uint32: run(sumOf[uint32]()), tensor.Uint64: run(sumOf[uint64]()),
		tensor.Complex64: run(sumOf[complex64]()), tensor.Complex128: run(sumOf[complex128]()),
	}
	means = elementwise.ByType{
		tensor.Float32: run(meanFloat[float32]()), tensor.Float64: run(meanFloat[float64]()),
		tensor.Float16: stepwiseReduction[tensor.F16](stepMean[tensor.F16]()), tensor.BFloat16: runHalf[tensor.BF16](meanFloat[float32]()),
		tensor.Int8: meanWide[int8, int64](), tensor.Int16: meanWide[int16, int64](), tensor.Int32: meanWide[int32, int64](), tensor.Int64: run(meanInt[int64]()),
		tensor.Uint8: meanWide[uint8, uint64](), tensor.Uint16: meanWide[uint16, uint64](), tensor.Uint32: meanWide[uint32, uint64](), tensor.Uint64: run(meanInt[uint64]()),
		tensor.Complex64: run(meanComplex[complex64]()), tensor.Complex128: run(meanComplex[complex128]()),
	}
	prods = elementwise.ByType{
		tensor.Float32: run(prodOf[float32]()), tensor.Float64: run(prodOf[float64]()),
		tensor.Float16: stepwiseReduction[tensor.F16](stepProd[tensor.F16]()), tensor.BFloat16: stepwiseReduction[tensor.BF16](stepProd[tensor.BF16]()),
		tensor.Int8: run(prodOf[int8]()), tensor.Int16: run(prodOf[int16]()), tensor.Int32: run(prodOf[int32]()), tensor.Int64: run(prodOf[int64]()),
		tensor.Uint8: run(prodOf[uint8]()), tensor.Uint16: run(prodOf[uint16]()), tensor.Uint32: run(prodOf[uint32]()), tensor.Uint64: run(prodOf[uint64]()),
		tensor.Complex64: run(prodOf[complex64]()), tensor.Complex128: run(prodOf[complex128]()),
	}
	maxes = elementwise.ByType{
		tensor.Float32: run(maxOf[float32]()), tensor.Float64: run(maxOf[float64]()),
		tensor.Float16: runHalf[tensor.F16](maxOf[float32]()), tensor.BFloat16: runHalf[tensor.BF16](maxOf[float32]()),
		tensor.Int8: run(maxOf[int8]()), tensor.Int16: run(maxOf[int16]()), tensor.Int32: run(maxOf[int32]()), tensor.Int64: run(maxOf[int64]()),
		tensor.Uint8: run(maxOf[uint8]()), tensor.Uint16: run(maxOf[uint16]()), tensor.Uint32: run(maxOf[uint32]()), tensor.Uint64: run(maxOf[uint64]()),
	}
	mins = elementwise.ByType{
		tensor.Float32: run(minOf[float32]()), tensor.Float64: run(minOf[float64]()),
		tensor.Float16: runHalf[tensor.F16](minOf[float32]()), tensor.BFloat16: runHalf[tensor.BF16](minOf[float32]()),
		tensor.Int8: run(minOf[int8]()), tensor.Int16: run(minOf[int16]()), tensor.Int32: run(minOf[int32]()), tensor.Int64: run(minOf[int64]()),
		tensor.Uint8: run(minOf[uint8]()), tensor.Uint16: run(minOf[uint16]()), tensor.Uint32: run(minOf[uint32]()), tensor.Uint64: run(minOf[uint64]()),
	}
	norms = elementwise.ByType{
		tensor.Float32: run(normOf[float32]()), tensor.Float64: run(normOf[float64]()),
		tensor.Float16: stepwiseReduction[tensor.F16](stepNorm[tensor.F16]()), tensor.BFloat16: runHalf[tensor.BF16](normOf[float32]()),
		tensor.Int8: run(normInt[int8]()), tensor.Int16: run(normInt[int16]()), tensor.Int32: run(normInt[int32]()), tensor.Int64: run(normInt[int64]()),
		tensor.Uint8: run(normInt[uint8]()), tensor.Uint16: run(normInt[uint16]()), tensor.Uint32: run(normInt[uint32]()), tensor.Uint64: run(normInt[uint64]()),
		tensor.Complex64: run(normComplex[complex64]()), tensor.Complex128: run(normComplex[complex128]()),
	}
	alls = elementwise.ByType{tensor.Bool: run(reducer[bool]{empty: true, row: vec.AllOf, acc: vec.AndVV[bool]})}
	anys = elementwise.ByType{tensor.Bool: run(reducer[bool]{row: vec.AnyOf, acc: vec.OrVV[bool]})}
)

// group is a run of dimensions that are all kept or all reduced.
type group struct {
	n      int
	reduce bool
}

// grouped has the results of groupAxes for a shape and axes, for the next call.
type grouped struct {
	in     tensor.Shape
	axes   tensor.DType
	which  []byte // the axes' bytes
	groups []group
	out    tensor.Shape
	count  int
}

// groupAxes returns the groups of the dimensions, the output's shape, and the
// number of elements that are reduced to one.
func groupAxes(c *engine.Call) (groups []group, out tensor.Shape, count int, err error) {
	if err := c.Need(2); err != nil {
		return nil, nil, 0, err
	}
	s, axes := c.In(0).Shape(), c.In(1)
	if g, ok := c.Node().Last().(*grouped); ok && g.in.Equal(s) && g.axes == axes.DType() && bytes.Equal(g.which, axes.Bytes()) {
		return g.groups, g.out, g.count, nil
	}
	groups, out, count, err = readAxes(c)
	if err == nil {
		c.Node().Remember(&grouped{slices.Clone(s), axes.DType(), bytes.Clone(axes.Bytes()), groups, out, count})
	}
	return groups, out, count, err
}

// readAxes reads the axes and groups the dimensions.
func readAxes(c *engine.Call) (groups []group, out tensor.Shape, count int, err error) {
	s := c.In(0).Shape()
	axes, err := shapes.AllInts(c.In(1), "the axes")
	if err != nil {
		return nil, nil, 0, err
	}
	out, marked, err := shape.Reduction(s, axes, c.Attrs().Bool("keep_dims"))
	if err != nil {
		return nil, nil, 0, err
	}
	count = 1
	for i, n := range s {
		if marked[i] {
			count *= n
		}
		if k := len(groups) - 1; k >= 0 && groups[k].reduce == marked[i] {
			groups[k].n *= n
			continue
		}
		groups = append(groups, group{n, marked[i]})
	}
	return groups, out, count, nil
}

// begin returns the groups of the dimensions, the output (of the input's type),
// and the number of elements that are reduced to one.
func begin(c *engine.Call) (groups []group, out *tensor.Tensor, count int, err error) {
	groups, dims, count, err := groupAxes(c)
	if err != nil {
		return nil, nil, 0, err
	}
	out, err = c.Alloc(0, c.In(0).DType(), dims)
	return groups, out, count, err
}

// run returns the kernel of a reducer.
func run[T tensor.Element](r reducer[T]) elementwise.Func {
	return func(c *engine.Call) error {
		groups, out, count, err := begin(c)
		if err != nil {
			return err
		}
		dst, src := tensor.Values[T](out), tensor.Values[T](c.In(0))
		if r.begin != nil {
			sq, _ := engine.Scratch[T](c, len(src))
			r.begin(sq, src)
			src = sq
		}
		r.reduce(c, dst, src, groups, count)
		return nil
	}
}

// runHalf returns the kernel of a reducer of float32 for half precision,
// rounded once at the end.
func runHalf[H elementwise.Half](r reducer[float32]) elementwise.Func {
	return func(c *engine.Call) error {
		groups, out, count, err := begin(c)
		if err != nil {
			return err
		}
		src, dst := elementwise.Widened[H](c, c.In(0)), elementwise.Wide(c, out.Len())
		if r.begin != nil {
			r.begin(src, src)
		}
		r.reduce(c, dst, src, groups, count)
		elementwise.Narrow(tensor.Values[H](out), dst)
		return nil
	}
}

// reduce reduces all reduced groups of src to dst. count is the number of
// elements for each result.
func (r *reducer[T]) reduce(c *engine.Call, dst, src []T, groups []group, count int) {
	switch {
	case len(dst) == 0:
		return
	case len(src) == 0:
		for i := range dst {
			dst[i] = r.empty
		}
		count = 0
	default:
		// The last reduced group goes first; each pass leaves fewer elements.
		for last := len(groups) - 1; last >= 0; last-- {
			if !groups[last].reduce {
				continue
			}
			outer, inner, more := 1, 1, false
			for i, g := range groups {
				if i < last {
					outer *= g.n
					more = more || g.reduce
				} else if i > last && !g.reduce {
					inner *= g.n
				}
			}
			to := dst
			if more {
				to, _ = engine.Scratch[T](c, outer*inner)
			}
			r.pass(c, to, src, outer, groups[last].n, inner)
			src = to
		}
		if count == 1 || len(src) == len(dst) && &src[0] != &dst[0] {
			copy(dst, src)
		}
	}
	if r.end != nil {
		r.end(dst, count)
	}
}

// pass reduces the middle of [outer, n, inner].
func (r *reducer[T]) pass(c *engine.Call, dst, src []T, outer, n, inner int) {
	if inner == 1 {
		if outer == 1 && n > longPiece {
			dst[0] = r.long(c, src)
			return
		}
		if !c.Large(outer*n, 0.5) {
			for i := range outer {
				dst[i] = r.row(src[i*n : i*n+n])
			}
			return
		}
		c.Parallel(outer, 0.5*float64(n), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				dst[i] = r.row(src[i*n : i*n+n])
			}
		})
		return
	}
	if outer == 1 && inner <= narrow && n*inner >= 8*narrow {
		r.narrow(c, dst, src, n, inner) // for any number of workers
		return
	}
	if !c.Large(outer*n*inner, 0.5) {
		for i := range outer {
			r.columns(dst[i*inner:(i+1)*inner], src[i*n*inner:], n, inner, 0, inner)
		}
		return
	}
	if outer > 1 {
		c.Parallel(outer, 0.5*float64(n*inner), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				r.columns(dst[i*inner:(i+1)*inner], src[i*n*inner:], n, inner, 0, inner)
			}
		})
		return
	}
	// A piece has whole cache lines.
	const line = 16
	c.Parallel((inner+line-1)/line, 0.5*float64(n*line), func(lo, hi int) {
		r.columns(dst, src, n, inner, lo*line, min(hi*line, inner))
	})
}

// narrow is the largest number of columns of a matrix whose rows are reduced
// several at a time.
const narrow = 512

// narrow reduces the rows of a matrix of few columns. It does so in pieces of
// fixed length, so that the result doesn't depend on the number of workers.
func (r *reducer[T]) narrow(c *engine.Call, dst, src []T, n, width int) {
	rows := max(1, longPiece/2/width)
	if n <= rows {
		room, _ := engine.Scratch[T](c, 2*narrow)
		r.fold(dst, src[:n*width], room)
		return
	}
	pieces := (n + rows - 1) / rows
	parts, _ := engine.Scratch[T](c, pieces*width)
	rooms, _ := engine.Scratch[T](c, pieces*2*narrow)
	c.Parallel(pieces, 0.1*float64(rows*width), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			r.fold(parts[i*width:(i+1)*width], src[i*rows*width:min((i+1)*rows, n)*width], rooms[i*2*narrow:(i+1)*2*narrow])
		}
	})
	r.fold(dst, parts, rooms)
}

// fold reduces adjacent rows as long as dst. It adds several at a time, as one
// longer row of at most 2*narrow elements in room. Then it adds the parts of
// that row.
func (r *reducer[T]) fold(dst, src, room []T) {
	width, n := len(dst), len(src)/len(dst)
	together := min(n, 2*narrow/width)
	if together < 2 {
		r.columns(dst, src, n, width, 0, width)
		return
	}
	all := room[:together*width]
	src = src[copy(all, src):]
	for len(src) > 0 {
		k := min(len(src), len(all))
		r.acc(all[:k], all[:k], src[:k])
		src = src[k:]
	}
	for together > 1 {
		half := together / 2
		k := half * width
		r.acc(all[:k], all[:k], all[(together-half)*width:together*width])
		together -= half
	}
	copy(dst, all)
}

// columns reduces columns lo to hi of a matrix of n rows.
func (r *reducer[T]) columns(dst, src []T, n, width, lo, hi int) {
	copy(dst[lo:hi], src[lo:hi])
	for k := 1; k < n; k++ {
		r.acc(dst[lo:hi], dst[lo:hi], src[k*width+lo:k*width+hi])
	}
}

// longPiece is the length of long's pieces.
const longPiece = 1 << 16

// long reduces one long row in pieces of fixed length, so that the result
// doesn't depend on the number of workers.
func (r *reducer[T]) long(c *engine.Call, src []T) T {
	const piece = longPiece
	parts, _ := engine.Scratch[T](c, (len(src)+piece-1)/piece)
	c.Parallel(len(parts), piece*0.5, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			parts[i] = r.row(src[i*piece : min((i+1)*piece, len(src))])
		}
	})
	return r.row(parts)
}

// biasAddGrad sums input 0 over all dimensions except the channels'.
func biasAddGrad(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	s := c.In(0).Shape()
	axis, err := shape.BiasAxis(s, c.Attrs().String("data_format", "NHWC"))
	if err != nil {
		return err
	}
	axes := make([]int32, 0, len(s))
	for i := range s {
		if i != axis {
			axes = append(axes, int32(i))
		}
	}
	c.Refs().AddInput(engine.ValueOf(tensor.Vector(axes...)))
	return biasSums.Run(c)
}

// biasSums are the sums of BiasAddGrad.
var biasSums = withType(withType(sums, tensor.Float16, biasSteps[tensor.F16]), tensor.BFloat16, biasSteps[tensor.BF16])

// biasSteps sums over all but one dimension in half precision. It sums the
// dimensions after that one in rounded steps, and then these sums in the order
// of the elements; for float16 the second part is in float32.
func biasSteps[H elementwise.Half](c *engine.Call) error {
	groups, out, count, err := begin(c)
	if err != nil {
		return err
	}
	src, dst := elementwise.Widened[H](c, c.In(0)), elementwise.Wide(c, out.Len())
	width, s := 1, stepwise.Sum[H]()
	if k := len(groups); k > 0 && groups[k-1].reduce {
		width = groups[k-1].n
	}
	round := s.Round
	if c.In(0).DType() == tensor.Float16 {
		round = func(v float32) float32 { return v }
	}
	if n := len(dst); n > 0 && count > 0 {
		c.Parallel(n, perStep*float64(count), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				for at := i * width; at < len(src); at += n * width {
					v := src[at]
					if width > 1 {
						v = s.Row(src[at:at+width], 0)
					}
					dst[i] = round(dst[i] + v)
				}
			}
		})
	}
	elementwise.Narrow(tensor.Values[H](out), dst)
	return nil
}

// withType returns a copy of the table with another function for a type.
func withType(t elementwise.ByType, d tensor.DType, f elementwise.Func) elementwise.ByType {
	t = maps.Clone(t)
	t[d] = f
	return t
}

// l2Losses has L2Loss by element type.
var l2Losses = elementwise.ByType{
	tensor.Float32:  l2Loss[float32],
	tensor.Float64:  l2Loss[float64],
	tensor.Float16:  l2LossHalf[tensor.F16](stepSquares[tensor.F16]()),
	tensor.BFloat16: l2LossHalf[tensor.BF16](stepSquares[tensor.BF16]()),
}

// l2Loss returns half of the sum of squares.
func l2Loss[T float](c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	out, err := c.Alloc(0, c.In(0).DType(), tensor.Shape{})
	if err != nil {
		return err
	}
	tensor.Values[T](out)[0] = squares(tensor.Values[T](c.In(0))) / 2
	return nil
}

// squares adds halves recursively, which keeps the error small.
func squares[T vec.Float](x []T) T {
	if len(x) <= 4096 {
		return vec.SumSquares(x)
	}
	h := len(x) / 2
	return squares(x[:h]) + squares(x[h:])
}

// l2LossHalf does so for half precision.
func l2LossHalf[H elementwise.Half](sum *steps) elementwise.Func {
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		out, err := c.Alloc(0, c.In(0).DType(), tensor.Shape{})
		if err != nil {
			return err
		}
		x := elementwise.Widened[H](c, c.In(0))
		for i, v := range x {
			x[i] = sum.begin(v)
		}
		elementwise.Narrow(tensor.Values[H](out), []float32{sum.Row(x, 0) / 2})
		return nil
	}
}
