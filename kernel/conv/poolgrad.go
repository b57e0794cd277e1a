package conv

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/simd"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of the gradients of pooling, of the gradients of these, and of MaxPoolWithArgmax.

// poolGrad is one gradient of pooling over the images of a call, in one element
// type and with the channels last.
type poolGrad[T element] func(g *geometry, image int, out, x, y, dy []T)

// backwards runs a gradient: out has the shape of the images or, for the
// gradient of a gradient, of the pooled images.
type backwards func(c *engine.Call, g *geometry, out *tensor.Tensor, in [3]*tensor.Tensor, second bool)

// back returns the gradient f for elements of type T.
func back[T tensorElement](f poolGrad[T]) backwards {
	return func(c *engine.Call, g *geometry, out *tensor.Tensor, in [3]*tensor.Tensor, second bool) {
		var v [3][]T
		for i, t := range in {
			if t != nil {
				v[i] = tensor.Values[T](t)
			}
		}
		backOver(c, g, tensor.Values[T](out), v, second, f)
	}
}

// halfBack returns the gradient f for half precision, computed in float32.
func halfBack[H elementwise.Half](f poolGrad[float32]) backwards {
	return func(c *engine.Call, g *geometry, out *tensor.Tensor, in [3]*tensor.Tensor, second bool) {
		var v [3][]float32
		for i, t := range in {
			if t != nil {
				var free func()
				v[i], free = engine.Scratch[float32](c, t.Len())
				defer free()
				elementwise.Widen(v[i], tensor.Values[H](t))
			}
		}
		dst, free := engine.Scratch[float32](c, out.Len())
		defer free()
		backOver(c, g, dst, v, second, f)
		elementwise.Narrow(tensor.Values[H](out), dst)
	}
}

// backOver runs f on each image, with the channels last: in are the images, the
// pooled images, and a gradient. The gradient has the shape of the images if
// second is set, otherwise that of the pooled images. Inputs that an op doesn't need are nil.
func backOver[T element](c *engine.Call, g *geometry, out []T, in [3][]T, second bool, f poolGrad[T]) {
	g.call = c
	sizes := [3][3]int{g.in, g.out, g.out}
	into := g.in
	if second {
		sizes[2], into = g.in, g.out
	}
	var lists [3][]T
	for i, v := range in {
		if v == nil {
			continue
		}
		fr := framed(c, v, g.channelsFirst, g.n, g.c, sizes[i], sizes[i], [3]int{}, 1)
		defer fr.free()
		lists[i] = fr.data
	}
	dst, done := last(c, out, g.channelsFirst, g.n, into, g.c)
	defer done()
	part := func(v []T, size [3]int, i int) []T {
		n := size[0] * size[1] * size[2] * g.c
		if v == nil {
			return nil
		}
		return v[i*n : (i+1)*n]
	}
	places := g.out[0] * g.out[1] * g.out[2]
	c.Parallel(g.n, float64(places*g.c*g.taps())*2, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			clear(part(dst, into, i))
			f(g, i, part(dst, into, i), part(lists[0], g.in, i), part(lists[1], g.out, i), part(lists[2], sizes[2], i))
		}
	})
}

// eachPlace visits the places of an image with the offset of their channels and
// the taps within the image.
func (g *geometry) eachPlace(visit func(at int, taps []int)) {
	var buf [64]int
	looked := 0
	for p := range g.out[0] * g.out[1] * g.out[2] {
		g.look(&looked, g.taps()*g.c)
		visit(p*g.c, g.within(buf[:0], p/(g.out[1]*g.out[2]), p/g.out[2]%g.out[1], p%g.out[2]))
	}
}

// largest returns the offset of the largest element of a window for channel c:
// the first one of several.
func largest[T element](x []T, taps []int, c int) int {
	best := taps[0] + c
	for _, t := range taps[1:] {
		if x[t+c] > x[best] {
			best = t + c
		}
	}
	return best
}

