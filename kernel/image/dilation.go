package image

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of Dilation2D, Dilation2DBackpropInput and
// Dilation2DBackpropFilter. Images are [batch, rows, cols, channels], filters
// [rows, cols, channels].

// dilation is the geometry of a filter that moves over images: an output is the
// largest sum of an element of the image and one of the filter.
type dilation struct {
	shape.Moves
	n, h, w, c, fh, fw int
	call               *engine.Call
}

// dilated returns the geometry of the images in input 0 and the filter in input 1.
func dilated(c *engine.Call) (*dilation, error) {
	x, f := c.In(0), c.In(1)
	s, k := x.Shape(), f.Shape()
	if len(s) != 4 || len(k) != 3 || x.DType() != f.DType() || s[3] != k[2] {
		return nil, fmt.Errorf("images of %v%v and a filter of %v%v", x.DType(), s, f.DType(), k)
	}
	m, err := shape.MovesOf(c.Attrs(), s, []int{k[0], k[1]})
	if err != nil {
		return nil, err
	}
	return &dilation{m, s[0], s[1], s[2], s[3], k[0], k[1], c}, nil
}

func (d *dilation) output() tensor.Shape { return tensor.Shape{d.n, d.Out[0], d.Out[1], d.c} }

// largest returns the largest sum at an output, and the indices of its elements
// in the image and in the filter. Of equal sums the first counts. If all taps
// are outside, the sum is lowest, and the indices are those of the first tap:
// TensorFlow's initial values.
func largest[T number](d *dilation, x, f []T, round func(T) T, lowest T, b, y, p, ch int) (sum T, in, tap int) {
	top, left := y*d.Strides[0]-d.Before[0], p*d.Strides[1]-d.Before[1]
	sum, in, tap = lowest, ((b*d.h+max(top, 0))*d.w+max(left, 0))*d.c+ch, ch
	for i := range d.fh {
		r := top + i*d.Rates[0]
		if r < 0 || r >= d.h {
			continue
		}
		for j := range d.fw {
			q := left + j*d.Rates[1]
			if q < 0 || q >= d.w {
				continue
			}
			at, k := ((b*d.h+r)*d.w+q)*d.c+ch, (i*d.fw+j)*d.c+ch
			if v := round(x[at] + f[k]); v > sum {
				sum, in, tap = v, at, k
			}
		}
	}
	return sum, in, tap
}

// each calls visit with the number of every output.
func (d *dilation) each(visit func(i, b, y, p, ch int)) {
	i := 0
	for b := range d.n {
		for y := range d.Out[0] {
			for p := range d.Out[1] {
				d.call.Check()
				for ch := range d.c {
					visit(i, b, y, p, ch)
					i++
				}
			}
		}
	}
}

// dilationPart is the result of one of the three ops: the outputs, or the
// gradient by the images or the filter.
type dilationPart uint8

const (
	dilationForward dilationPart = iota
	dilationToInput
	dilationToFilter
)

type dilationFunc func(d *dilation, part dilationPart, out, x, f, dy *tensor.Tensor)

var dilations = engine.ByType[dilationFunc]{
	tensor.Float32: dilate(float32(-math.MaxFloat32)), tensor.Float64: dilate(-math.MaxFloat64),
	tensor.Float16: dilateHalf[tensor.F16](-65504), tensor.BFloat16: dilateHalf[tensor.BF16](-0x1.fep127),
	tensor.Int8: dilate[int8](math.MinInt8), tensor.Int16: dilate[int16](math.MinInt16), tensor.Int32: dilate[int32](math.MinInt32), tensor.Int64: dilate[int64](math.MinInt64),
	tensor.Uint8: dilate[uint8](0), tensor.Uint16: dilate[uint16](0), tensor.Uint32: dilate[uint32](0), tensor.Uint64: dilate[uint64](0),
}

// dilateOver computes part; round rounds each sum.
func dilateOver[T number](d *dilation, part dilationPart, round func(T) T, lowest T, out, x, f, dy []T) {
	d.each(func(i, b, y, p, ch int) {
		v, in, tap := largest(d, x, f, round, lowest, b, y, p, ch)
		switch part {
		case dilationForward:
			out[i] = v
		case dilationToInput:
			out[in] = round(out[in] + dy[i])
		case dilationToFilter:
			out[tap] = round(out[tap] + dy[i])
		}
	})
}

func dilate[T number](lowest T) dilationFunc {
	return func(d *dilation, part dilationPart, out, x, f, dy *tensor.Tensor) {
		var g []T
		if dy != nil {
			g = tensor.Values[T](dy)
		}
		dilateOver(d, part, func(v T) T { return v }, lowest, tensor.Values[T](out), tensor.Values[T](x), tensor.Values[T](f), g)
	}
}

func dilateHalf[H elementwise.Half](lowest float32) dilationFunc {
	return func(d *dilation, part dilationPart, out, x, f, dy *tensor.Tensor) {
		wide := func(t *tensor.Tensor) []float32 {
			if t == nil {
				return nil
			}
			v := make([]float32, t.Len())
			elementwise.Widen(v, tensor.Values[H](t))
			return v
		}
		y := wide(out)
		dilateOver(d, part, rounded[H], lowest, y, wide(x), wide(f), wide(dy))
		elementwise.Narrow(tensor.Values[H](out), y)
	}
}

// rounded returns a number rounded to half precision.
func rounded[H elementwise.Half](v float32) float32 {
	h, w := [1]H{}, [1]float32{v}
	elementwise.Narrow(h[:], w[:])
	elementwise.Widen(w[:], h[:])
	return w[0]
}

// dilation2D returns the kernel of one of the ops.
func dilation2D(part dilationPart) func(*engine.Call) error {
	return func(c *engine.Call) error {
		inputs := 3
		if part == dilationForward {
			inputs = 2
		}
		if err := c.Need(inputs); err != nil {
			return err
		}
		d, err := dilated(c)
		if err != nil {
			return err
		}
		var dy *tensor.Tensor
		dims := d.output()
		if inputs == 3 {
			if dy = c.In(2); dy.DType() != c.In(0).DType() || !dy.Shape().Equal(dims) {
				return fmt.Errorf("a gradient of %v%v for outputs of %v%v", dy.DType(), dy.Shape(), c.In(0).DType(), dims)
			}
			dims = c.In(int(part) - 1).Shape()
		}
		f, err := dilations.Of(c.In(0).DType())
		if err != nil {
			return err
		}
		out, err := c.AllocZero(0, c.In(0).DType(), dims)
		if err != nil || out.Len() == 0 || c.In(0).Len() == 0 {
			return err
		}
		if part == dilationToInput && c.In(1).Len() == 0 {
			return fmt.Errorf("no element of the image was the largest: the filter has shape %v", c.In(1).Shape())
		}
		f(d, part, out, c.In(0), c.In(1), dy)
		return nil
	}
}
