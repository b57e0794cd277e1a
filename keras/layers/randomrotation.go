package layers

import (
	"math"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// RandomRotation turns images [height, width, channels] or images of batches by random
// angles while training. Outside of training, which is the default, it returns its input.
type RandomRotation struct {
	base.Layer
	_ struct{} `keras:"rng_type,const=stateful"` // tf_keras's config has the field with this value
	// Factor bounds the angle as a part of a full turn: two numbers, or one for both
	// directions. Positive angles turn counterclockwise. It is required.
	Factor Numbers
	// FillMode fills pixels from outside of the input: reflect, wrap, constant or nearest.
	// Default: reflect.
	FillMode string `keras:",default=reflect"`
	// FillValue is the pixels' value with the FillMode constant. Default: 0.
	FillValue float64
	// Interpolation is the way to compute pixels: nearest or bilinear. Default: bilinear.
	Interpolation string `keras:",default=bilinear"`
	// Seed makes the angles the same in every run. Default: they differ.
	Seed *int
	// Random draws the angles; see [Dropout]. Default: a generator made from Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// bounds returns the least and the largest part of a turn.
func (r *RandomRotation) bounds() (lo, hi float64, err error) {
	lo, hi, err = span("Factor", r.Factor, math.Inf(-1), math.Inf(1))
	return ordered("Factor", lo, hi, err)
}

// BuildLayer makes the generator.
func (r *RandomRotation) BuildLayer(s *ops.Scope, _ base.Shapes) error {
	if _, _, err := r.bounds(); err != nil {
		return err
	}
	imageGenerator(s, &r.once, &r.Random, r.Seed)
	return checkFill(r.FillMode, r.Interpolation)
}

// Call turns x in a training scope.
func (r *RandomRotation) Call(s *ops.Scope, x ops.Input) *ops.Value { return r.Run(s, r, x, nil) }

// Compute turns x in a training scope.
func (r *RandomRotation) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	x = ops.Cast(s, x, r.DType.Compute())
	if !s.Training() {
		return x
	}
	lo, hi, err := r.bounds()
	if err != nil {
		return s.Fail("RandomRotation", err)
	}
	return onBatch(s, "RandomRotation", x, func(x *ops.Value) *ops.Value {
		angles := drawn(s, r.Random, lo*2*math.Pi, hi*2*math.Pi, batchOf(s, x))
		return transform(s, x, rotations(s, x, angles), r.FillMode, r.Interpolation, r.FillValue)
	})
}

// rotations returns the matrices that turn images around their middle.
func rotations(s *ops.Scope, x, angles *ops.Value) *ops.Value {
	h, w := imageSize(s, x)
	h = ops.Sub(s, ops.Cast(s, h, tensor.Float32), float32(1))
	w = ops.Sub(s, ops.Cast(s, w, tensor.Float32), float32(1))
	angles = ops.ExpandDims(s, angles, 1)
	cos, sin := ops.Cos(s, angles), ops.Sin(s, angles)
	offset := func(size, moved *ops.Value) *ops.Value { return ops.Div(s, ops.Sub(s, size, moved), float32(2)) }
	left := offset(w, ops.Sub(s, ops.Mul(s, cos, w), ops.Mul(s, sin, h)))
	top := offset(h, ops.Add(s, ops.Mul(s, sin, w), ops.Mul(s, cos, h)))
	return rowsOf(s, angles, cos, ops.Neg(s, sin), left, sin, cos, top, float32(0), float32(0))
}