// maxBack hands each gradient to the element that was the largest.
func maxBack[T element](g *geometry, _ int, out, x, _, dy []T) {
	looked := 0
	for r := range g.out[0] * g.out[1] {
		row := dy[r*g.out[2]*g.c : (r+1)*g.out[2]*g.c]
		g.eachRun(r/g.out[1], r%g.out[1], func(at int, p *simd.Pool) {
			g.look(&looked, len(p.Taps)*p.Places*g.c)
			if len(p.Taps) > 0 {
				vec.MaxPoolGrad(out, x, row[at*g.c:(at+p.Places)*g.c], p)
			}
		})
	}
}

// maxBackAll hands each gradient to all elements within 1e-5 of the largest, as
// TensorFlow's pooling of volumes does.
func maxBackAll[T real](g *geometry, _ int, out, x, y, dy []T) {
	g.eachPlace(func(at int, taps []int) {
		for _, t := range taps {
			for c := range g.c {
				if d := x[t+c] - y[at+c]; d < 1e-5 && d > -1e-5 {
					out[t+c] += dy[at+c]
				}
			}
		}
	})
}

// maxPick takes the gradient of the first element that equals the maximum, or
// zero if there is none: the gradient of maxBack.
func maxPick[T element](g *geometry, _ int, out, x, y, dy []T) {
	g.eachPlace(func(at int, taps []int) {
		for c := range g.c {
			for _, t := range taps {
				if x[t+c] == y[at+c] {
					out[at+c] = dy[t+c]
					break
				}
			}
		}
	})
}

// meanBack divides each gradient among the window's elements.
func meanBack[T real](g *geometry, _ int, out, _, _, dy []T) {
	g.eachPlace(func(at int, taps []int) {
		n := T(len(taps))
		for _, t := range taps {
			for c := range g.c {
				out[t+c] += dy[at+c] / n
			}
		}
	})
}

var (
	maxGrads = engine.ByType[backwards]{
		tensor.Float32: back(maxBack[float32]), tensor.Float64: back(maxBack[float64]),
		tensor.Float16: halfBack[tensor.F16](maxBack[float32]), tensor.BFloat16: halfBack[tensor.BF16](maxBack[float32]),
		tensor.Int8: back(maxBack[int8]), tensor.Int16: back(maxBack[int16]), tensor.Int32: back(maxBack[int32]), tensor.Int64: back(maxBack[int64]),
		tensor.Uint8: back(maxBack[uint8]), tensor.Uint16: back(maxBack[uint16]), tensor.Uint32: back(maxBack[uint32]), tensor.Uint64: back(maxBack[uint64]),
	}
	maxGrads3D = engine.ByType[backwards]{
		tensor.Float32: back(maxBackAll[float32]), tensor.Float64: back(maxBackAll[float64]),
		tensor.Float16: halfBack[tensor.F16](maxBackAll[float32]), tensor.BFloat16: halfBack[tensor.BF16](maxBackAll[float32]),
	}
	maxGradGrads = engine.ByType[backwards]{
		tensor.Float32: back(maxPick[float32]), tensor.Float64: back(maxPick[float64]),
		tensor.Float16: halfBack[tensor.F16](maxPick[float32]), tensor.BFloat16: halfBack[tensor.BF16](maxPick[float32]),
		tensor.Int8: back(maxPick[int8]), tensor.Int16: back(maxPick[int16]), tensor.Int32: back(maxPick[int32]), tensor.Int64: back(maxPick[int64]),
		tensor.Uint8: back(maxPick[uint8]), tensor.Uint16: back(maxPick[uint16]), tensor.Uint32: back(maxPick[uint32]), tensor.Uint64: back(maxPick[uint64]),
	}
	avgGrads = engine.ByType[backwards]{
		tensor.Float32: back(meanBack[float32]), tensor.Float64: back(meanBack[float64]),
		tensor.Float16: halfBack[tensor.F16](meanBack[float32]), tensor.BFloat16: halfBack[tensor.BF16](meanBack[float32]),
	}
)

