package image

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of ScaleAndTranslate and ScaleAndTranslateGrad.

// curve returns the weights of pixels by their distance, and is zero beyond a
// radius.
type curve struct {
	radius float32
	weight func(x float32) float32
}

func lanczos(radius float32) curve {
	return curve{radius, func(x float32) float32 {
		switch {
		case x > radius:
			return 0
		case x <= 1e-3:
			return 1
		}
		v, r := float64(x), float64(radius)
		return float32(r * math.Sin(math.Pi*v) * math.Sin(math.Pi*v/r) / (math.Pi * math.Pi * v * v))
	}}
}

// curves has TensorFlow's kernels (sampling_kernels.h) by the attribute
// kernel_type. Arguments are distances, never negative.
var curves = map[string]curve{
	"lanczos1": lanczos(1), "lanczos3": lanczos(3), "lanczos5": lanczos(5),
	"gaussian": {1.5, func(x float32) float32 {
		if x >= 1.5 {
			return 0
		}
		return float32(math.Exp(-float64(x*x) / (2 * 0.5 * 0.5)))
	}},
	"box": {1, func(x float32) float32 {
		switch {
		case x < 0.5:
			return 1
		case x == 0.5:
			return 0.5
		}
		return 0
	}},
	"triangle": {1, func(x float32) float32 { return max(1-x, 0) }},
	"keyscubic": {2, func(x float32) float32 {
		switch {
		case x >= 2:
			return 0
		case x >= 1:
			return ((-0.5*x+2.5)*x-4)*x + 2
		}
		return ((1.5*x-2.5)*x)*x + 1
	}},
	"mitchellcubic": {2, func(x float32) float32 {
		switch {
		case x >= 2:
			return 0
		case x >= 1:
			return (((-7.0/18)*x+2)*x-10.0/3)*x + 16.0/9
		}
		return (((7.0/6)*x-2)*x)*x + 8.0/9
	}},
}

// spans has, for each pixel of an output line, the adjacent pixels of the input
// line that contribute to it, and their weights.
type spans struct {
	first   []int // the first of the adjacent pixels
	weights [][]float32
}

// bytes returns about how much memory spans take, of so many pixels.
func (k curve) bytes(out int, scale float32, antialias bool) int {
	reach := float64(k.radius)
	if antialias && scale < 1 {
		reach /= float64(scale)
	}
	return int(min(float64(out)*(32+8*(reach+1)), 1<<60))
}

// over returns the spans of out pixels, from a line of in pixels that is scaled
// and then moved.
func (k curve) over(c *engine.Call, in, out int, scale, move float32, antialias bool) spans {
	s := spans{make([]int, out), make([][]float32, out)}
	inverse := float32(1 / float64(scale))
	back := -inverse * move
	wide := float32(1)
	if antialias {
		wide = max(inverse, 1)
	}
	clamp := func(v float64) int { return int(max(0, min(v, float64(in-1)))) }
	pace := engine.NewPace(c)
	for i := range out {
		pace.Work(16)
		at := float32((float32(i)+0.5)*inverse) + back
		if !(at >= 0 && at <= float32(in)) {
			continue // a pixel outside of the image has no weights and stays zero
		}
		reach := float32(k.radius * wide)
		from, to := clamp(math.Ceil(float64(at-reach-0.5))), clamp(math.Floor(float64(at+reach-0.5)))+1
		weights := make([]float32, 0, max(0, to-from))
		var sum float32
		for p := from; p < to; p++ {
			pace.Work(32)
			w := k.weight(float32(math.Abs(float64((float32(p) + 0.5 - at) * (1 / wide)))))
			sum += w
			weights = append(weights, w)
		}
		// TensorFlow, too, treats weights of a tiny sum as none
		if float32(math.Abs(float64(sum))) >= 1000*0x1p-126 {
			for p := range weights {
				weights[p] *= 1 / sum
			}
			s.first[i], s.weights[i] = from, weights
		}
	}
	return s
}

// scaling computes images of one size from those of another.
type scaling struct {
	curve
	antialias   bool
	scale, move []float32
}

