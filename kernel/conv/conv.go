package conv

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/epilogue"
	"github.com/cairnml/cairn/kernel/internal/gemm"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/stepwise"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of Conv2D, Conv3D, DepthwiseConv2dNative, their gradients, and the fused forms of the
// two-dimensional ones. A filter is [height, width, channels of a group, outputs], that of
// volumes has the depth before; a depthwise one is [height, width, channels, outputs per channel].
// Images are [batch, height, width, channels] or, channels first, [batch, channels, height, width].

// direction is which of image, filter and output a convolution computes from
// the other two.
type direction uint8

const (
	forward    direction = iota // the output from image and filter
	backInput                   // the image's gradient, from the filter and the output's gradient
	backFilter                  // the filter's gradient, from the image and the output's gradient
)

// convolution is a node that convolves.
type convolution struct {
	op        string
	dir       direction
	rank      int // of the images, batch and channels included: 4, or 5 for volumes
	depthwise bool
	windows   shape.Windows
	packing   engine.Packing // the filter as packed[T], if it is invariant
	channels  int            // of the image, -1 if they aren't known in advance
	run       runFunc
	epilogue  *epilogue.Epilogue // of a fused op; nil for others
	inputs    int                // how many a call has, those of the epilogue included
}

func prepare(dir direction, rank int, depthwise bool) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		v := &convolution{op: n.Op, dir: dir, rank: rank, depthwise: depthwise, inputs: 3}
		if dir == forward {
			v.inputs = 2
		}
		var err error
		if v.windows, err = shape.WindowsOf(n.Attrs, rank); err != nil {
			return nil, err
		}
		d := tensor.Invalid
		if len(n.In) > 0 {
			d = n.In[len(n.In)-1].DType
		}
		if strings.HasPrefix(n.Op, "_Fused") && d != tensor.Float32 {
			return nil, &engine.UnsupportedTypeError{Type: d, Known: fusedTypes}
		}
		if v.run, err = convolutions.Of(d); err != nil {
			return nil, err
		}
		if dir != backFilter && len(n.In) > 1 && !depthwise {
			v.channels = -1
			if x := n.In[0].Shape; dir == forward && x.HasRank() && x.Rank() == rank {
				v.channels = x.Dim(v.windows.Layout.Channels)
			}
			v.packing = n.Pack(1, v.packKey(), v.pack)
		}
		if strings.HasPrefix(n.Op, "_Fused") {
			v.run = fused
			if v.epilogue, err = epilogue.Of(n, 2); err != nil {
				return nil, err
			}
			v.inputs = max(2, len(n.In))
		}
		return v.call, nil
	}
}

// fusedTypes lists the types that ops with an epilogue take.
var fusedTypes = []tensor.DType{tensor.Float32}

// runFunc computes out from a and b.
type runFunc func(c *engine.Call, v *convolution, g *geometry, out, a, b *tensor.Tensor)

// convolutions has the functions by type.
var convolutions = engine.ByType[runFunc]{
	tensor.Float32: floats[float32], tensor.Float64: floats[float64],
	tensor.Float16: halves[tensor.F16], tensor.BFloat16: halves[tensor.BF16],
	tensor.Int32: func(_ *engine.Call, v *convolution, g *geometry, out, a, b *tensor.Tensor) {
		plain(v.dir, g, tensor.Values[int32](out), tensor.Values[int32](a), tensor.Values[int32](b))
	},
}

