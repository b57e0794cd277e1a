package layers

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// onBatch applies f to a batch of images [batch, height, width, channels]. A single image
// becomes a batch of one for f.
func onBatch(s *ops.Scope, layer string, x *ops.Value, f func(x *ops.Value) *ops.Value) *ops.Value {
	switch rank := x.Fact().Shape.Rank(); rank {
	case 3:
		return ops.Squeeze(s, f(ops.ExpandDims(s, x, 0)), 0)
	case 4:
		return f(x)
	default:
		return s.Fail(layer, fmt.Errorf("the input has the shape %v, want [height, width, channels] or [batch, height, width, channels]", x.Fact().Shape))
	}
}

// imageSize returns the height and the width of images, int32 scalars.
func imageSize(s *ops.Scope, x *ops.Value) (height, width *ops.Value) {
	shape := ops.Shape(s, x)
	return ops.StridedSlice(s, shape, ops.At(-3)), ops.StridedSlice(s, shape, ops.At(-2))
}

// checkSize returns an error unless images of this size exist.
func checkSize(height, width int) error {
	if height < 1 || width < 1 || height > math.MaxInt32 || width > math.MaxInt32 {
		return fmt.Errorf("the size is %d by %d, want sizes from 1 to %d", height, width, math.MaxInt32)
	}
	return nil
}

// resizeMethods are the ways of tf_keras to compute pixels.
var resizeMethods = map[string]ops.ResizeMethod{
	"bilinear": ops.Bilinear, "nearest": ops.Nearest, "bicubic": ops.Bicubic, "area": ops.Area,
	"lanczos3": ops.Lanczos3, "lanczos5": ops.Lanczos5, "gaussian": ops.Gaussian, "mitchellcubic": ops.MitchellCubic,
}

// resizeMethod returns the method of a name.
func resizeMethod(name string) (ops.ResizeMethod, error) {
	m, ok := resizeMethods[strings.ToLower(name)]
	if !ok {
		return "", fmt.Errorf("unknown Interpolation %q, want bilinear, nearest, bicubic, area, lanczos3, lanczos5, gaussian or mitchellcubic", name)
	}
	return m, nil
}

// smartResize resizes a batch of images without distortion: it cuts the largest part of the
// wanted proportions out of their middle first.
func smartResize(s *ops.Scope, x *ops.Value, height, width int, method ops.ResizeMethod) *ops.Value {
	h, w := imageSize(s, x)
	part := func(other *ops.Value, this, that int, whole *ops.Value) (size, start *ops.Value) {
		scaled := ops.Div(s, ops.Cast(s, ops.Mul(s, other, int32(this)), tensor.Float32), float32(that))
		size = ops.Minimum(s, whole, ops.Cast(s, scaled, tensor.Int32))
		rest := ops.Cast(s, ops.Sub(s, whole, size), tensor.Float32)
		return size, ops.Cast(s, ops.Div(s, rest, float32(2)), tensor.Int32)
	}
	cropHeight, top := part(w, height, width, h)
	cropWidth, left := part(h, width, height, w)
	x = cropAt(s, x, top, left, cropHeight, cropWidth)
	return ops.Resize(s, x, height, width, &ops.ResizeOptions{Method: method})
}

// cropAt cuts the same part out of each image of a batch.
func cropAt(s *ops.Scope, x *ops.Value, top, left, height, width ops.Input) *ops.Value {
	begin := ops.Stack(s, []ops.Input{int32(0), top, left, int32(0)})
	size := ops.Stack(s, []ops.Input{int32(-1), height, width, int32(-1)})
	return s.Emit1("Slice", nil, x, begin, size)
}

// imageGenerator sets *random once, if the caller left it nil, to a generator of the seed,
// and returns it. Without a seed it draws one as tf_keras does.
func imageGenerator(s *ops.Scope, once *sync.Once, random **ops.Random, seed *int) *ops.Random {
	once.Do(func() {
		if *random != nil {
			return
		}
		if seed == nil {
			seed = new(base.DrawSeed(s))
		}
		*random = ops.NewRandom(uint64(int64(*seed)))
		if *seed < 0 { // whose sign extends into the other numbers of the state
			if err := (*random).State.Store(tensor.Must(tensor.New([]int64{int64(*seed), -1, -1}, 3))); err != nil {
				s.Fail("Random", err)
			}
		}
	})
	return *random
}

