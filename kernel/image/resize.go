package image

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of ResizeBilinear, ResizeBicubic, ResizeArea,
// ResizeNearestNeighbor and their gradients. Images are [batch, height, width,
// channels]. The positions and weights of pixels are in taps.go.

// frame has the properties that images share with resized ones.
type frame struct {
	n, c             int
	corners, centers bool
}

func newFrame(c *engine.Call, x tensor.Shape) (frame, error) {
	if len(x) != 4 {
		return frame{}, fmt.Errorf("images of shape %v, where 4 dimensions are needed", x)
	}
	f := frame{n: x[0], c: x[3], corners: c.Attrs().Bool("align_corners"), centers: c.Attrs().Bool("half_pixel_centers")}
	if f.corners && f.centers && c.Op() != "ResizeNearestNeighborGrad" { // this op accepts both
		return f, fmt.Errorf("align_corners and half_pixel_centers exclude each other")
	}
	return f, nil
}

// line returns the resizing of a row or a column of in pixels to out pixels.
func (f frame) line(in, out int) line { return line{in, out, f.corners, f.centers} }

// target returns the size in input i.
func target(c *engine.Call, i int) (h, w int, err error) {
	s, err := shapes.Dims(c.In(i), "the size", 1)
	if err != nil {
		return 0, 0, err
	}
	if len(s) != 2 {
		return 0, 0, fmt.Errorf("the size has %d elements, not height and width", len(s))
	}
	return s[0], s[1], nil
}

func prepareResize(k kind) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(*engine.Node) (func(*engine.Call) error, error) {
		return func(c *engine.Call) error { return resize(c, k) }, nil
	}
}

// resize writes each pixel as the weighted sum of pixels around it, as float32.
func resize(c *engine.Call, k kind) error {
	if err := c.Need(2); err != nil {
		return err
	}
	in := c.In(0)
	s := in.Shape()
	f, err := newFrame(c, s)
	if err != nil {
		return err
	}
	h, w, err := target(c, 1)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tensor.Float32, tensor.Shape{s[0], h, w, s[3]})
	if err != nil || out.Len() == 0 {
		return err
	}
	if in.Len() == 0 {
		return fmt.Errorf("images of shape %v can't be resized", s)
	}
	x, free, err := floats(c, in)
	if err != nil {
		return err
	}
	defer free()
	c.Fits(h, tapBytes)
	c.Fits(w, tapBytes)
	ys, xs := k(f.line(s[1], h)), k(f.line(s[2], w))
	dst := tensor.Values[float32](out)
	image, row := s[1]*s[2]*s[3], s[2]*s[3]
	c.Parallel(s[0]*h, float64(w*s[3]*len(xs.index)/w*3), func(lo, hi int) {
		line := make([]float32, row)
		for r := lo; r < hi; r++ {
			src := x[r/h*image:]
			index, weight := ys.of(r % h)
			blend(line, src, row, index, weight)
			for p := range w {
				index, weight := xs.of(p)
				blend(dst[(r*w+p)*f.c:][:f.c], line, f.c, index, weight)
			}
		}
	})
	return nil
}

// blend computes the weighted sum of vectors at distances of step. It blends
// two from the first towards the second, so that equal ones don't change.
func blend(dst, src []float32, step int, index []int, weight []float32) {
	first := src[index[0]*step:][:len(dst)]
	if len(index) == 2 {
		second, part := src[index[1]*step:][:len(dst)], weight[1]
		for i, v := range first {
			dst[i] = v + (second[i]-v)*part
		}
		return
	}
	for i, v := range first {
		dst[i] = v * weight[0]
	}
	for k, at := range index[1:] {
		for i, v := range src[at*step:][:len(dst)] {
			dst[i] += v * weight[k+1]
		}
	}
}

// prepareResizeGrad prepares the gradient of a resize. It adds the gradient of
// each output pixel to those of the input pixels that contribute to it.
func prepareResizeGrad(k kind) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(*engine.Node) (func(*engine.Call) error, error) {
		return func(c *engine.Call) error { return resizeGrad(c, k) }, nil
	}
}

func resizeGrad(c *engine.Call, k kind) error {
	if err := c.Need(2); err != nil {
		return err
	}
	dy, like := c.In(0), c.In(1)
	s, y := like.Shape(), dy.Shape()
	f, err := newFrame(c, s)
	if err != nil {
		return err
	}
	if dy.DType() != tensor.Float32 || len(y) != 4 || y[0] != s[0] || y[3] != s[3] || !like.DType().IsFloating() {
		return fmt.Errorf("a gradient of %v%v for images of %v%v", dy.DType(), y, like.DType(), s)
	}
	out, err := c.Alloc(0, like.DType(), s)
	if err != nil || out.Len() == 0 {
		return err
	}
	if dy.Len() == 0 {
		clear(out.Bytes())
		return nil
	}
	ys, xs := k(f.line(s[1], y[1])), k(f.line(s[2], y[2]))
	g := tensor.Values[float32](dy)
	if out.DType() == tensor.Float64 {
		spread(c, tensor.Values[float64](out), g, s, y, ys, xs, len(ys.index) > 2*y[1])
		return nil
	}
	sum, free := scratch(c, out.Len())
	defer free()
	spread(c, sum, g, s, y, ys, xs, len(ys.index) > 2*y[1])
	store(out, sum)
	return nil
}