func newScaling(c *engine.Call) (*scaling, error) {
	name := c.Attrs().String("kernel_type", "lanczos3")
	k, ok := curves[name]
	if !ok {
		return nil, fmt.Errorf("unrecognized kernel type: %q", name)
	}
	s := &scaling{curve: k, antialias: !c.Attrs().Has("antialias") || c.Attrs().Bool("antialias")}
	for i, to := range []*[]float32{&s.scale, &s.move} {
		t := c.In(2 + i)
		if t.DType() != tensor.Float32 || len(t.Shape()) != 1 || t.Len() != 2 {
			return nil, fmt.Errorf("input %d is %v%v, not two float32", 2+i, t.DType(), t.Shape())
		}
		*to = tensor.Values[float32](t)
	}
	// TensorFlow requires positive scales only; the other bounds limit memory
	// and are Cairn's.
	for _, v := range s.scale {
		if !(v > 0) || v > 1<<30 || v < 0x1p-20 {
			return nil, fmt.Errorf("the scale is %v; it must be greater than zero, and no more or less than makes sense", v)
		}
	}
	return s, nil
}

// scaleAndTranslate scales images by any factor and moves them.
func scaleAndTranslate(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	in := c.In(0)
	s := in.Shape()
	if len(s) != 4 || in.Len() == 0 && s[0] != 0 {
		return fmt.Errorf("images of shape %v", s)
	}
	h, w, err := target(c, 1)
	if err != nil {
		return err
	}
	k, err := newScaling(c)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tensor.Float32, tensor.Shape{s[0], h, w, s[3]})
	if err != nil || out.Len() == 0 {
		return err
	}
	x, free, err := floats(c, in)
	if err != nil {
		return err
	}
	defer free()
	c.Reserve(k.bytes(h, k.scale[0], k.antialias) + k.bytes(w, k.scale[1], k.antialias))
	rows, cols := k.over(c, s[1], h, k.scale[0], k.move[0], k.antialias), k.over(c, s[2], w, k.scale[1], k.move[1], k.antialias)
	y, ch, row := tensor.Values[float32](out), s[3], s[2]*s[3]
	c.Parallel(s[0]*h, float64(row+w*ch)*6, func(lo, hi int) {
		line := make([]float32, row)
		for r := lo; r < hi; r++ {
			clear(line)
			src := x[r/h*s[1]*row:]
			for p, weight := range rows.weights[r%h] {
				for i, v := range src[(rows.first[r%h]+p)*row:][:row] {
					line[i] += v * weight
				}
			}
			for q := range w {
				to := y[(r*w+q)*ch:][:ch]
				clear(to)
				for p, weight := range cols.weights[q] {
					for i, v := range line[(cols.first[q]+p)*ch:][:ch] {
						to[i] += v * weight
					}
				}
			}
		}
	})
	return nil
}

// scaleAndTranslateGrad adds the gradient of each output pixel to those of the
// input pixels that contribute to it.
func scaleAndTranslateGrad(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	dy, like := c.In(0), c.In(1)
	y, s := dy.Shape(), like.Shape()
	if dy.DType() != tensor.Float32 || like.DType() != tensor.Float32 || len(y) != 4 || len(s) != 4 || y[0] != s[0] || y[3] != s[3] || s[1] == 0 || s[2] == 0 {
		return fmt.Errorf("a gradient of %v%v for images of %v%v", dy.DType(), y, like.DType(), s)
	}
	k, err := newScaling(c)
	if err != nil {
		return err
	}
	out, err := c.AllocZero(0, tensor.Float32, s)
	if err != nil || out.Len() == 0 || dy.Len() == 0 {
		return err
	}
	c.Reserve(k.bytes(y[1], k.scale[0], k.antialias) + k.bytes(y[2], k.scale[1], k.antialias))
	rows, cols := k.over(c, s[1], y[1], k.scale[0], k.move[0], k.antialias), k.over(c, s[2], y[2], k.scale[1], k.move[1], k.antialias)
	g, x, ch, row := tensor.Values[float32](dy), tensor.Values[float32](out), s[3], s[2]*s[3]
	c.Parallel(s[0], float64(len(g)/max(1, s[0]))*20, func(lo, hi int) {
		line := make([]float32, row)
		for r := lo * y[1]; r < hi*y[1]; r++ {
			clear(line)
			for q := range y[2] {
				src := g[(r*y[2]+q)*ch:][:ch]
				for p, weight := range cols.weights[q] {
					for i, v := range src {
						line[(cols.first[q]+p)*ch+i] += v * weight
					}
				}
			}
			to := x[r/y[1]*s[1]*row:]
			for p, weight := range rows.weights[r%y[1]] {
				for i, v := range line {
					to[(rows.first[r%y[1]]+p)*row+i] += v * weight
				}
			}
		}
	})
	return nil
}