// maxGradient runs an op of the images, the pooled images and a gradient.
func maxGradient(table engine.ByType[backwards], second bool) poolFunc {
	return func(c *engine.Call, p *pooling) error {
		if err := p.need(c, 3); err != nil {
			return err
		}
		x, y, dy := c.In(0), c.In(1), c.In(2)
		f, err := table.Of(x.DType())
		if err != nil {
			return err
		}
		g, dims, err := p.over(x.Shape())
		if err != nil {
			return err
		}
		into, from := x.Shape(), dims
		if second {
			into, from = dims, x.Shape()
		}
		if y.DType() != x.DType() || dy.DType() != x.DType() || !y.Shape().Equal(dims) || !dy.Shape().Equal(from) {
			return fmt.Errorf("images of %v%v with an output of %v%v and a gradient of %v%v", x.DType(), x.Shape(), y.DType(), y.Shape(), dy.DType(), dy.Shape())
		}
		out, err := c.Alloc(0, x.DType(), into)
		if err != nil || out.Len() == 0 {
			return err
		}
		f(c, &g, out, [3]*tensor.Tensor{x, y, dy}, second)
		return nil
	}
}

// avgGradient computes the gradient of a mean: the images' shape and a gradient.
func avgGradient(c *engine.Call, p *pooling) error {
	if err := p.need(c, 2); err != nil {
		return err
	}
	dy := c.In(1)
	f, err := avgGrads.Of(dy.DType())
	if err != nil {
		return err
	}
	dims, err := shapes.Dims(c.In(0), "the images' shape", 0)
	if err != nil {
		return err
	}
	g, y, err := p.over(dims)
	if err != nil {
		return err
	}
	if !dy.Shape().Equal(y) {
		return fmt.Errorf("the gradient has shape %v, not %v", dy.Shape(), y)
	}
	out, err := c.Alloc(0, dy.DType(), dims)
	if err != nil || out.Len() == 0 {
		return err
	}
	f(c, &g, out, [3]*tensor.Tensor{2: dy}, false)
	return nil
}

// argmaxGradient hands a gradient to the elements that argmax names. An index outside of its image
// is an error.
func argmaxGradient(c *engine.Call, p *pooling) error {
	if err := c.Need(3); err != nil {
		return err
	}
	x, dy, at := c.In(0), c.In(1), c.In(2)
	if len(x.Shape()) != 4 || len(at.Shape()) != 4 || at.Shape()[0] != x.Shape()[0] || dy.DType() != x.DType() || !dy.Shape().Equal(at.Shape()) {
		return fmt.Errorf("images of %v%v with a gradient of %v%v and an argmax of shape %v", x.DType(), x.Shape(), dy.DType(), dy.Shape(), at.Shape())
	}
	if _, y, err := p.over(x.Shape()); err != nil {
		return err
	} else if !dy.Shape().Equal(y) {
		return fmt.Errorf("the gradient has shape %v, not %v", dy.Shape(), y)
	}
	f, err := argmaxGrads.Of(x.DType())
	if err != nil {
		return err
	}
	list, err := shapes.AllInts(at, "argmax")
	if err != nil {
		return err
	}
	index := make([]int, len(list))
	for i, v := range list {
		n := x.Shape()[0]
		if image := int64(x.Len() / n); !p.batch && v >= 0 && v < image {
			v += int64(i/(len(list)/n)) * image
		} else if !p.batch {
			v = -1 // refused below
		}
		if v < 0 || v >= int64(x.Len()) {
			return fmt.Errorf("argmax holds %d for images of shape %v", list[i], x.Shape())
		}
		index[i] = int(v)
	}
	out, err := c.AllocZero(0, x.DType(), x.Shape())
	if err != nil {
		return err
	}
	f(out, dy, index)
	return nil
}

// argmaxMove adds each gradient in dy to the element of out at its index.
type argmaxMove func(out, dy *tensor.Tensor, index []int)

// argmaxMoves works as an argmaxMove for type T.
func argmaxMoves[T tensorElement](out, dy *tensor.Tensor, index []int) {
	addAt(tensor.Values[T](out), tensor.Values[T](dy), index)
}

// argmaxMovesHalf works as one for half precision. Sums are rounded once.
func argmaxMovesHalf[H elementwise.Half](out, dy *tensor.Tensor, index []int) {
	dst, src := make([]float32, out.Len()), make([]float32, dy.Len())
	elementwise.Widen(src, tensor.Values[H](dy))
	addAt(dst, src, index)
	elementwise.Narrow(tensor.Values[H](out), dst)
}

// addAt adds src[i] to dst[index[i]].
func addAt[T element](dst, src []T, index []int) {
	for i, at := range index {
		dst[at] += src[i]
	}
}

