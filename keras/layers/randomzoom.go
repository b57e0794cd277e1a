package layers

import (
	"math"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// RandomZoom zooms images [height, width, channels] or images of batches by random factors
// while training. Outside of training, which is the default, it returns its input.
type RandomZoom struct {
	base.Layer
	_ struct{} `keras:"rng_type,const=stateful"` // tf_keras's config has the field with this value
	// HeightFactor bounds the change of the height: two numbers, or one for both directions.
	// Positive numbers show more of the image. It is required.
	HeightFactor Numbers
	// WidthFactor bounds the change of the width. Default: that of the height, so that the
	// proportions stay.
	WidthFactor Numbers
	// FillMode fills pixels from outside of the input: reflect, wrap, constant or nearest.
	// Default: reflect.
	FillMode string `keras:",default=reflect"`
	// FillValue is the pixels' value with the FillMode constant. Default: 0.
	FillValue float64
	// Interpolation is the way to compute pixels: nearest or bilinear. Default: bilinear.
	Interpolation string `keras:",default=bilinear"`
	// Seed makes the factors the same in every run. Default: they differ.
	Seed *int
	// Random draws the factors; see [Dropout]. Default: a generator made from Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// bounds returns the bounds of height and width, the latter only if there is one.
func (r *RandomZoom) bounds() (height, width [2]float64, err error) {
	if height[0], height[1], err = span("HeightFactor", r.HeightFactor, -1, 1); err == nil && r.WidthFactor != nil {
		width[0], width[1], err = span("WidthFactor", r.WidthFactor, -1, math.Inf(1))
	}
	return height, width, err
}

// BuildLayer makes the generator.
func (r *RandomZoom) BuildLayer(s *ops.Scope, _ base.Shapes) error {
	if _, _, err := r.bounds(); err != nil {
		return err
	}
	imageGenerator(s, &r.once, &r.Random, r.Seed)
	return checkFill(r.FillMode, r.Interpolation)
}

// Call zooms x in a training scope.
func (r *RandomZoom) Call(s *ops.Scope, x ops.Input) *ops.Value { return r.Run(s, r, x, nil) }

// Compute zooms x in a training scope.
func (r *RandomZoom) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	x = ops.Cast(s, x, r.DType.Compute())
	if !s.Training() {
		return x
	}
	height, width, err := r.bounds()
	if err != nil {
		return s.Fail("RandomZoom", err)
	}
	return onBatch(s, "RandomZoom", x, func(x *ops.Value) *ops.Value {
		vertical := drawn(s, r.Random, 1+height[0], 1+height[1], column(s, x))
		horizontal := vertical
		if r.WidthFactor != nil {
			horizontal = drawn(s, r.Random, 1+width[0], 1+width[1], column(s, x))
		}
		return transform(s, x, zooms(s, x, vertical, horizontal), r.FillMode, r.Interpolation, r.FillValue)
	})
}

// zooms returns the matrices that zoom images around their middle.
func zooms(s *ops.Scope, x, vertical, horizontal *ops.Value) *ops.Value {
	h, w := imageSize(s, x)
	offset := func(size, zoom *ops.Value) *ops.Value {
		middle := ops.Div(s, ops.Sub(s, ops.Cast(s, size, tensor.Float32), float32(1)), float32(2))
		return ops.Mul(s, middle, ops.Sub(s, float32(1), zoom))
	}
	return rowsOf(s, vertical, horizontal, float32(0), offset(w, horizontal),
		float32(0), vertical, offset(h, vertical), float32(0), float32(0))
}
