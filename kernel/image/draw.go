package image

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// palette has the default colours of boxes, with opacity: yellow, blue, red,
// lime, purple, olive, maroon, navy, aqua and fuchsia. TensorFlow's
// default_color_table has the same order. Boxes in gray images are white.
var palette = [][4]float32{
	{1, 1, 0, 1}, {0, 0, 1, 1}, {1, 0, 0, 1}, {0, 1, 0, 1}, {0.5, 0, 0.5, 1},
	{0.5, 0.5, 0, 1}, {0.5, 0, 0, 1}, {0, 0, 0.5, 1}, {0, 1, 1, 1}, {1, 0, 1, 1},
}

// drawBoxes draws the borders of boxes, a pixel wide, into copies of images. It
// is the kernel of DrawBoundingBoxes and DrawBoundingBoxesV2. Corners are
// fractions of the image, rounded towards zero.
func drawBoxes(c *engine.Call) error {
	want := 2
	if c.Op() == "DrawBoundingBoxesV2" {
		want = 3
	}
	if err := c.Need(want); err != nil {
		return err
	}
	in, boxes := c.In(0), c.In(1)
	s, b := in.Shape(), boxes.Shape()
	if len(s) != 4 || s[3] != 1 && s[3] != 3 && s[3] != 4 || in.DType() != tensor.Float32 && in.DType() != tensor.Float16 {
		return fmt.Errorf("images of %v%v, where 4 dimensions of float32 or float16 with 1, 3 or 4 channels are needed", in.DType(), s)
	}
	if boxes.DType() != tensor.Float32 || len(b) != 3 || b[0] != s[0] || b[2] != 4 {
		return fmt.Errorf("boxes of %v%v for images of shape %v", boxes.DType(), b, s)
	}
	colours := palette
	if want == 3 {
		t := c.In(2)
		k := t.Shape()
		if t.DType() != tensor.Float32 || len(k) != 2 || k[1] < s[3] {
			return fmt.Errorf("colours of %v%v for images of %d channels", t.DType(), k, s[3])
		}
		if k[0] > 0 {
			colours = make([][4]float32, k[0])
			for i := range colours {
				copy(colours[i][:], tensor.Values[float32](t)[i*k[1]:(i+1)*k[1]])
			}
		}
	}
	if s[3] == 1 {
		for i := range colours {
			if want == 2 || c.In(2).Len() == 0 {
				colours = append([][4]float32(nil), colours...)
				colours[i] = [4]float32{1, 1, 1, 1}
			}
		}
	}
	out, err := c.Alloc(0, in.DType(), s)
	if err != nil || out.Len() == 0 {
		return err
	}
	x, free, err := floats(c, in)
	if err != nil {
		return err
	}
	defer free()
	y, freeY := scratch(c, len(x))
	defer freeY()
	copy(y, x)
	h, w, ch := s[1], s[2], s[3]
	corners := tensor.Values[float32](boxes)
	pace := engine.NewPace(c)
	for i := range s[0] {
		img := y[i*h*w*ch:][:h*w*ch]
		for k := range b[1] {
			pace.Work(8*(h+w) + 64)
			drawBox(img, h, w, ch, corners[(i*b[1]+k)*4:], colours[k%len(colours)][:ch])
		}
	}
	store(out, y)
	return nil
}

// drawBox draws the part of one box that is inside of the image. It draws no
// box whose corners are in the wrong order, or that is outside of the image.
func drawBox(img []float32, h, w, ch int, box, colour []float32) {
	at := func(v float32, n int) int {
		p := v * float32(n-1)
		if !(p > -1<<30) {
			return -1 << 30
		}
		return int(min(p, 1<<30))
	}
	top, bottom, left, right := at(box[0], h), at(box[2], h), at(box[1], w), at(box[3], w)
	if top > bottom || left > right || top >= h || bottom < 0 || left >= w || right < 0 {
		return
	}
	paint := func(r, p int) { copy(img[(r*w+p)*ch:], colour) }
	for p := max(left, 0); p <= min(right, w-1); p++ {
		if top >= 0 {
			paint(top, p)
		}
		if bottom < h {
			paint(bottom, p)
		}
	}
	for r := max(top, 0); r <= min(bottom, h-1); r++ {
		if left >= 0 {
			paint(r, left)
		}
		if right < w {
			paint(r, right)
		}
	}
}
