package layers

import (
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// RandomTranslation moves images [height, width, channels] or images of batches by random
// distances while training. Outside of training, which is the default, it returns its input.
type RandomTranslation struct {
	base.Layer
	_ struct{} `keras:"rng_type,const=stateful"` // tf_keras's config has the field with this value
	// HeightFactor and WidthFactor bound the distances as parts of the size: two numbers from
	// -1 to 1, or one for both directions. Positive numbers move down and to the right. They
	// are required.
	HeightFactor, WidthFactor Numbers
	// FillMode fills pixels from outside of the input: reflect, wrap, constant or nearest.
	// Default: reflect.
	FillMode string `keras:",default=reflect"`
	// FillValue is the pixels' value with the FillMode constant. Default: 0.
	FillValue float64
	// Interpolation is the way to compute pixels: nearest or bilinear. Default: bilinear.
	Interpolation string `keras:",default=bilinear"`
	// Seed makes the distances the same in every run. Default: they differ.
	Seed *int
	// Random draws the distances; see [Dropout]. Default: a generator made from Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// bounds returns the bounds of the distances.
func (r *RandomTranslation) bounds() (height, width [2]float64, err error) {
	part := func(field string, factor Numbers) (out [2]float64) {
		if err == nil {
			out[0], out[1], err = span(field, factor, -1, 1)
			_, _, err = ordered(field, out[0], out[1], err)
		}
		return out
	}
	height, width = part("HeightFactor", r.HeightFactor), part("WidthFactor", r.WidthFactor)
	return height, width, err
}

// BuildLayer makes the generator.
func (r *RandomTranslation) BuildLayer(s *ops.Scope, _ base.Shapes) error {
	if _, _, err := r.bounds(); err != nil {
		return err
	}
	imageGenerator(s, &r.once, &r.Random, r.Seed)
	return checkFill(r.FillMode, r.Interpolation)
}

// Call moves x in a training scope.
func (r *RandomTranslation) Call(s *ops.Scope, x ops.Input) *ops.Value { return r.Run(s, r, x, nil) }

// Compute moves x in a training scope.
func (r *RandomTranslation) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	x = ops.Cast(s, x, r.DType.Compute())
	if !s.Training() {
		return x
	}
	height, width, err := r.bounds()
	if err != nil {
		return s.Fail("RandomTranslation", err)
	}
	return onBatch(s, "RandomTranslation", x, func(x *ops.Value) *ops.Value {
		h, w := imageSize(s, x)
		distance := func(bounds [2]float64, size *ops.Value) *ops.Value {
			part := drawn(s, r.Random, bounds[0], bounds[1], column(s, x))
			return ops.Neg(s, ops.Mul(s, part, ops.Cast(s, size, tensor.Float32)))
		}
		down := distance(height, h) // drawn before right, as in tf_keras
		right := distance(width, w)
		moves := rowsOf(s, down, float32(1), float32(0), right, float32(0), float32(1), down, float32(0), float32(0))
		return transform(s, x, moves, r.FillMode, r.Interpolation, r.FillValue)
	})
}