// spread adds each pixel of g, of shape y, to the pixels of images of shape s
// that contribute to it. TensorFlow rounds the products to float32 for two
// taps, but not for cubic ones.
func spread[T float32 | float64](c *engine.Call, sum []T, g []float32, s, y tensor.Shape, ys, xs *taps, cubic bool) {
	clear(sum)
	image, ch := s[1]*s[2]*s[3], s[3]
	c.Parallel(s[0], float64(len(g)/s[0])*8, func(lo, hi int) {
		for n := lo; n < hi; n++ {
			dst := sum[n*image : (n+1)*image]
			for p := range y[1] * y[2] {
				from := g[(n*y[1]*y[2]+p)*ch:][:ch]
				rows, wy := ys.of(p / y[2])
				cols, wx := xs.of(p % y[2])
				for a, r := range rows {
					for b, q := range cols {
						to := dst[(r*s[2]+q)*ch:][:ch]
						for i, v := range from {
							if cubic {
								to[i] += T(v) * T(wy[a]) * T(wx[b])
							} else {
								to[i] += T(float32(v*wy[a]) * wx[b])
							}
						}
					}
				}
			}
		}
	})
}

// nearest returns, for each pixel of the output, the pixel of the input that it
// copies.
func (f frame) nearest(in, out int) []int {
	l := f.line(in, out)
	list := make([]int, out)
	for i := range list {
		x := float64(float32(i) * l.scale())
		if f.centers {
			x = float64((float32(i) + 0.5) * l.scale())
		}
		if f.corners {
			x = math.Round(x)
		} else {
			x = math.Floor(x)
		}
		list[i] = min(max(int(x), 0), in-1)
	}
	return list
}

// resizeNearest copies pixels. Types for which TensorFlow has no kernel are an
// error.
func resizeNearest(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	in := c.In(0)
	s := in.Shape()
	f, err := newFrame(c, s)
	if err != nil {
		return err
	}
	h, w, err := target(c, 1)
	if err != nil {
		return err
	}
	size := in.DType().Size()
	if size == 0 || in.DType() == tensor.Bool || in.DType().IsComplex() {
		_, _, err := floats(c, in)
		return err
	}
	out, err := c.Alloc(0, in.DType(), tensor.Shape{s[0], h, w, s[3]})
	if err != nil || out.Len() == 0 {
		return err
	}
	if in.Len() == 0 {
		return fmt.Errorf("images of shape %v can't be resized", s)
	}
	ys, xs := f.nearest(s[1], h), f.nearest(s[2], w)
	pixel := s[3] * size
	src, dst := in.Bytes(), out.Bytes()
	c.Parallel(s[0]*h, float64(w)*(4+float64(pixel)/16), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row := src[(r/h*s[1]+ys[r%h])*s[2]*pixel:]
			to := dst[r*w*pixel:]
			for p, q := range xs {
				copy(to[p*pixel:(p+1)*pixel], row[q*pixel:])
			}
		}
	})
	return nil
}

// resizeNearestGrad adds each pixel of the gradient to the pixel that it was
// copied from.
func resizeNearestGrad(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	dy := c.In(0)
	y := dy.Shape()
	f, err := newFrame(c, y)
	if err != nil {
		return err
	}
	h, w, err := target(c, 1)
	if err != nil {
		return err
	}
	add, err := adders.Of(dy.DType())
	if err != nil {
		return err
	}
	out, err := c.AllocZero(0, dy.DType(), tensor.Shape{y[0], h, w, y[3]})
	if err != nil || out.Len() == 0 || dy.Len() == 0 {
		return err
	}
	ys, xs := f.nearest(h, y[1]), f.nearest(w, y[2])
	add(out, dy, f.c, func(p int) int { // maps pixels of the gradient to those of the output
		n, q := p/(y[1]*y[2]), p%(y[1]*y[2])
		return (n*h+ys[q/y[2]])*w + xs[q%y[2]]
	})
	return nil
}

// adder adds the vectors of c elements of src to vectors of dst: vector i to vector
// to(i).
type adder func(dst, src *tensor.Tensor, c int, to func(int) int)

func adds[T number](dst, src *tensor.Tensor, c int, to func(int) int) {
	addVectors(tensor.Values[T](dst), tensor.Values[T](src), c, to)
}

func addsHalf[H elementwise.Half](dst, src *tensor.Tensor, c int, to func(int) int) {
	a, b := make([]float32, dst.Len()), make([]float32, src.Len())
	elementwise.Widen(b, tensor.Values[H](src))
	addVectors(a, b, c, to)
	elementwise.Narrow(tensor.Values[H](dst), a)
}

func addVectors[T number](dst, src []T, c int, to func(int) int) {
	for p := range len(src) / c {
		out := dst[to(p)*c:][:c]
		for i, v := range src[p*c : (p+1)*c] {
			out[i] += v
		}
	}
}

var adders = engine.ByType[adder]{
	tensor.Float32: adds[float32], tensor.Float64: adds[float64], tensor.Float16: addsHalf[tensor.F16], tensor.BFloat16: addsHalf[tensor.BF16],
	tensor.Int8: adds[int8], tensor.Int32: adds[int32], tensor.Uint8: adds[uint8],
}
