package image

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of ImageProjectiveTransformV2 and V3. Each intermediate result is
// rounded to float32, as in TensorFlow's image_ops.h: pixels at borders depend
// on it. The products of the fill modes are whole numbers, exact below 2^24.

// fillMode maps a position x, which may be beyond the edges, to a position on a
// line of n pixels.
type fillMode func(x float32, n int) float32

// fillModes has the modes by their names. Their steps are TensorFlow's
// MapCoordinate.
var fillModes = map[string]fillMode{
	"CONSTANT": func(x float32, _ int) float32 { return x },
	"NEAREST":  func(x float32, n int) float32 { return max(min(x, float32(n-1)), 0) },
	"REFLECT": func(x float32, n int) float32 {
		switch {
		case x < 0 && n <= 1:
			return 0
		case x < 0:
			twice := float32(2 * n)
			if x < twice {
				x += twice * float32(int64(-x/twice))
			}
			if x < -float32(n) {
				x += twice
			} else {
				x = -x - 1
			}
		case x > float32(n-1) && n <= 1:
			return 0
		case x > float32(n-1):
			twice := float32(2 * n)
			x -= twice * float32(int64(x/twice))
			if x >= float32(n) {
				x = twice - x - 1
			}
		}
		return max(min(x, float32(n-1)), 0)
	},
	"WRAP": func(x float32, n int) float32 {
		switch {
		case x < 0 && n <= 1:
			return 0
		case x < 0:
			x += float32(n) * float32(int64(-x/float32(n-1))+1)
		case x > float32(n-1) && n <= 1:
			return 0
		case x > float32(n-1):
			x -= float32(n) * float32(int64(x/float32(n-1)))
		}
		return max(min(x, float32(n-1)), 0)
	},
}

// pixelType has the types of pixels.
type pixelType interface {
	uint8 | int32 | int64 | float32 | float64
}

// projector computes out from in.
type projector func(c *engine.Call, p *projection, out, in *tensor.Tensor)

// projectors has the projectors by element type.
var projectors = engine.ByType[projector]{
	tensor.Uint8: project[uint8], tensor.Int32: project[int32], tensor.Int64: project[int64],
	tensor.Float16: projectHalf[tensor.F16], tensor.BFloat16: projectHalf[tensor.BF16],
	tensor.Float32: project[float32], tensor.Float64: project[float64],
}

// projection maps the pixels of outputs to images.
type projection struct {
	n, h, w, c, oh, ow int
	transforms         []float32 // eight numbers for each image, or eight for all images
	fill               fillMode
	bilinear           bool
	value              float32
}

// prepareProject prepares both versions. V3 has the fill value as input 3.
func prepareProject(n *engine.Node) (func(*engine.Call) error, error) {
	p := projection{}
	switch m := n.Attrs.String("interpolation", ""); m {
	case "NEAREST":
	case "BILINEAR":
		p.bilinear = true
	default:
		return nil, fmt.Errorf("invalid interpolation %q, supported types: NEAREST, BILINEAR", m)
	}
	m := n.Attrs.String("fill_mode", "CONSTANT")
	if p.fill = fillModes[m]; p.fill == nil {
		return nil, fmt.Errorf("invalid mode %q, supported modes: REFLECT, WRAP, CONSTANT, NEAREST", m)
	}
	inputs := 3
	if n.Op == "ImageProjectiveTransformV3" {
		inputs = 4
	}
	return func(c *engine.Call) error {
		if err := c.Need(inputs); err != nil {
			return err
		}
		p := p
		in, t := c.In(0), c.In(1)
		s, k := in.Shape(), t.Shape()
		if len(s) != 4 || t.DType() != tensor.Float32 || len(k) != 2 || k[1] != 8 || k[0] != 1 && k[0] != s[0] {
			return fmt.Errorf("images of shape %v with transforms of %v%v; each has 8 numbers", s, t.DType(), k)
		}
		var err error
		if p.oh, p.ow, err = target(c, 2); err != nil {
			return err
		}
		if inputs == 4 {
			if c.In(3).DType() != tensor.Float32 {
				return fmt.Errorf("the fill value is %v, not float32", c.In(3).DType())
			}
			if p.value, err = scalar(c, 3); err != nil {
				return err
			}
		}
		f, err := projectors.Of(in.DType())
		if err != nil {
			return err
		}
		p.n, p.h, p.w, p.c, p.transforms = s[0], s[1], s[2], s[3], tensor.Values[float32](t)
		out, err := c.Alloc(0, in.DType(), tensor.Shape{s[0], p.oh, p.ow, s[3]})
		if err != nil || out.Len() == 0 {
			return err
		}
		f(c, &p, out, in)
		return nil
	}, nil
}

// project computes the output for pixels of type T.
func project[T pixelType](c *engine.Call, p *projection, out, in *tensor.Tensor) {
	projectOver(c, p, tensor.Values[T](out), tensor.Values[T](in))
}

// projectHalf computes the output for half precision: in float32, with rounded
// results.
func projectHalf[H elementwise.Half](c *engine.Call, p *projection, out, in *tensor.Tensor) {
	y := elementwise.Wide(c, out.Len())
	projectOver(c, p, y, elementwise.Widened[H](c, in))
	elementwise.Narrow(tensor.Values[H](out), y)
}

// projectOver computes y of [n, oh, ow, c] from x of [n, h, w, c].
func projectOver[T pixelType](c *engine.Call, p *projection, y, x []T) {
	fill := T(p.value)
	c.Parallel(p.n*p.oh, float64(p.ow*p.c)*8, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			b, row := r/p.oh, r%p.oh
			t := p.transforms[:8]
			if len(p.transforms) > 8 {
				t = p.transforms[8*b:][:8]
			}
			img := x[b*p.h*p.w*p.c:][:p.h*p.w*p.c]
			for q := range p.ow {
				to := y[(r*p.ow+q)*p.c:][:p.c]
				u, v := float32(q), float32(row)
				k := float32(t[6]*u) + float32(t[7]*v) + 1
				// The projection has no finite position there
				if k == 0 {
					for i := range to {
						to[i] = fill
					}
					continue
				}
				px := p.fill((float32(t[0]*u)+float32(t[1]*v)+t[2])/k, p.w)
				py := p.fill((float32(t[3]*u)+float32(t[4]*v)+t[5])/k, p.h)
				sample(p, to, img, py, px, fill)
			}
		}
	})
}

// sample writes the value of an image at a position.
func sample[T pixelType](p *projection, to, img []T, y, x float32, fill T) {
	at := func(r, q float64, i int) T {
		if !(r >= 0 && r < float64(p.h) && q >= 0 && q < float64(p.w)) {
			return fill
		}
		return img[(int(r)*p.w+int(q))*p.c+i]
	}
	if !p.bilinear {
		r, q := math.Round(float64(y)), math.Round(float64(x))
		for i := range to {
			to[i] = at(r, q, i)
		}
		return
	}
	top, left := math.Floor(float64(y)), math.Floor(float64(x))
	bottom, right := top+1, left+1
	for i := range to {
		// Two steps of one dimension each; each product is rounded.
		upper := float32((float32(right)-x)*float32(at(top, left, i))) + float32((x-float32(left))*float32(at(top, right, i)))
		lower := float32((float32(right)-x)*float32(at(bottom, left, i))) + float32((x-float32(left))*float32(at(bottom, right, i)))
		to[i] = T(float32((float32(bottom)-y)*upper) + float32((y-float32(top))*lower))
	}
}
