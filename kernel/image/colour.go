package image

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of RGBToHSV, HSVToRGB, AdjustHue, AdjustSaturation and
// AdjustContrastv2. Images are [..., channels]; the three numbers of a pixel
// are its channels.

// colours runs a function on the pixels of images of three channels. It
// computes doubles in double precision.
func colours(c *engine.Call, f func(p *[3]float64)) error {
	in := c.In(0)
	s := in.Shape()
	if len(s) < 1 || s[len(s)-1] != 3 {
		return fmt.Errorf("images of shape %v, where the last dimension has to be red, green and blue", s)
	}
	if !in.DType().IsFloating() {
		return fmt.Errorf("isn't defined for %v, only for floats", in.DType())
	}
	out, err := c.Alloc(0, in.DType(), s)
	if err != nil || out.Len() == 0 {
		return err
	}
	if in.DType() == tensor.Float64 {
		eachPixel(c, tensor.Values[float64](out), tensor.Values[float64](in), f)
		return nil
	}
	x, free, err := floats(c, in)
	if err != nil {
		return err
	}
	defer free()
	if out.DType() == tensor.Float32 {
		eachPixel(c, tensor.Values[float32](out), x, f)
		return nil
	}
	y, freeY := scratch(c, len(x))
	defer freeY()
	eachPixel(c, y, x, f)
	store(out, y)
	return nil
}

// eachPixel sets each pixel of dst to the result of f for that of src.
func eachPixel[T float32 | float64](c *engine.Call, dst, src []T, f func(p *[3]float64)) {
	c.Parallel(len(src)/3, 15, func(lo, hi int) {
		for i := 3 * lo; i < 3*hi; i += 3 {
			p := [3]float64{float64(src[i]), float64(src[i+1]), float64(src[i+2])}
			f(&p)
			dst[i], dst[i+1], dst[i+2] = T(p[0]), T(p[1]), T(p[2])
		}
	})
}

func pixels(f func(p *[3]float64)) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		return colours(c, f)
	}
}

// factor returns input i, which must be a scalar of float32.
func factor(c *engine.Call, i int) (float32, error) {
	t := c.In(i)
	if t.DType() != tensor.Float32 || t.Rank() != 0 {
		return 0, fmt.Errorf("input %d is %v%v (want a float32 scalar)", i, t.DType(), t.Shape())
	}
	return tensor.Values[float32](t)[0], nil
}

// adjust returns an op that changes the pixels by a number, input 1.
func adjust(f func(p *[3]float64, by float64)) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := c.Need(2); err != nil {
			return err
		}
		by, err := factor(c, 1)
		if err != nil {
			return err
		}
		if len(c.In(0).Shape()) < 3 {
			return fmt.Errorf("images of shape %v, where at least 3 dimensions are needed", c.In(0).Shape())
		}
		return colours(c, func(p *[3]float64) { f(p, float64(by)) })
	}
}

// rgbToHSV computes hue, saturation and value, each from 0 to 1 for colours in
// that range. The largest channel decides the hue: red before green before
// blue.
func rgbToHSV(p *[3]float64) {
	r, g, b := p[0], p[1], p[2]
	v := max(r, g, b)
	span := v - min(r, g, b)
	var h, s float64
	if v > 0 {
		s = span / v
	}
	if span > 0 {
		norm := 1 / (6 * span)
		switch v {
		case r:
			h = norm * (g - b)
		case g:
			h = norm*(b-r) + 2.0/6
		default:
			h = norm*(r-g) + 4.0/6
		}
		if h < 0 {
			h++
		}
	}
	p[0], p[1], p[2] = h, s, v
}

func hsvToRGB(p *[3]float64) {
	h, s, v := p[0]*6, p[1], p[2]
	unit := func(x float64) float64 { return min(max(x, 0), 1) }
	p[0] = (1 - s + s*unit(math.Abs(h-3)-1)) * v
	p[1] = (1 - s + s*unit(2-math.Abs(h-2))) * v
	p[2] = (1 - s + s*unit(2-math.Abs(h-4))) * v
}

// shiftHue keeps the least and the largest number of the three, of either sign.
// It places the number between them by the hue.
func shiftHue(p *[3]float64, by float64) {
	if !finite(p, by) {
		oddHue(p, float32(by))
		return
	}
	least, most := min(p[0], p[1], p[2]), max(p[0], p[1], p[2])
	rgbToHSV(p)
	h := p[0] + by
	h = (h - math.Floor(h)) * 6
	sector := math.Floor(h)
	between := (h - sector) * (most - least)
	up, down := least+between, most-between
	switch sector {
	case 1:
		p[0], p[1], p[2] = down, most, least
	case 2:
		p[0], p[1], p[2] = least, most, up
	case 3:
		p[0], p[1], p[2] = least, down, most
	case 4:
		p[0], p[1], p[2] = up, least, most
	case 5:
		p[0], p[1], p[2] = most, least, down
	default:
		p[0], p[1], p[2] = most, up, least
	}
}

// scaleSaturation multiplies the saturation and clips it to 0 and 1.
func scaleSaturation(p *[3]float64, by float64) {
	if !finite(p, by) {
		oddSaturation(p, float32(by))
		return
	}
	rgbToHSV(p)
	p[1] = min(max(p[1]*by, 0), 1)
	hsvToRGB(p)
}

// adjustContrast multiplies the distance of each channel of each image from its
// mean by a factor. It doesn't clip, as TensorFlow's AdjustContrastv2.
func adjustContrast(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	by, err := factor(c, 1)
	if err != nil {
		return err
	}
	in := c.In(0)
	s := in.Shape()
	if len(s) < 3 || !in.DType().IsFloating() || in.DType() == tensor.Float64 {
		return fmt.Errorf("images of %v%v, where floats in at least 3 dimensions are needed", in.DType(), s)
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
	ch := s[len(s)-1]
	image := s[len(s)-3] * s[len(s)-2] * ch
	c.Parallel(len(x)/image, float64(image)*3, func(lo, hi int) {
		mean := make([]float64, ch)
		for n := lo; n < hi; n++ {
			clear(mean)
			src := x[n*image : (n+1)*image]
			for i, v := range src {
				mean[i%ch] += float64(v)
			}
			for i := range mean {
				mean[i] /= float64(image / ch)
			}
			for i, v := range src {
				m := mean[i%ch]
				y[n*image+i] = float32((float64(v)-m)*float64(by) + m)
			}
		}
	})
	store(out, y)
	return nil
}
