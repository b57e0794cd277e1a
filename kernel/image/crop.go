package image

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// cropAndResize cuts boxes out of images and resizes each to one size. It is
// the kernel of CropAndResize. A box is the fractions top, left, bottom and
// right of the image, and may reach beyond it or be mirrored. Pixels outside
// have the attribute extrapolation_value.
func cropAndResize(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	in, boxes := c.In(0), c.In(1)
	s, b := in.Shape(), boxes.Shape()
	if len(s) != 4 || boxes.DType() != tensor.Float32 || len(b) != 2 || b[1] != 4 {
		return fmt.Errorf("images of shape %v and boxes of %v%v", s, boxes.DType(), b)
	}
	of, err := shapes.Ints(c.In(2), "the images' numbers")
	if err != nil {
		return err
	}
	if len(of) != b[0] {
		return fmt.Errorf("%d boxes and %d numbers of images", b[0], len(of))
	}
	for _, n := range of {
		if n < 0 || n >= int64(s[0]) {
			return fmt.Errorf("a box of image %d, there are %d", n, s[0])
		}
	}
	for _, x := range tensor.Values[float32](boxes) {
		if x-x != 0 {
			return fmt.Errorf("a box reaches to %v", x)
		}
	}
	h, w, err := target(c, 3)
	if err != nil {
		return err
	}
	method := c.Attrs().String("method", "bilinear")
	if method != "bilinear" && method != "nearest" {
		return fmt.Errorf("method %q is neither bilinear nor nearest", method)
	}
	fill := float32(c.Attrs().Float("extrapolation_value", 0))
	out, err := c.Alloc(0, tensor.Float32, tensor.Shape{b[0], h, w, s[3]})
	if err != nil || out.Len() == 0 {
		return err
	}
	if in.Len() == 0 {
		return fmt.Errorf("images of shape %v can't be cropped", s)
	}
	x, free, err := floats(c, in)
	if err != nil {
		return err
	}
	defer free()
	dst, corners := tensor.Values[float32](out), tensor.Values[float32](boxes)
	row, ch := s[2]*s[3], s[3]
	c.Parallel(b[0]*h, float64(w*ch)*3, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			box := corners[r/h*4:][:4]
			src := x[int(of[r/h])*s[1]*row:]
			y, inside := along(box[0], box[2], s[1], h, r%h)
			for p := range w {
				to := dst[(r*w+p)*ch:][:ch]
				q, within := along(box[1], box[3], s[2], w, p)
				if !inside || !within {
					for i := range to {
						to[i] = fill
					}
					continue
				}
				if method == "nearest" {
					copy(to, src[int(math.Round(float64(y)))*row+int(math.Round(float64(q)))*ch:])
					continue
				}
				top, left := int(math.Floor(float64(y))), int(math.Floor(float64(q)))
				bottom, right := int(math.Ceil(float64(y))), int(math.Ceil(float64(q)))
				dy, dx := y-float32(top), q-float32(left)
				for i := range to {
					a, b := src[top*row+left*ch+i], src[top*row+right*ch+i]
					c, d := src[bottom*row+left*ch+i], src[bottom*row+right*ch+i]
					upper, lower := a+(b-a)*dx, c+(d-c)*dx
					to[i] = upper + (lower-upper)*dy
				}
			}
		}
	})
	return nil
}

// along returns the position of pixel i of n on a line of size pixels, and
// whether it is within the line. The pixels are between two corners, which are
// fractions of the line.
func along(from, to float32, size, n, i int) (float32, bool) {
	last := float32(size - 1)
	x := 0.5 * (from + to) * last
	if n > 1 {
		// Each product is rounded before the sum, even if the processor could
		// fuse them, because the nearest pixel depends on it.
		x = float32(from*last) + float32(float32(i)*((to-from)*last/float32(n-1)))
	}
	return x, x >= 0 && x <= last
}
