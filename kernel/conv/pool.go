package conv

import (
	"fmt"
	"math"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/simd"
	"github.com/cairnml/cairn/kernel/internal/stepwise"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of MaxPool, MaxPoolV2, MaxPool3D, AvgPool and AvgPool3D, and the preparation of all
// pooling ops. Taps outside of the image don't count for a mean.

// pooling is a node that takes the maximum or the mean of windows, or a
// gradient of that.
type pooling struct {
	rank    int
	windows shape.Windows
	size    []int
	given   int          // the input with the windows' sizes, followed by the strides; 0 for attributes
	batch   bool         // include_batch_in_index: the indices of argmax count from the first image on
	index   tensor.DType // of argmax
}

// poolFunc is a pooling op: it finds the geometry, makes the output and
// computes.
type poolFunc func(c *engine.Call, p *pooling) error

// pool prepares a pooling op on images of a rank. given is the input with the
// windows' sizes, followed by one with the strides, or 0 if they are
// attributes.
func pool(rank, given int, run poolFunc) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		p := &pooling{rank: rank, given: given, batch: n.Attrs.Bool("include_batch_in_index"), index: n.Attrs.Type("Targmax", tensor.Int64)}
		var err error
		if p.windows, err = shape.WindowsOf(n.Attrs, rank); err != nil {
			return nil, err
		}
		if p.size, err = shape.Sizes(n.Attrs, rank); err != nil {
			return nil, err
		}
		if given == 0 {
			return func(c *engine.Call) error { return run(c, p) }, nil
		}
		return func(c *engine.Call) error {
			if c.NumIn() != given+2 {
				return fmt.Errorf("takes %d inputs, %d were given", given+2, c.NumIn())
			}
			if err := c.NeedTensors(0); err != nil {
				return err
			}
			q := *p
			for i, list := range []*[]int{&q.size, &q.windows.Strides} {
				v, err := shapes.Ints(c.In(given+i), "the windows")
				if err != nil {
					return err
				}
				if *list, err = shape.PerDim(v, rank); err != nil {
					return err
				}
			}
			return run(c, &q)
		}, nil
	}
}

// need checks that a call has n inputs, besides those with the windows.
func (p *pooling) need(c *engine.Call, n int) error {
	if p.given > 0 {
		n += 2
	}
	return c.Need(n)
}

// over returns the geometry of the windows over images of shape x, and the
// shape of the output.
func (p *pooling) over(x tensor.Shape) (g geometry, out tensor.Shape, err error) {
	if len(x) != p.rank {
		return g, nil, fmt.Errorf("images of shape %v, where %d dimensions are needed", x, p.rank)
	}
	l := p.windows.Layout
	if p.size[l.Batch] != 1 {
		return g, nil, fmt.Errorf("windows reach over %d images", p.size[l.Batch])
	}
	size := [3]int{1, 1, 1}
	for i, d := range l.Spatial {
		size[3-len(l.Spatial)+i] = p.size[d]
	}
	if err = g.windows(&p.windows, x, size); err != nil {
		return g, nil, err
	}
	g.groups, g.o = 1, g.c
	k, stride := p.size[l.Channels], p.windows.Strides[l.Channels]
	if k == 1 && stride == 1 {
		return g, g.image(nil, g.out, g.c), nil
	}
	// Windows over channels: these are the only spatial dimension.
	if size != [3]int{1, 1, 1} || g.stride != [3]int{1, 1, 1} || k != stride || g.c%k != 0 || g.channelsFirst {
		return g, nil, fmt.Errorf("windows over channels have to divide them, and to reach over nothing else")
	}
	out = x.Clone()
	out[l.Channels] = g.c / k
	return geometry{rank: p.rank, n: g.places(), c: 1, o: 1, groups: 1, in: [3]int{1, 1, g.c}, out: [3]int{1, 1, g.c / k},
		size: [3]int{1, 1, k}, stride: [3]int{1, 1, k}, dilation: [3]int{1, 1, 1}}, out, nil
}

// reducer makes one number of each window of x.
type reducer func(c *engine.Call, g geometry, out, x *tensor.Tensor)

// reducing runs the op that makes one number of each window; channels is its table
// for windows over channels.
func reducing(table, channels engine.ByType[reducer]) poolFunc {
	return func(c *engine.Call, p *pooling) error {
		if err := p.need(c, 1); err != nil {
			return err
		}
		x := c.In(0)
		g, dims, err := p.over(x.Shape())
		if err != nil {
			return err
		}
		of := table
		if p.size[p.windows.Layout.Channels] > 1 {
			of = channels
		}
		f, err := of.Of(x.DType())
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, x.DType(), dims)
		if err != nil || out.Len() == 0 {
			return err
		}
		f(c, g, out, x)
		return nil
	}
}