// call checks the inputs, finds the geometry and makes the output.
func (v *convolution) call(c *engine.Call) error {
	if err := c.Need(v.inputs); err != nil {
		return err
	}
	g := newGeometry()
	g.call = c
	defer g.free()
	var dims tensor.Shape
	a, b := c.In(0), c.In(1)
	if v.dir != forward {
		b = c.In(2)
	}
	switch v.dir {
	case forward:
		if err := v.fits(g, a.Shape(), b.Shape()); err != nil {
			return err
		}
		dims = g.image(g.dims[:0], g.out, g.o)
	case backInput:
		a = c.In(1)
		var err error
		if dims, err = v.inputSizes(c.In(0), a, b); err != nil {
			return err
		}
		if a.Len() == 0 {
			return zeros(c, b, dims)
		}
		if err := v.fits(g, dims, a.Shape()); err != nil {
			return err
		}
	case backFilter:
		var err error
		if dims, err = shapes.Dims(c.In(1), "the filter's sizes", 0); err != nil {
			return err
		}
		if n, err := dims.NumElements(); err == nil && n == 0 {
			return zeros(c, b, dims)
		}
		if err := v.fits(g, a.Shape(), dims); err != nil {
			return err
		}
	}
	if a.DType() != b.DType() {
		return fmt.Errorf("the inputs' types differ: %v and %v", a.DType(), b.DType())
	}
	if v.dir != forward {
		if y := g.image(g.dims[:0], g.out, g.o); !b.Shape().Equal(y) {
			return fmt.Errorf("the output's gradient has shape %v, not %v", b.Shape(), y)
		}
	}
	if v.epilogue != nil {
		if err := v.epilogue.Check(c, dims, v.windows.Layout.Channels); err != nil {
			return err
		}
	}
	out, err := c.Alloc(0, b.DType(), dims)
	if err != nil || out.Len() == 0 {
		return err
	}
	if a.Len() == 0 || b.Len() == 0 {
		clear(out.Bytes())
		if v.epilogue != nil {
			v.epilogue.Apply(c, out, v.windows.Layout.Channels)
		}
		return nil
	}
	v.run(c, v, g, out, a, b)
	return nil
}

// zeros makes the gradient, of shape dims, if the filter has no elements. Other shapes aren't
// checked then.
func zeros(c *engine.Call, dy *tensor.Tensor, dims tensor.Shape) error {
	_, err := c.AllocZero(0, dy.DType(), dims)
	return err
}

func (v *convolution) fits(g *geometry, x, f tensor.Shape) error {
	if len(x) != v.rank {
		return fmt.Errorf("images of shape %v, where %d dimensions are needed", x, v.rank)
	}
	return g.filtered(&v.windows, x, f, v.depthwise)
}

// inputSizes returns the shape of the image. Input 0 of Conv2DBackpropInput may have
// height and width alone, as in TensorFlow: the gradient has the batch, the filter the channels.
func (v *convolution) inputSizes(sizes, f, dy *tensor.Tensor) (tensor.Shape, error) {
	dims, err := shapes.Dims(sizes, "the input's sizes", 0)
	if err != nil || v.op != "Conv2DBackpropInput" || len(dims) != 2 {
		return dims, err
	}
	if len(f.Shape()) != 4 || len(dy.Shape()) != 4 {
		return nil, fmt.Errorf("a filter of shape %v and a gradient of shape %v", f.Shape(), dy.Shape())
	}
	l := v.windows.Layout
	out := make(tensor.Shape, 4)
	out[l.Batch], out[l.Channels] = dy.Shape()[l.Batch], f.Shape()[2]
	for i, d := range l.Spatial {
		out[d] = dims[i]
	}
	return out, nil
}

// real are the types with fast products.
type real interface{ float32 | float64 }

func floats[T real](c *engine.Call, v *convolution, g *geometry, out, a, b *tensor.Tensor) {
	packed, _ := c.Packed(v.packing).(packed[T])
	compute(c, v.dir, g, tensor.Values[T](out), tensor.Values[T](a), tensor.Values[T](b), packed, nil)
}

// fused computes an output and applies its epilogue. It applies it while the
// output is in the cache, if the channels come last and none of the first
// two cases of [compute] applies, otherwise afterwards.
func fused(c *engine.Call, v *convolution, g *geometry, out, a, b *tensor.Tensor) {
	packed, _ := c.Packed(v.packing).(packed[float32])
	var e *gemm.Epilogue[float32]
	if !g.channelsFirst {
		e = &g.ending
		*e = v.epilogue.During(c)
	}
	if !compute(c, forward, g, tensor.Values[float32](out), tensor.Values[float32](a), tensor.Values[float32](b), packed, e) {
		v.epilogue.Apply(c, out, v.windows.Layout.Channels)
	}
}

// compute computes a convolution in direction dir from a and b into out, and
// applies e unless that is nil. It reports whether it has applied it.
func compute[T real](c *engine.Call, dir direction, g *geometry, out, a, b []T, p packed[T], e *gemm.Epilogue[T]) bool {
	pads := dir != backInput && g.padded() || dir == backInput && g.taps() > 1
	infinite := p.infinite
	if p.weights == nil && pads {
		infinite = !finite(besidePadding(dir, a, b))
	}
	switch {
	// The order matters: a case applies if those above it don't.
	case infinite && pads: // padding is skipped: its zeros times infinity are NaN
		outside(c, dir, g, out, a, b)
		return false
	case !affordable(g.reach(), g.n, max(g.c, g.o), len(out)+len(a)+len(b)),
		g.stride[0]*g.stride[1]*g.stride[2] > maxPhases: // a frame or the phases would be too large
		plain(dir, g, out, a, b)
		return false
	case dir == forward && g.eachChannel():
		depthwiseForward(c, g, out, a, b, e)
	case dir == forward:
		convolve(c, g, out, a, b, p.weights, e)
	case g.depthwise > 0:
		depthwiseGradient(c, dir, g, out, a, b)
	case dir == backInput && g.folds():
		fold(c, g, out, a, b)
	case dir == backInput:
		spread(c, g, out, a, b, p.weights)
	default:
		correlate(c, g, out, a, b)
	}
	return e != nil
}