// argmaxGrads has the moves by element type.
var argmaxGrads = engine.ByType[argmaxMove]{
	tensor.Float32: argmaxMoves[float32], tensor.Float64: argmaxMoves[float64],
	tensor.Float16: argmaxMovesHalf[tensor.F16], tensor.BFloat16: argmaxMovesHalf[tensor.BF16],
	tensor.Int8: argmaxMoves[int8], tensor.Int16: argmaxMoves[int16], tensor.Int32: argmaxMoves[int32], tensor.Int64: argmaxMoves[int64],
	tensor.Uint8: argmaxMoves[uint8], tensor.Uint16: argmaxMoves[uint16], tensor.Uint32: argmaxMoves[uint32], tensor.Uint64: argmaxMoves[uint64],
}

// maxWithArgmax computes the maximum of windows and its index.
func maxWithArgmax(c *engine.Call, p *pooling) error {
	if err := p.need(c, 1); err != nil {
		return err
	}
	x := c.In(0)
	f, err := argmaxes.Of(x.DType())
	if err != nil {
		return err
	}
	g, dims, err := p.over(x.Shape())
	if err != nil {
		return err
	}
	if p.index != tensor.Int32 && p.index != tensor.Int64 {
		return fmt.Errorf("argmax can't have elements of %v", p.index)
	}
	out, err := c.Alloc(0, x.DType(), dims)
	if err != nil {
		return err
	}
	at, err := c.Alloc(1, p.index, dims)
	if err != nil || out.Len() == 0 {
		return err
	}
	g.call = c
	index := f(c, &g, out, x)
	perImage, image := len(index)/x.Shape()[0], x.Len()/x.Shape()[0]
	for i, v := range index {
		if p.batch {
			v += i / perImage * image
		}
		if p.index == tensor.Int32 {
			tensor.Values[int32](at)[i] = int32(v)
		} else {
			tensor.Values[int64](at)[i] = int64(v)
		}
	}
	return nil
}

// argmaxer sets out to the maxima of x, and returns their indices within an image.
type argmaxer func(c *engine.Call, g *geometry, out, x *tensor.Tensor) []int

// argmaxOf works as an argmaxer for type T.
func argmaxOf[T tensorElement](c *engine.Call, g *geometry, out, x *tensor.Tensor) []int {
	return argmaxOver(g, tensor.Values[T](out), tensor.Values[T](x))
}

// argmaxOfHalf works as one for half precision.
func argmaxOfHalf[H elementwise.Half](c *engine.Call, g *geometry, out, x *tensor.Tensor) []int {
	dst, src := make([]float32, out.Len()), make([]float32, x.Len())
	elementwise.Widen(src, tensor.Values[H](x))
	index := argmaxOver(g, dst, src)
	elementwise.Narrow(tensor.Values[H](out), dst)
	return index
}

// argmaxOver sets y to the maxima of x. Places without taps stay unchanged.
func argmaxOver[T element](g *geometry, y, x []T) []int {
	nx, ny := len(x)/g.n, len(y)/g.n
	index := make([]int, len(y))
	for i := range g.n {
		src, dst := x[i*nx:], y[i*ny:]
		g.eachPlace(func(at int, taps []int) {
			for c := 0; len(taps) > 0 && c < g.c; c++ {
				best := largest(src, taps, c)
				dst[at+c], index[i*ny+at+c] = src[best], best
			}
		})
	}
	return index
}

// argmaxes has the argmaxers by element type.
var argmaxes = engine.ByType[argmaxer]{
	tensor.Float32: argmaxOf[float32], tensor.Float64: argmaxOf[float64],
	tensor.Float16: argmaxOfHalf[tensor.F16], tensor.BFloat16: argmaxOfHalf[tensor.BF16],
	tensor.Int8: argmaxOf[int8], tensor.Int16: argmaxOf[int16], tensor.Int32: argmaxOf[int32], tensor.Int64: argmaxOf[int64],
	tensor.Uint8: argmaxOf[uint8], tensor.Uint16: argmaxOf[uint16], tensor.Uint32: argmaxOf[uint32], tensor.Uint64: argmaxOf[uint64],
}