// maxPools take the maximum and begin with the least finite number, as TensorFlow does: NaN is
// skipped.
var maxPools = engine.ByType[reducer]{
	tensor.Float32: pools(maxAbove[float32](-math.MaxFloat32)), tensor.Float64: pools(maxAbove(-math.MaxFloat64)),
	tensor.Float16: halfPools[tensor.F16](maxAbove[float32](-65504)), tensor.BFloat16: halfPools[tensor.BF16](maxAbove[float32](-0x1.fep127)),
	tensor.Int8: pools(vec.MaxPool[int8]), tensor.Int16: pools(vec.MaxPool[int16]), tensor.Int32: pools(vec.MaxPool[int32]), tensor.Int64: pools(vec.MaxPool[int64]),
	tensor.Uint8: pools(vec.MaxPool[uint8]), tensor.Uint16: pools(vec.MaxPool[uint16]),
}

// maxChannels are for windows over channels, for which TensorFlow starts with
// the first element: the result is NaN if the first element is.
var maxChannels = engine.ByType[reducer]{
	tensor.Float32: pools(vec.MaxPool[float32]), tensor.Float64: pools(vec.MaxPool[float64]),
	tensor.Float16: halfPools[tensor.F16](vec.MaxPool[float32]), tensor.BFloat16: halfPools[tensor.BF16](vec.MaxPool[float32]),
	tensor.Int8: pools(vec.MaxPool[int8]), tensor.Int16: pools(vec.MaxPool[int16]), tensor.Int32: pools(vec.MaxPool[int32]), tensor.Int64: pools(vec.MaxPool[int64]),
	tensor.Uint8: pools(vec.MaxPool[uint8]), tensor.Uint16: pools(vec.MaxPool[uint16]),
}

// avgPools take the mean.
var avgPools = engine.ByType[reducer]{
	tensor.Float32: pools(meanWindow[float32]), tensor.Float64: pools(meanWindow[float64]),
	tensor.Float16:  halfPools[tensor.F16](meanStepwise(stepwise.Rounding[tensor.F16]())),
	tensor.BFloat16: halfPools[tensor.BF16](meanStepwise(stepwise.Rounding[tensor.BF16]())),
}

// windowFunc computes a row of places from the taps in x that are inside the
// image; there is at least one.
type windowFunc[T element] func(dst, x []T, p *simd.Pool)

// tensorElement has the elements that tensors consist of without conversion.
type tensorElement interface {
	element
	tensor.Element
}

// pools returns the reducer of f.
func pools[T tensorElement](f windowFunc[T]) reducer {
	return func(c *engine.Call, g geometry, out, x *tensor.Tensor) {
		poolOver(c, g, tensor.Values[T](out), tensor.Values[T](x), f)
	}
}

// halfPools returns the reducer of f for half precision, computed in float32.
func halfPools[H elementwise.Half](f windowFunc[float32]) reducer {
	return func(c *engine.Call, g geometry, out, x *tensor.Tensor) {
		src, free := engine.Scratch[float32](c, x.Len())
		defer free()
		dst, freeDst := engine.Scratch[float32](c, out.Len())
		defer freeDst()
		elementwise.Widen(src, tensor.Values[H](x))
		poolOver(c, g, dst, src, f)
		elementwise.Narrow(tensor.Values[H](out), dst)
	}
}

// poolOver computes all places.
func poolOver[T element](c *engine.Call, g geometry, y, x []T, f windowFunc[T]) {
	fr := framed(c, x, g.channelsFirst, g.n, g.c, g.in, g.in, [3]int{}, 1)
	defer fr.free()
	out, done := last(c, y, g.channelsFirst, g.n, g.out, g.c)
	defer done()
	loop := engine.Share[poolRows[T]]()
	loop.State = poolRows[T]{c, g, out, fr.data, f}
	loop.Parallel(c, g.n*g.out[0]*g.out[1], float64(g.out[2]*g.c*g.taps())*0.05+10*float64(g.out[2]))
	loop.State = poolRows[T]{}
	loop.Free()
}

// longWindow is the number of taps from which on each window looks at the call's context.
const longWindow = 1 << 12

