package image

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of CropAndResizeGradImage and CropAndResizeGradBoxes. Pixels of a
// crop outside of the image have no gradient.

// crops are boxes that were cut out of images: the gradient of the crops, the
// corners, and the images' numbers. The corners are four numbers for each box.
// of is the image of each box. h, w and c are the height, width and channels of
// a crop.
type crops struct {
	dy, corners []float32
	of          []int64
	h, w, c     int
}

// newCrops reads the gradient in input 0, and the boxes and the images' numbers
// from two inputs, the given one and the next.
func newCrops(c *engine.Call, from int) (*crops, error) {
	dy, boxes := c.In(0), c.In(from)
	y, b := dy.Shape(), boxes.Shape()
	if dy.DType() != tensor.Float32 || len(y) != 4 || boxes.DType() != tensor.Float32 || len(b) != 2 || b[1] != 4 || y[0] != b[0] {
		return nil, fmt.Errorf("a gradient of %v%v for boxes of %v%v", dy.DType(), y, boxes.DType(), b)
	}
	of, err := shapes.Ints(c.In(from+1), "the images' numbers")
	if err != nil {
		return nil, err
	}
	if len(of) != b[0] {
		return nil, fmt.Errorf("%d boxes and %d numbers of images", b[0], len(of))
	}
	return &crops{tensor.Values[float32](dy), tensor.Values[float32](boxes), of, y[1], y[2], y[3]}, nil
}

// numbers checks that each box is of one of n images.
func (k *crops) numbers(n int) error {
	for _, b := range k.of {
		if b < 0 || b >= int64(n) {
			return fmt.Errorf("a box of image %d, there are %d", b, n)
		}
	}
	return nil
}

// each calls visit for every pixel of the crops that is inside of its image.
// height and width are the size of the images. at is the offset of the pixel's
// channels in dy, box the number of the box, row and col the pixel in the crop,
// y and x the position in the image.
func (k *crops) each(height, width int, visit func(at, box, row, col int, y, x float32)) {
	for i := range k.of {
		b := k.corners[4*i:][:4]
		for r := range k.h {
			y, inside := along(b[0], b[2], height, k.h, r)
			if !inside {
				continue
			}
			for p := range k.w {
				if x, within := along(b[1], b[3], width, k.w, p); within {
					visit(((i*k.h+r)*k.w+p)*k.c, i, r, p, y, x)
				}
			}
		}
	}
}

// corner4 are the four pixels around a position, and its distance from the
// first.
type corner4 struct {
	top, bottom, left, right int
	dy, dx                   float32
}

// around returns the pixels around a position.
func around(y, x float32) corner4 {
	top, left := int(math.Floor(float64(y))), int(math.Floor(float64(x)))
	return corner4{top, int(math.Ceil(float64(y))), left, int(math.Ceil(float64(x))), y - float32(top), x - float32(left)}
}

// cropGradImage adds the gradient to the pixels from which the crops were
// computed.
func cropGradImage(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	k, err := newCrops(c, 1)
	if err != nil {
		return err
	}
	size, err := shapes.Dims(c.In(3), "the images' size", 0)
	if err != nil {
		return err
	}
	if len(size) != 4 || size[3] != k.c {
		return fmt.Errorf("images of shape %v for a gradient of %d channels", size, k.c)
	}
	if err := k.numbers(size[0]); err != nil {
		return err
	}
	if len(k.dy) > 0 && (size[1] == 0 || size[2] == 0) {
		return fmt.Errorf("images of shape %v have no crops", size)
	}
	method := c.Attrs().String("method", "bilinear")
	if method != "bilinear" && method != "nearest" {
		return fmt.Errorf("method %q is neither bilinear nor nearest", method)
	}
	d := c.Attrs().Type("T", tensor.Float32)
	if !isCropType(d) {
		return &engine.UnsupportedTypeError{Attr: "T", Type: d, Known: cropTypes}
	}
	out, err := c.Alloc(0, d, size)
	if err != nil {
		return err
	}
	sums := make([]float64, out.Len())
	k.each(size[1], size[2], func(at, box, _, _ int, y, x float32) {
		image := int(k.of[box]) * size[1] * size[2]
		dy := k.dy[at:][:k.c]
		add := func(row, col int, byRow, byCol float32) {
			to := sums[(image+row*size[2]+col)*k.c:]
			for i, v := range dy {
				to[i] += float64(byCol * float32(byRow*v))
			}
		}
		if method == "nearest" {
			add(int(math.Round(float64(y))), int(math.Round(float64(x))), 1, 1)
			return
		}
		p := around(y, x)
		add(p.top, p.left, 1-p.dy, 1-p.dx)
		add(p.top, p.right, 1-p.dy, p.dx)
		add(p.bottom, p.left, p.dy, 1-p.dx)
		add(p.bottom, p.right, p.dy, p.dx)
	})
	if d == tensor.Float64 {
		copy(tensor.Values[float64](out), sums)
		return nil
	}
	single, _ := scratch(c, len(sums))
	for i, v := range sums {
		single[i] = float32(v)
	}
	store(out, single)
	return nil
}

var cropTypes = []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16}

func isCropType(d tensor.DType) bool {
	return d == tensor.Float32 || d == tensor.Float64 || d == tensor.Float16
}

// cropGradBoxes computes the gradient by the boxes' corners.
func cropGradBoxes(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	k, err := newCrops(c, 2)
	if err != nil {
		return err
	}
	in := c.In(1)
	s := in.Shape()
	if len(s) != 4 || s[3] != k.c {
		return fmt.Errorf("images of shape %v for a gradient of %d channels", s, k.c)
	}
	if m := c.Attrs().String("method", "bilinear"); m != "bilinear" {
		return fmt.Errorf("method %q isn't bilinear", m)
	}
	if err := k.numbers(s[0]); err != nil {
		return err
	}
	out, err := c.Alloc(0, tensor.Float32, c.In(2).Shape())
	if err != nil {
		return err
	}
	if in.Len() == 0 {
		clear(out.Bytes())
		return nil
	}
	img, free, err := floats(c, in)
	if err != nil {
		return err
	}
	defer free()
	sums := make([]float64, out.Len())
	part := func(n, i int) float32 { // distance of pixel i of n from the first corner, 0 to 1
		if n > 1 {
			return float32(i) / float32(n-1)
		}
		return 0.5
	}
	k.each(s[1], s[2], func(at, box, row, col int, y, x float32) {
		image := int(k.of[box]) * s[1] * s[2]
		p := around(y, x)
		pixel := func(row, col int) []float32 { return img[(image+row*s[2]+col)*k.c:] }
		tl, tr, bl, br := pixel(p.top, p.left), pixel(p.top, p.right), pixel(p.bottom, p.left), pixel(p.bottom, p.right)
		var byY, byX float64
		for i, v := range k.dy[at:][:k.c] {
			byY += float64(v * ((1-p.dx)*(bl[i]-tl[i]) + p.dx*(br[i]-tr[i])))
			byX += float64(v * ((1-p.dy)*(tr[i]-tl[i]) + p.dy*(br[i]-bl[i])))
		}
		byY, byX = byY*float64(s[1]-1), byX*float64(s[2]-1)
		dst, ry, rx := sums[4*box:], float64(part(k.h, row)), float64(part(k.w, col))
		dst[0] += byY * (1 - ry)
		dst[2] += byY * ry
		dst[1] += byX * (1 - rx)
		dst[3] += byX * rx
	})
	for i, v := range sums {
		tensor.Values[float32](out)[i] = float32(v)
	}
	return nil
}