// halves computes in float32. Sums are rounded at every step, as TensorFlow's are, in depthwise
// convolutions and in the output of volumes with one group and channels last.
func halves[H elementwise.Half](c *engine.Call, v *convolution, g *geometry, out, a, b *tensor.Tensor) {
	var wide [3][]float32
	for i, t := range []*tensor.Tensor{out, a, b} {
		var free func()
		wide[i], free = engine.Scratch[float32](c, t.Len())
		defer free()
	}
	elementwise.Widen(wide[1], tensor.Values[H](a))
	elementwise.Widen(wide[2], tensor.Values[H](b))
	packed, _ := c.Packed(v.packing).(packed[float32])
	switch {
	case g.depthwise > 0:
		depthwiseInSteps[v.dir](c, g, wide[0], wide[1], wide[2], stepwise.Rounding[H]())
	case v.dir == forward && g.rank == 5 && g.groups == 1 && !g.channelsFirst && !(g.padded() && !finite(wide[2])):
		volumeSteps(c, g, wide[0], wide[1], stepwise.NewProduct[H](g.places(), g.o, g.taps()*g.c, wide[2]))
	default:
		compute(c, v.dir, g, wide[0], wide[1], wide[2], packed, nil)
	}
	elementwise.Narrow(tensor.Values[H](out), wide[0])
}

// volumeSteps computes the output from volumes, one row of the product with the
// filter per place.
func volumeSteps(c *engine.Call, g *geometry, y, x []float32, p *stepwise.Product) {
	c.Parallel(p.Rows, float64(p.Depth*p.Cols)*stepwise.Time, func(lo, hi int) {
		row := make([]float32, p.Depth)
		for i := lo; i < hi; i++ {
			clear(row)
			g.eachOf(i, i+1, func(n, _, in, tap int) {
				copy(row[tap*g.c:][:g.c], x[(n*g.in[0]*g.in[1]*g.in[2]+in)*g.c:])
			})
			p.Row(y[i*g.o:(i+1)*g.o], row, i)
		}
	})
}

// convolve computes the output from image and filter, and applies the epilogue.
func convolve[T real](c *engine.Call, g *geometry, y, x, f []T, packed []*gemm.Weights[T], e *gemm.Epilogue[T]) {
	fr := framed(c, x, g.channelsFirst, g.n, g.c, g.in, g.reach(), g.before, 1)
	defer fr.free()
	out, done := last(c, y, g.channelsFirst, g.n, g.out, g.o)
	defer done()
	w := g.sliding(fr.strides())
	cg, og := g.c/g.groups, g.o/g.groups
	for i := range g.groups {
		w.Src, w.Dst = i*cg, i*og
		if len(packed) == g.groups {
			packed[i].Slide(out, fr.data, w, e.From(w.Dst), c.Workers())
			continue
		}
		b := gemm.PackTemporary(f[i*og:], g.o, false, g.taps()*cg, og, c.Workers())
		b.Slide(out, fr.data, w, e.From(w.Dst), c.Workers())
		b.Free()
	}
}

// sliding returns the windows of the first group over images in a frame, whose strides
// are given.
func (g *geometry) sliding(s [3]int, image int) gemm.Windows {
	places := g.out[0] * g.out[1] * g.out[2]
	w := gemm.Windows{Run: g.c / g.groups}
	w.Positions[0] = gemm.Axis{N: g.n, Src: image, Dst: places * g.o}
	rest := places
	for d := range 3 {
		rest /= g.out[d]
		w.Positions[d+1] = gemm.Axis{N: g.out[d], Src: g.stride[d] * s[d], Dst: rest * g.o}
		w.Taps[d] = gemm.Axis{N: g.size[d], Src: g.dilation[d] * s[d]}
	}
	if g.groups == 1 && g.dilation[2] == 1 {
		// The taps of a row are neighbours.
		w.Run *= g.size[2]
		w.Taps[2].N = 1
	}
	merge(&w)
	return w
}

