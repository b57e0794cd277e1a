package image

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of ExtractGlimpse and ExtractGlimpseV2. The noise has no seed, so
// its numbers may change; its distribution is TensorFlow's.

// glimpse is a node that returns a window of each image, with noise outside of
// the image.
type glimpse struct {
	second               bool // ExtractGlimpseV2
	centered, normalized bool
	noise                string
}

func prepareGlimpse(n *engine.Node) (func(*engine.Call) error, error) {
	a := n.Attrs
	yes := func(name string) bool { return !a.Has(name) || a.Bool(name) }
	g := &glimpse{second: n.Op == "ExtractGlimpseV2", centered: yes("centered"), normalized: yes("normalized"), noise: a.String("noise", "uniform")}
	uniform := yes("uniform_noise")
	switch g.noise {
	case "":
		g.noise = "gaussian"
		if uniform {
			g.noise = "uniform"
		}
	case "uniform":
	case "gaussian", "zero":
		if uniform {
			return nil, fmt.Errorf("uniform_noise and noise %q exclude each other", g.noise)
		}
	default:
		return nil, fmt.Errorf("the noise can only be uniform, gaussian or zero, got %q", g.noise)
	}
	return g.run, nil
}

func (g *glimpse) run(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	x, offsets := c.In(0), c.In(2)
	s := x.Shape()
	if x.DType() != tensor.Float32 || len(s) != 4 {
		return fmt.Errorf("the input must be 4-dimensional (batch, height, width, channels), got %v%v", x.DType(), s)
	}
	if o := offsets.Shape(); offsets.DType() != tensor.Float32 || len(o) != 2 || o[0] != s[0] || o[1] != 2 {
		return fmt.Errorf("offsets are %v%v; one pair for each of %d images is needed", offsets.DType(), o, s[0])
	}
	if c.In(1).DType() != tensor.Int32 || len(c.In(1).Shape()) != 1 {
		return fmt.Errorf("the size must be a vector of int32, got %v%v", c.In(1).DType(), c.In(1).Shape())
	}
	size, err := shapes.Dims(c.In(1), "the size", 0)
	if err != nil {
		return err
	}
	if len(size) != 2 {
		return fmt.Errorf("the size has %d elements, not height and width", len(size))
	}
	h, w := size[0], size[1]
	out, err := c.AllocZero(0, tensor.Float32, tensor.Shape{s[0], h, w, s[3]})
	if err != nil || out.Len() == 0 {
		return err
	}
	if x.Len() == 0 {
		return fmt.Errorf("images of shape %v have no pixels", s)
	}
	src, dst, at := tensor.Values[float32](x), tensor.Values[float32](out), tensor.Values[float32](offsets)
	image, window := x.Len()/s[0], out.Len()/s[0]
	for i := range s[0] {
		from, to := src[i*image:][:image], dst[i*window:][:window]
		y, ny, cutY := g.along(at[2*i], s[1], h)
		x, nx, cutX := g.along(at[2*i+1], s[2], w)
		if cutY || cutX {
			g.fill(to, from, s[3])
		}
		for r := 0; r < ny && nx > 0; r++ {
			copy(to[((y.to+r)*w+x.to)*s[3]:][:nx*s[3]], from[((y.from+r)*s[2]+x.from)*s[3]:])
		}
	}
	return nil
}

// place has the first pixel of a part of an image, and its first pixel in the
// window.
type place struct{ from, to int }

// along returns the part of a line of n pixels in a window of a size. cut
// reports whether the window extends beyond the line. offset is the center or
// the beginning of the window, by the attributes; the two versions compute the
// beginning differently, as in TensorFlow.
func (g *glimpse) along(offset float32, n, size int) (p place, count int, cut bool) {
	v := offset
	if g.normalized {
		v *= float32(n)
	}
	if g.second {
		switch {
		case g.centered && g.normalized:
			v = v/2 + float32(n)/2 - float32(size)/2
		case g.centered:
			v += float32(n) / 2
		}
	} else {
		if g.centered {
			v = v/2 + float32(n)/2
		}
		v -= float32(size) / 2
	}
	begin := n // after the end; NaN counts as that, too
	if v > -float32(math.MaxInt32) && v < float32(math.MaxInt32) {
		begin = int(v)
	} else if v < 0 {
		begin = -size
	}
	switch p.from, count = begin, size; {
	case begin < 0:
		p.from, count, cut = 0, max(0, size+begin), true
		p.to = size - count
	case begin+size >= n:
		count, cut = max(0, n-begin), true
	}
	return p, min(n, count), cut
}

// fill fills a window with noise like the image.
func (g *glimpse) fill(to, from []float32, channels int) {
	if g.noise == "zero" {
		return
	}
	if g.noise == "uniform" {
		least, most := from[0], from[0]
		for _, v := range from {
			least, most = min(least, v), max(most, v)
		}
		for i := range to {
			to[i] = least + rand.Float32()*(most-least)
		}
		return
	}
	for k := range channels {
		least, most, sum, n := from[k], from[k], 0.0, float64(len(from)/channels)
		for i := k; i < len(from); i += channels {
			least, most, sum = min(least, from[i]), max(most, from[i]), sum+float64(from[i])
		}
		mean, squares := sum/n, 0.0
		for i := k; i < len(from); i += channels {
			squares += (float64(from[i]) - mean) * (float64(from[i]) - mean)
		}
		for i := k; i < len(to); i += channels {
			to[i] = max(min(float32(mean+rand.NormFloat64()*math.Sqrt(squares/n)), most), least)
		}
	}
}