// poolRows is a pooling under way. Workers share its rows of places.
type poolRows[T element] struct {
	call *engine.Call
	geometry
	y, x []T
	f    windowFunc[T]
}

// Piece computes rows lo to hi.
func (w *poolRows[T]) Piece(lo, hi int) {
	image, width := w.in[0]*w.in[1]*w.in[2]*w.c, w.out[2]*w.c
	for r := lo; r < hi; r++ {
		n, z, y := r/(w.out[0]*w.out[1]), r/w.out[1]%w.out[0], r%w.out[1]
		src, dst := w.x[n*image:(n+1)*image], w.y[r*width:(r+1)*width]
		w.eachRun(z, y, func(x int, p *simd.Pool) {
			if len(p.Taps) > longWindow {
				w.call.Check()
			}
			places := dst[x*w.c : (x+p.Places)*w.c]
			if len(p.Taps) == 0 {
				clear(places)
			} else {
				w.f(places, src, p)
			}
		})
	}
}

// eachRun visits the places of a row in runs, from left to right. The places of a
// run have the same taps within the image. x is the run's first place. p has no
// taps if none are inside the image, and is valid until visit returns.
func (g *geometry) eachRun(z, y int, visit func(x int, p *simd.Pool)) {
	list := tapLists.Get().(*tapList)
	defer tapLists.Put(list)
	p := &list.row
	for x := 0; x < g.out[2]; x += p.Places {
		first, last := g.span(2, x)
		end := x + 1
		for ; end < g.out[2]; end++ {
			if a, b := g.span(2, end); a != first || b != last {
				break
			}
		}
		list.taps = g.within(list.taps[:0], z, y, x)
		*p = simd.Pool{Taps: list.taps, Places: end - x, Step: g.stride[2] * g.c, Channels: g.c}
		visit(x, p)
	}
}

// tapList is the working memory of [geometry.eachRun].
type tapList struct {
	taps []int
	row  simd.Pool
}

var tapLists = sync.Pool{New: func() any { return new(tapList) }}

// within appends the offsets of the channels of each tap that is inside the
// image, for the window at a place.
func (g *geometry) within(taps []int, z, y, x int) []int {
	z0, z1 := g.span(0, z)
	y0, y1 := g.span(1, y)
	x0, x1 := g.span(2, x)
	pz, py, px := g.place(0, z), g.place(1, y), g.place(2, x)
	for kz := z0; kz < z1; kz++ {
		for ky := y0; ky < y1; ky++ {
			at := (((pz+kz*g.dilation[0])*g.in[1]+py+ky*g.dilation[1])*g.in[2] + px) * g.c
			for kx := x0; kx < x1; kx++ {
				taps = append(taps, at+kx*g.dilation[2]*g.c)
			}
		}
	}
	return taps
}

// maxAbove computes the maximum of a window's taps and of the type's lowest
// finite number, with which TensorFlow starts: the result is never NaN or -Inf.
func maxAbove[T real](lowest T) windowFunc[T] {
	return func(dst, x []T, p *simd.Pool) {
		vec.MaxPool(dst, x, p)
		for i, v := range dst {
			if v >= lowest {
				continue
			}
			dst[i] = lowest
			for _, t := range p.Taps {
				if tap := x[i/p.Channels*p.Step+t+i%p.Channels]; tap > dst[i] {
					dst[i] = tap
				}
			}
		}
	}
}

func meanWindow[T real](dst, x []T, p *simd.Pool) {
	n := T(len(p.Taps))
	for i := range p.Places {
		out := dst[i*p.Channels : (i+1)*p.Channels]
		for k, t := range p.Taps {
			src := x[i*p.Step+t:][:len(out)]
			if k == 0 {
				copy(out, src)
			} else {
				vec.AddVV(out, out, src)
			}
		}
		vec.DivVS(out, out, n)
	}
}

// meanStepwise returns a function that computes means as meanWindow does, from
// sums and counts that are rounded to the type at every step, as TensorFlow's
// are.
func meanStepwise(round func(float32) float32) windowFunc[float32] {
	return func(dst, x []float32, p *simd.Pool) {
		var n float32
		for range p.Taps {
			n = round(n + 1)
		}
		for i := range p.Places {
			out := dst[i*p.Channels : (i+1)*p.Channels]
			clear(out)
			for _, t := range p.Taps {
				for c, v := range x[i*p.Step+t:][:len(out)] {
					out[c] = round(out[c] + v)
				}
			}
			vec.DivVS(out, out, n)
		}
	}
}
