package quant

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of QuantizedConv2D with a filter of its input's type,
// QuantizedMaxPool and QuantizedAvgPool.

// windowing is a node that moves a window over images of codes, channels last.
type windowing struct {
	windows shape.Windows
	size    []int
}

// prepareWindows checks the attributes and prepares run with them.
func prepareWindows(run func(*engine.Call, *windowing) error) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		w := &windowing{}
		var err error
		if w.windows, err = shape.WindowsOf(n.Attrs, 4); err != nil {
			return nil, err
		}
		s := w.windows.Strides
		if s[0] != 1 || s[3] != 1 || s[1] != s[2] && n.Op == "QuantizedConv2D" {
			return nil, fmt.Errorf("strides of %v: images and channels can't be stepped over, and a convolution has one stride for both directions", s)
		}
		for _, d := range w.windows.Dilations {
			if d != 1 {
				return nil, fmt.Errorf("dilations of %v; only 1 is possible", w.windows.Dilations)
			}
		}
		if n.Attrs.Has("ksize") {
			if w.size, err = shape.Sizes(n.Attrs, 4); err != nil {
				return nil, err
			}
			if w.size[0] != 1 || w.size[3] != 1 {
				return nil, fmt.Errorf("windows of %v; they can't reach over images or channels", w.size)
			}
		}
		return func(c *engine.Call) error { return run(c, w) }, nil
	}
}

// axis is a window along a dimension of n elements. size is the window's, before the padding
// before the first element, places the number of positions.
type axis struct{ n, size, stride, before, places int }

// axes returns rows and columns of images of shape x, for windows of h rows and
// wd columns.
func (w *windowing) axes(x tensor.Shape, h, wd int) (a [2]axis, err error) {
	if len(x) != 4 {
		return a, fmt.Errorf("images of shape %v, where 4 dimensions are needed", x)
	}
	for i, size := range []int{h, wd} {
		places, err := w.windows.Places(1+i, x[1+i], size)
		if err != nil {
			return a, err
		}
		a[i] = axis{x[1+i], size, w.windows.Strides[1+i], w.windows.Before(1+i, x[1+i], size, places), places}
	}
	return a, nil
}

// span returns the taps of position i that are inside of the image, and the
// index of its first tap.
func (a axis) span(i int) (from, to, at int) {
	at = i*a.stride - a.before
	return max(0, -at), max(0, min(a.size, a.n-at)), at
}

// quantizedConv convolves codes, from which it subtracts the codes of zero.
func quantizedConv(c *engine.Call, w *windowing) error {
	o, err := operandsOf(c)
	if err != nil {
		return err
	}
	x, f := c.In(0).Shape(), c.In(1).Shape()
	if len(f) != 4 || len(x) != 4 || x[3] != f[2] {
		return fmt.Errorf("a filter of shape %v for images of shape %v", f, x)
	}
	a, err := w.axes(x, f[0], f[1])
	if err != nil {
		return err
	}
	var out []tensor.Q32
	if err := wideOut(c, &out)(tensor.Shape{x[0], a[0].places, a[1].places, f[3]}); err != nil {
		return err
	}
	c.Parallel(x[0]*a[0].places, float64(a[1].places*f[3])*float64(f[0]*f[1]*f[2])*3, func(lo, hi int) {
		sums, pace := make([]int32, f[3]), engine.NewPace(c)
		for r := lo; r < hi; r++ {
			b, y := r/a[0].places, r%a[0].places
			y0, y1, top := a[0].span(y)
			for q := range a[1].places {
				x0, x1, left := a[1].span(q)
				clear(sums)
				for i := y0; i < y1; i++ {
					pace.Work(max(0, x1-x0) * x[3] * f[3])
					for j := x0; j < x1; j++ {
						from, tap := ((b*x[1]+top+i)*x[2]+left+j)*x[3], (i*f[1]+j)*f[2]
						for ch := range x[3] {
							v := o.a.at(from+ch) - o.za
							for k := range sums {
								sums[k] += v * (o.b.at((tap+ch)*f[3]+k) - o.zb)
							}
						}
					}
				}
				for k, v := range sums {
					out[(r*a[1].places+q)*f[3]+k] = tensor.Q32(v)
				}
			}
		}
	})
	return setSpan(c, 1, product(o.sa, o.sb, o.a.limits, o.b.limits))
}

// quantizedPool returns the largest code of a window, or the mean rounded
// towards zero; the range doesn't change.
func quantizedPool(mean bool) func(*engine.Call, *windowing) error {
	return func(c *engine.Call, w *windowing) error {
		if err := c.Need(3); err != nil {
			return err
		}
		in, err := byteCodes(c, 0)
		if err != nil {
			return err
		}
		s, err := spanAt(c, 1)
		if err != nil {
			return err
		}
		if w.size == nil {
			return fmt.Errorf("the attribute ksize is missing")
		}
		x := c.In(0).Shape()
		a, err := w.axes(x, w.size[1], w.size[2])
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, c.In(0).DType(), tensor.Shape{x[0], a[0].places, a[1].places, x[3]})
		if err != nil {
			return err
		}
		dst := out.Bytes() // codes of 8 bits
		c.Parallel(len(dst), float64(min(a[0].size, a[0].n))*float64(min(a[1].size, a[1].n)), func(lo, hi int) {
			pace := engine.NewPace(c)
			for i := lo; i < hi; i++ {
				ch, q, y, b := i%x[3], i/x[3]%a[1].places, i/x[3]/a[1].places%a[0].places, i/x[3]/a[1].places/a[0].places
				y0, y1, top := a[0].span(y)
				x0, x1, left := a[1].span(q)
				best, sum, n := int32(in.lowest), int32(0), int32(0)
				for i := y0; i < y1; i++ {
					pace.Work(max(0, x1-x0))
					for j := x0; j < x1; j++ {
						v := in.at(((b*x[1]+top+i)*x[2]+left+j)*x[3] + ch)
						best, sum, n = max(best, v), sum+v, n+1
					}
				}
				if mean && n > 0 {
					best = sum / n
				}
				dst[i] = byte(best)
			}
		})
		return setSpan(c, 1, s)
	}
}
