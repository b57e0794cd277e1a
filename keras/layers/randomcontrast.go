package layers

import (
	"fmt"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// RandomContrast changes the contrast of images [height, width, channels] or of batches by
// a random factor while training, one factor for each batch, and cuts pixels off at 0 and
// 255. Outside of training, which is the default, it returns its input.
type RandomContrast struct {
	base.Layer
	_ struct{} `keras:"rng_type,const=stateful"` // tf_keras's config has the field with this value
	// Factor bounds the contrast, which is between 1 minus the first number and 1 plus the
	// second one. One number is used for both. It is required.
	Factor Numbers
	// Seed makes the contrasts the same in every run. Default: they differ.
	Seed *int
	// Random draws the contrasts; see [Dropout]. Default: a generator made from Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// bounds returns the least and the largest contrast.
func (r *RandomContrast) bounds() (lo, hi float64, err error) {
	if len(r.Factor) != 1 && len(r.Factor) != 2 {
		return 0, 0, fmt.Errorf("the field Factor has %d numbers, want 1 or 2", len(r.Factor))
	}
	lower, upper := r.Factor[0], r.Factor[len(r.Factor)-1]
	if !(lower >= 0 && lower <= 1 && upper >= 0 && lower+upper > 0) {
		return 0, 0, fmt.Errorf("the field Factor is %v, want the first number from 0 to 1, the second one 0 or more, and not both 0", []float64(r.Factor))
	}
	return 1 - lower, 1 + upper, nil
}

// BuildLayer makes the generator.
func (r *RandomContrast) BuildLayer(s *ops.Scope, _ base.Shapes) error {
	_, _, err := r.bounds()
	if err == nil {
		imageGenerator(s, &r.once, &r.Random, r.Seed)
	}
	return err
}

// Call changes the contrast of x in a training scope.
func (r *RandomContrast) Call(s *ops.Scope, x ops.Input) *ops.Value { return r.Run(s, r, x, nil) }

// Compute changes the contrast of x in a training scope.
func (r *RandomContrast) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	d := r.DType.Compute()
	x = ops.Cast(s, x, d)
	if !s.Training() {
		return x
	}
	lo, hi, err := r.bounds()
	if err == nil && !d.IsFloating() {
		err = fmt.Errorf("the dtype is %v, want a floating one", d)
	}
	if err != nil {
		return s.Fail("RandomContrast", err)
	}
	factor := drawnStateless(s, r.Random, lo, hi, []int32{})
	if d != tensor.Float16 {
		x = ops.Cast(s, x, tensor.Float32)
	}
	y := ops.Cast(s, s.Emit1("AdjustContrastv2", nil, x, factor), d)
	return clipTo(s, y, 0, 255)
}

// clipTo cuts numbers off at lo and hi.
func clipTo(s *ops.Scope, x *ops.Value, lo, hi float64) *ops.Value {
	d := x.DType()
	return ops.Clip(s, x, ops.ConstOf(s, d, lo), ops.ConstOf(s, d, hi))
}
