package quant

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/gemm"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of QuantizedConv2D with a filter of qint8, QuantizedConv2DPerChannel,
// QuantizedDepthwiseConv2D and their forms with a bias, a sum, Relu and requantization.
// fusedKernels in table.go lists them. Taps outside the image are skipped: the code of zero is 0.

// fusedConv is a convolution of codes, with the steps of oneDNN after it.
type fusedConv struct {
	fusion
	windows shape.Windows
	depth   bool // each channel is convolved by itself
	out     tensor.DType
}

// prepareFusedConv prepares a convolution of images [batch, rows, columns, channels] by a filter
// [rows, columns, channels, n].
func prepareFusedConv(n *engine.Node) (func(*engine.Call) error, error) {
	f := fusedConv{fusion: fusionOf(n.Op), depth: strings.Contains(n.Op, "Depthwise"), out: n.Attrs.Type("out_type", tensor.QInt32)}
	var err error
	if f.windows, err = shape.QuantizedWindows(n.Attrs); err != nil {
		return nil, err
	}
	if f.listed = strings.HasPrefix(n.Op, "_"); f.listed {
		if err := f.read(n.Attrs); err != nil {
			return nil, err
		}
	}
	l := f.windows.Layout
	if s, d := f.windows.Strides, f.windows.Dilations; s[l.Batch] != 1 || s[l.Channels] != 1 || d[l.Batch] != 1 || d[l.Channels] != 1 {
		return nil, fmt.Errorf("strides of %v and dilations of %v: images and channels can't be stepped over", s, d)
	}
	return f.run, nil
}

// perChannel returns the ranges of a filter, one for each of n channels or one for all.
func perChannel(c *engine.Call, i, n int) ([]span, error) {
	lo, hi := c.In(i), c.In(i+1)
	if lo.DType() != tensor.Float32 || hi.DType() != tensor.Float32 || lo.Len() != hi.Len() || len(lo.Shape()) > 1 || lo.Len() != 1 && lo.Len() != n {
		return nil, fmt.Errorf("ranges of a filter of %v%v and %v%v; one float32, or one for each of %d channels, is needed", lo.DType(), lo.Shape(), hi.DType(), hi.Shape(), n)
	}
	out := make([]span, lo.Len())
	for k := range out {
		out[k] = span{tensor.Values[float32](lo)[k], tensor.Values[float32](hi)[k]}
	}
	return out, nil
}

// run convolves input 0 by input 1. A bias is input 2; ranges follow, and a summand comes last.
func (f *fusedConv) run(c *engine.Call) error {
	if err := c.Need(f.inputs()); err != nil {
		return err
	}
	x, w := c.In(0).Shape(), c.In(1).Shape()
	l := f.windows.Layout
	if len(x) != 4 || len(w) != 4 || x[l.Channels] != w[2] {
		return fmt.Errorf("a filter of shape %v for images of shape %v", w, x)
	}
	n := w[3]
	if f.depth {
		n = w[2] * w[3]
	}
	out := x.Clone()
	out[l.Channels] = n
	var axes [2]axis
	for i, d := range l.Spatial {
		places, err := f.windows.Places(d, x[d], w[i])
		if err != nil {
			return err
		}
		axes[i] = axis{x[d], w[i], f.windows.Strides[d], f.windows.Before(d, x[d], w[i], places), places}
		out[d] = places
	}
	r, finish, err := f.scaled(c, out)
	if err != nil {
		return err
	}
	if l.Channels == 1 {
		r.plane = axes[0].places * axes[1].places
	}
	within := limitsFor(f.out)
	if f.signed {
		within.highest = limitsOf[tensor.Q8]().highest // TensorFlow's results stop there, too
	}
	put, err := r.write(c, f.out, out, within)
	if err != nil {
		return err
	}
	if shapes.Count(out) > 0 {
		if f.depth {
			err = f.depthwise(c, axes, put)
		} else {
			err = f.products(c, axes, put)
		}
		if err != nil {
			return err
		}
	}
	return finish()
}

// scaled returns the conversion of sums to an output of a shape, and a function
// that sets the other outputs.
func (f *fusedConv) scaled(c *engine.Call, out tensor.Shape) (*scaled, func() error, error) {
	at, n := f.ranges(), out[f.windows.Layout.Channels]
	input, err := spanAt(c, at)
	if err != nil {
		return nil, nil, err
	}
	filter, err := perChannel(c, at+2, n)
	if err != nil {
		return nil, nil, err
	}
	steps := symmetric(c.In(0).DType())
	r := &scaled{by: make([]float32, len(filter)), relu: f.relu}
	var largest float32
	for k, s := range filter {
		r.by[k] = float32(float64(input.widest())/steps) * float32(float64(s.widest())/127)
		largest = max(largest, r.by[k])
	}
	if f.bias {
		r.bias, err = biasOf(c, n, func(k int, v float32) float32 {
			return v * (1 / (float32(steps*127) / (input.widest() * filter[min(k, len(filter)-1)].widest())))
		})
		if err != nil {
			return nil, nil, err
		}
	}
	if !f.requantize {
		r.inverse = 1 / largest
		if f.sum {
			i, _ := f.summand()
			t := c.In(i)
			if t.DType() != tensor.Float32 || !t.Shape().Equal(out) {
				return nil, nil, fmt.Errorf("a summand of %v%v for an output of float32%v", t.DType(), t.Shape(), out)
			}
			v := tensor.Values[float32](t)
			r.summand = func(i int) float32 { return v[i] }
		}
		return r, func() error { return setSpans(c, input, filter, c.In(at+2).Shape()) }, nil
	}
	to, err := spanAt(c, f.result())
	if err != nil {
		return nil, nil, err
	}
	r.inverse = 1 / float32(float64(to.widest())/symmetric(f.out))
	if f.sum {
		i, least := f.summand()
		t := c.In(i)
		if !t.Shape().Equal(out) {
			return nil, nil, fmt.Errorf("a summand of shape %v for an output of shape %v", t.Shape(), out)
		}
		codes, err := byteCodes(c, i)
		if err != nil {
			return nil, nil, err
		}
		s, err := spanAt(c, least)
		if err != nil {
			return nil, nil, err
		}
		by := float32(float64(s.widest()) / symmetric(t.DType()))
		r.summand = func(i int) float32 { return float32(codes.at(i)) * by }
	}
	return r, func() error { return setSpan(c, 1, to) }, nil
}

