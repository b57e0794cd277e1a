package layers

import (
	"math"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// RandomHeight changes the height of images [height, width, channels] or batches of them by a
// random factor while training. Outside of training, which is the default, it returns its
// input.
type RandomHeight struct {
	base.Layer
	_ struct{} `keras:"rng_type,const=stateful"` // tf_keras's config has the field with this value
	// Factor bounds the change as a part of the size: two numbers of -1 or more, or one for
	// both directions. It is required.
	Factor Numbers
	// Interpolation is the way to compute pixels, as in [Resizing]. Default: bilinear.
	Interpolation string `keras:",default=bilinear"`
	// Seed makes the factors the same in every run. Default: they differ.
	Seed *int
	// Random draws the factors; see [Dropout]. Default: a generator made from Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// bounds returns the least and the largest change.
func (r *RandomHeight) bounds() (lo, hi float64, err error) {
	lo, hi, err = span("Factor", r.Factor, -1, math.Inf(1))
	return ordered("Factor", lo, hi, err)
}

// BuildLayer makes the generator.
func (r *RandomHeight) BuildLayer(s *ops.Scope, _ base.Shapes) error {
	_, _, err := r.bounds()
	if err == nil {
		_, err = resizeMethod(r.Interpolation)
	}
	imageGenerator(s, &r.once, &r.Random, r.Seed)
	return err
}

// Call changes the height of x in a training scope.
func (r *RandomHeight) Call(s *ops.Scope, x ops.Input) *ops.Value { return r.Run(s, r, x, nil) }

// Compute changes the height of x in a training scope.
func (r *RandomHeight) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return r.change(s, "RandomHeight", x, func(h, _ **ops.Value) **ops.Value { return h })
}

// change changes one of the sizes of x in a training scope.
func (r *RandomHeight) change(s *ops.Scope, layer string, x *ops.Value, which func(h, w **ops.Value) **ops.Value) *ops.Value {
	if !s.Training() {
		return x
	}
	lo, hi, err := r.bounds()
	if err != nil {
		return s.Fail(layer, err)
	}
	method, err := resizeMethod(r.Interpolation)
	if err != nil {
		return s.Fail(layer, err)
	}
	y := onBatch(s, layer, x, func(x *ops.Value) *ops.Value {
		h, w := imageSize(s, x)
		size := which(&h, &w)
		*size = changed(s, r.Random, lo, hi, *size)
		return ops.ResizeTo(s, x, ops.Stack(s, []*ops.Value{h, w}), &ops.ResizeOptions{Method: method})
	})
	return ops.Cast(s, y, r.DType.Compute())
}

// changed returns a size times a random factor between 1+lo and 1+hi.
func changed(s *ops.Scope, r *ops.Random, lo, hi float64, size *ops.Value) *ops.Value {
	factor := drawn(s, r, 1+lo, 1+hi, []int32{})
	return ops.Cast(s, ops.Mul(s, factor, ops.Cast(s, size, tensor.Float32)), tensor.Int32)
}
