package quant

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/image"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of QuantizedResizeBilinear, for images [batch, rows, columns,
// channels]. The numbers of fraction bits, 7 and 30, are those of TensorFlow's
// quantized_resize_bilinear_op.cc.

// resizeBilinear resizes images of codes or of floats, and doesn't change their
// range. It passes images of the right size on.
func resizeBilinear(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	in := c.In(0)
	s := in.Shape()
	if len(s) != 4 {
		return fmt.Errorf("images of shape %v, where 4 dimensions are needed", s)
	}
	size, err := shapes.Dims(c.In(1), "the size", 1)
	if err != nil {
		return err
	}
	if len(size) != 2 {
		return fmt.Errorf("the size has %d elements, not height and width", len(size))
	}
	if s[1] == 0 || s[2] == 0 {
		return fmt.Errorf("images of shape %v can't be resized", s)
	}
	span, err := spanAt(c, 2)
	if err != nil {
		return err
	}
	corners, centers := c.Attrs().Bool("align_corners"), c.Attrs().Bool("half_pixel_centers")
	if corners && centers {
		return fmt.Errorf("align_corners and half_pixel_centers exclude each other")
	}
	if d := in.DType(); d != tensor.QUint8 && d != tensor.QInt32 && d != tensor.Float32 {
		return fmt.Errorf("images of %v, where quint8, qint32 or float32 is needed", d)
	}
	out, err := c.Alloc(0, in.DType(), tensor.Shape{s[0], size[0], size[1], s[3]})
	if err != nil {
		return err
	}
	if s[1] == size[0] && s[2] == size[1] {
		copy(out.Bytes(), in.Bytes())
	} else if out.Len() > 0 {
		r := resized{s, out.Shape(), image.Bilinear(s[1], size[0], corners, centers), image.Bilinear(s[2], size[1], corners, centers)}
		switch in.DType() {
		case tensor.QUint8:
			resizeOver(c, &r, tensor.Values[tensor.QU8](out), tensor.Values[tensor.QU8](in), mixBytes)
		case tensor.QInt32:
			resizeOver(c, &r, tensor.Values[tensor.Q32](out), tensor.Values[tensor.Q32](in), mixWide)
		case tensor.Float32:
			resizeOver(c, &r, tensor.Values[float32](out), tensor.Values[float32](in), mixFloats)
		}
	}
	return setSpan(c, 1, span)
}

// resized is the geometry of images that are resized.
type resized struct {
	in, out tensor.Shape
	ys, xs  []image.Between
}

// resizeOver calls mix for each element with the four pixels around it: upper
// left, upper right, lower left and lower right, and the fractions to the right
// and down.
func resizeOver[T any](c *engine.Call, r *resized, dst, src []T, mix func(v [4]T, x, y float32) T) {
	w, ch := r.in[2], r.in[3]
	row := r.out[2] * ch
	c.Parallel(r.out[0]*r.out[1], float64(row)*6, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			y := r.ys[p%r.out[1]]
			img := src[p/r.out[1]*r.in[1]*w*ch:]
			upper, lower := img[y.Low*w*ch:], img[y.High*w*ch:]
			for i, x := range r.xs {
				for k := range ch {
					left, right := x.Low*ch+k, x.High*ch+k
					dst[p*row+i*ch+k] = mix([4]T{upper[left], upper[right], lower[left], lower[right]}, x.Part, y.Part)
				}
			}
		}
	})
}

// mixFloats mixes float32, with each product rounded.
func mixFloats(v [4]float32, x, y float32) float32 {
	top := v[0] + float32((v[1]-v[0])*x)
	bottom := v[2] + float32((v[3]-v[2])*x)
	return top + float32((bottom-top)*y)
}

// mixBytes mixes 8-bit codes.
func mixBytes(v [4]tensor.QU8, x, y float32) tensor.QU8 {
	return tensor.QU8(mixCodes([4]int64{int64(v[0]), int64(v[1]), int64(v[2]), int64(v[3])}, x, y, 7))
}

// mixWide mixes 32-bit codes after rounding them to float32.
func mixWide(v [4]tensor.Q32, x, y float32) tensor.Q32 {
	var single [4]int64
	for i, code := range v {
		single[i] = int64(float32(code))
	}
	return tensor.Q32(mixCodes(single, x, y, 30))
}

// mixCodes mixes in fixed-point numbers; places is the number of fraction bits.
// It truncates the vertical difference to an integer.
func mixCodes(v [4]int64, x, y float32, places int) int64 {
	one := int64(1) << places
	right, down := int64(x*float32(one)), int64(y*float32(one))
	top := v[0]*one + (v[1]-v[0])*right
	bottom := v[2]*one + (v[3]-v[2])*right
	return (top + (bottom-top)/one*down + one/2) / one
}