// setSpans sets outputs 1 and 2 to the ranges of sums, as many as the filter
// has.
func setSpans(c *engine.Call, input span, filter []span, s tensor.Shape) error {
	lo, err := c.Alloc(1, tensor.Float32, s)
	if err != nil {
		return err
	}
	hi, err := c.Alloc(2, tensor.Float32, s)
	if err != nil {
		return err
	}
	for k, b := range filter {
		p := productSpan(input, b, limitsFor(c.In(0).DType()))
		tensor.Values[float32](lo)[k], tensor.Values[float32](hi)[k] = p.least, p.most
	}
	return nil
}

// images are the images of input 0, whose channels come first or last.
type images struct {
	count   int
	size    [2]int // rows and columns
	batch   int    // the distance between images
	step    [2]int // the distances between rows and columns
	channel int    // the distance between channels
	dilate  [2]int
}

func (f *fusedConv) image(c *engine.Call) images {
	l, x := f.windows.Layout, c.In(0).Shape()
	by := shapes.Strides(x)
	m := images{count: x[l.Batch], batch: by[l.Batch], channel: by[l.Channels]}
	for i, d := range l.Spatial {
		m.size[i], m.step[i], m.dilate[i] = x[d], by[d], f.windows.Dilations[d]
	}
	return m
}

// at returns the index of channel 0 of the element at place (i, j) of the
// window at place (y, q) of image b. It reports whether it is inside of the image.
func (m *images) at(a [2]axis, b, y, q, i, j int) (int, bool) {
	row := y*a[0].stride - a[0].before + i*m.dilate[0]
	col := q*a[1].stride - a[1].before + j*m.dilate[1]
	return b*m.batch + row*m.step[0] + col*m.step[1], row >= 0 && row < m.size[0] && col >= 0 && col < m.size[1]
}

// rowsAtOnce is the number of windows that are copied side by side for one
// product.
const rowsAtOnce = 64

// products convolves by products of matrices: windows, one a row, times the
// filter.
func (f *fusedConv) products(c *engine.Call, a [2]axis, put put) error {
	codes, err := byteCodes(c, 0)
	if err != nil {
		return err
	}
	filter, free, err := floatsOf(c, 1)
	if err != nil {
		return err
	}
	defer free()
	img, w := f.image(c), c.In(1).Shape()
	k, n, rows := w[0]*w[1]*w[2], w[3], img.count*a[0].places*a[1].places
	c.Parallel((rows+rowsAtOnce-1)/rowsAtOnce, float64(k)*float64(n)*rowsAtOnce/10, func(lo, hi int) {
		m, free := gemm.Borrow[float32](rowsAtOnce * k)
		defer free()
		sums, row := make([]int32, rowsAtOnce*n), make([]float32, n)
		for block := lo; block < hi; block++ {
			from, to := block*rowsAtOnce, min(rows, (block+1)*rowsAtOnce)
			clear(m)
			for r := from; r < to; r++ {
				q, y, b := r%a[1].places, r/a[1].places%a[0].places, r/a[1].places/a[0].places
				for i := range w[0] {
					for j := range w[1] {
						src, inside := img.at(a, b, y, q, i, j)
						if !inside {
							continue
						}
						dst := (r-from)*k + (i*w[1]+j)*w[2]
						for ch := range w[2] {
							m[dst+ch] = float32(codes.at(src + ch*img.channel))
						}
					}
				}
			}
			multiply(sums, m, filter, to-from, k, n, nil)
			for r := from; r < to; r++ {
				put(r*n, sums[(r-from)*n:][:n], row)
			}
		}
	})
	return nil
}

// depthwise convolves each channel by itself.
func (f *fusedConv) depthwise(c *engine.Call, a [2]axis, put put) error {
	codes, err := byteCodes(c, 0)
	if err != nil {
		return err
	}
	filter, err := signedCodes(c, 1)
	if err != nil {
		return err
	}
	img, w := f.image(c), c.In(1).Shape()
	n := w[2] * w[3]
	c.Parallel(img.count*a[0].places*a[1].places, float64(w[0]*w[1]*n)*2, func(lo, hi int) {
		sums, row := make([]int32, n), make([]float32, n)
		for r := lo; r < hi; r++ {
			clear(sums)
			q, y, b := r%a[1].places, r/a[1].places%a[0].places, r/a[1].places/a[0].places
			for i := range w[0] {
				for j := range w[1] {
					src, inside := img.at(a, b, y, q, i, j)
					if !inside {
						continue
					}
					tap := (i*w[1] + j) * n
					for k := range sums {
						sums[k] += codes.at(src+k/w[3]*img.channel) * int32(filter[tap+k])
					}
				}
			}
			put(r*n, sums, row)
		}
	})
	return nil
}