// drawn returns float32 numbers of a shape, spread evenly over [lo, hi). Layers call drawn and
// drawnStateless in tf_keras's order: for a seed it decides the numbers.
func drawn(s *ops.Scope, r *ops.Random, lo, hi float64, shape ops.Input) *ops.Value {
	return spread(s, ops.RandomUniformLike(s, r, ops.FillTo(s, float32(0), shape)), lo, hi)
}

// drawnStateless returns float32 numbers as drawn does, from a generator whose seed is
// drawn from r.
func drawnStateless(s *ops.Scope, r *ops.Random, lo, hi float64, shape ops.Input) *ops.Value {
	seed := ops.Concat(s, []ops.Input{ops.RandomBits(s, r, tensor.Int64, 1), []int64{0}}, 0)
	state := s.EmitN(2, "StatelessRandomGetKeyCounter", nil, seed)
	const philox = int32(1)
	u := s.Emit1("StatelessRandomUniformV2", graph.Attrs{graph.Type("dtype", tensor.Float32)}, shape, state[0], state[1], philox)
	return spread(s, u, lo, hi)
}

// spread scales numbers from 0 to 1 to those from lo to hi.
func spread(s *ops.Scope, u *ops.Value, lo, hi float64) *ops.Value {
	return ops.Add(s, ops.Mul(s, u, float32(hi)-float32(lo)), float32(lo))
}

// span returns the bounds of a factor: its two numbers, or the negative and the positive of
// one. They must be between least and most.
func span(field string, factor Numbers, least, most float64) (lo, hi float64, err error) {
	switch len(factor) {
	case 1:
		lo, hi = -factor[0], factor[0]
	case 2:
		lo, hi = factor[0], factor[1]
	default:
		return 0, 0, fmt.Errorf("%s has %d numbers, want 1 or 2", field, len(factor))
	}
	if !(lo >= least && hi >= least && lo <= most && hi <= most) {
		return 0, 0, fmt.Errorf("%s is %v, want numbers from %v to %v", field, []float64(factor), least, most)
	}
	return lo, hi, nil
}

// ordered returns an error if the bounds of a factor are in the wrong order.
func ordered(field string, lo, hi float64, err error) (float64, float64, error) {
	if err == nil && hi < lo {
		err = fmt.Errorf("%s has the upper bound %v below the lower bound %v", field, hi, lo)
	}
	return lo, hi, err
}

// transform moves the pixels of a batch of images. matrices has 8 numbers for each image:
// those of the projective matrix from places in the output to places in the input, without its last
// element, which is 1.
func transform(s *ops.Scope, x, matrices *ops.Value, fillMode, interpolation string, fillValue float64) *ops.Value {
	attrs := graph.Attrs{graph.String("interpolation", strings.ToUpper(interpolation)), graph.String("fill_mode", strings.ToUpper(fillMode))}
	size := ops.StridedSlice(s, ops.Shape(s, x), ops.Span(1, 3))
	return s.Emit1("ImageProjectiveTransformV3", attrs, x, matrices, size, float32(fillValue))
}

// checkFill returns an error unless transform knows the mode and the interpolation.
func checkFill(fillMode, interpolation string) error {
	switch fillMode {
	case "reflect", "wrap", "constant", "nearest":
	default:
		return fmt.Errorf("unknown FillMode %q, want reflect, wrap, constant or nearest", fillMode)
	}
	if interpolation != "nearest" && interpolation != "bilinear" {
		return fmt.Errorf("unknown Interpolation %q, want nearest or bilinear", interpolation)
	}
	return nil
}

// batchOf returns the number of images in a batch, a vector of one int32.
func batchOf(s *ops.Scope, x *ops.Value) *ops.Value {
	return ops.StridedSlice(s, ops.Shape(s, x), ops.To(1))
}

// column returns the shape of a matrix of one column with a row for each image.
func column(s *ops.Scope, x *ops.Value) *ops.Value {
	return ops.Concat(s, []ops.Input{batchOf(s, x), []int32{1}}, 0)
}

// rowsOf joins columns, numbers or matrices of one column, to the 8 numbers of transform.
func rowsOf(s *ops.Scope, like *ops.Value, columns ...ops.Input) *ops.Value {
	for i, c := range columns {
		if n, ok := c.(float32); ok {
			columns[i] = ops.FillTo(s, n, ops.Shape(s, like))
		}
	}
	return ops.Concat(s, columns, 1)
}
