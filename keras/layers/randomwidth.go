package layers

import (
	"math"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// RandomWidth changes the width of images [height, width, channels] or batches of them by a
// random factor while training. Outside of training, which is the default, it returns its
// input.
type RandomWidth struct {
	base.Layer
	_ struct{} `keras:"rng_type,const=stateful"`
	// Factor bounds the change as a part of the width: two numbers of -1 or more, or one for
	// both directions. It is required.
	Factor Numbers
	// Interpolation is the way to compute pixels, as in [Resizing]. Default: bilinear.
	Interpolation string `keras:",default=bilinear"`
	// Seed makes the factors the same in every run. Default: they differ.
	Seed *int
	// Random draws the factors; see [Dropout]. Default: one of Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// bounds returns the least and the largest change.
func (r *RandomWidth) bounds() (lo, hi float64, err error) {
	lo, hi, err = span("Factor", r.Factor, -1, math.Inf(1))
	return ordered("Factor", lo, hi, err)
}

// BuildLayer makes the generator.
func (r *RandomWidth) BuildLayer(s *ops.Scope, _ base.Shapes) error {
	_, _, err := r.bounds()
	if err == nil {
		_, err = resizeMethod(r.Interpolation)
	}
	imageGenerator(s, &r.once, &r.Random, r.Seed)
	return err
}

// Call changes the width of x in a training scope.
func (r *RandomWidth) Call(s *ops.Scope, x ops.Input) *ops.Value { return r.Run(s, r, x, nil) }

// Compute changes the width of x in a training scope.
func (r *RandomWidth) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if !s.Training() {
		return x
	}
	lo, hi, err := r.bounds()
	if err != nil {
		return s.Fail("RandomWidth", err)
	}
	method, err := resizeMethod(r.Interpolation)
	if err != nil {
		return s.Fail("RandomWidth", err)
	}
	y := onBatch(s, "RandomWidth", x, func(x *ops.Value) *ops.Value {
		h, w := imageSize(s, x)
		width := &w
		*width = changed(s, r.Random, lo, hi, *width)
		return ops.ResizeTo(s, x, ops.Stack(s, []*ops.Value{h, w}), &ops.ResizeOptions{Method: method})
	})
	return ops.Cast(s, y, r.DType.Compute())
}