// merge joins rows of positions into one row if their positions are equally
// spaced, so that tiles don't end at the end of a short row.
func merge(w *gemm.Windows) {
	p := &w.Positions
	for a := 2; a >= 0; a-- {
		switch last := p[3]; {
		case p[a].N == 1:
		case last.N == 1:
			p[3], p[a] = p[a], gemm.Axis{N: 1}
		case p[a].Src == last.N*last.Src && p[a].Dst == last.N*last.Dst:
			p[3].N *= p[a].N
			p[a] = gemm.Axis{N: 1}
		default:
			return
		}
	}
}

// packKey names the form of the packed filter and its parameters.
func (v *convolution) packKey() string {
	if v.dir == forward {
		return fmt.Sprintf("gemm: a filter as matrices, %d channels", v.channels)
	}
	return fmt.Sprintf("gemm: a filter for a gradient, %v %v %v", v.windows.Layout, v.windows.Strides, v.windows.Dilations)
}

// packed is a filter that doesn't change.
type packed[T real] struct {
	weights  []*gemm.Weights[T]
	infinite bool // one of its elements is infinite or NaN
}

// besidePadding returns the input whose elements are multiplied by the zeros of the padding:
// the filter, or for the filter's gradient that of the output.
func besidePadding[T any](dir direction, a, b []T) []T {
	if dir == backInput {
		return a
	}
	return b
}

// finite reports whether all elements are numbers.
func finite[T real](v []T) bool {
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}

// pack packs a filter that doesn't change.
func (v *convolution) pack(f *tensor.Tensor) (any, int) {
	s := f.Shape()
	if len(s) != v.rank || f.Len() == 0 {
		return nil, 0
	}
	switch f.DType() {
	case tensor.Float32:
		return sized(v, s, tensor.Values[float32](f))
	case tensor.Float64:
		return sized(v, s, tensor.Values[float64](f))
	case tensor.Float16:
		wide := make([]float32, f.Len())
		elementwise.Widen(wide, tensor.Values[tensor.F16](f))
		return sized(v, s, wide)
	case tensor.BFloat16:
		wide := make([]float32, f.Len())
		elementwise.Widen(wide, tensor.Values[tensor.BF16](f))
		return sized(v, s, wide)
	}
	return nil, 0
}

// sized returns a packed filter and its size.
func sized[T real](v *convolution, s tensor.Shape, f []T) (any, int) {
	p := packed[T]{packFilter(v, s, f), !finite(f)}
	bytes := 0
	for _, w := range p.weights {
		if w != nil {
			bytes += w.NumBytes()
		}
	}
	return p, bytes
}

// packFilter packs a filter: forward as one matrix for each group, for the image's gradient
// as one for each phase of the strides. An image of unknown channels counts as one group.
// Groups of one channel need no packing.
func packFilter[T real](v *convolution, s tensor.Shape, f []T) []*gemm.Weights[T] {
	g := geometry{c: s[len(s)-2], o: s[len(s)-1], groups: 1, size: [3]int{1, 1, 1}, stride: [3]int{1, 1, 1}, dilation: [3]int{1, 1, 1}}
	for i, d := range v.windows.Layout.Spatial {
		k := 3 - len(v.windows.Layout.Spatial) + i
		g.size[k], g.stride[k], g.dilation[k] = s[i], v.windows.Strides[d], v.windows.Dilations[d]
	}
	if v.dir == forward {
		if v.channels > g.c && v.channels%g.c == 0 {
			g.groups = v.channels / g.c
		}
		if g.groups > 1 && g.c == 1 || g.o%g.groups != 0 {
			return nil
		}
		og := g.o / g.groups
		all := make([]*gemm.Weights[T], g.groups)
		for i := range all {
			all[i] = gemm.Pack(f[i*og:], g.o, false, g.taps()*g.c, og)
		}
		return all
	}
	if g.stride[0]*g.stride[1]*g.stride[2] > maxPhases {
		return nil
	}
	var all []*gemm.Weights[T]
	for _, p := range g.phases() {
		var w *gemm.Weights[T]
		if k := p.taps() * g.o; k > 0 {
			b := make([]T, k*g.c)
			gather(&p, b, f, &g, 0)
			w = gemm.Pack(b, g.c, false, k, g.c)
		}
		all = append(all, w)
	}
	return all
}
