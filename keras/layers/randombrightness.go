package layers

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// RandomBrightness adds a random number to the pixels of images [height, width, channels] or
// of each image of a batch while training. Outside of training, which is the default, it
// returns its input.
type RandomBrightness struct {
	base.Layer
	_ struct{} `keras:"rng_type,const=stateful"` // tf_keras's config has the field with this value
	// Factor bounds the number as a part of the range of values: two numbers from -1 to 1,
	// or one for both directions. It is required.
	Factor Numbers
	// ValueRange are the bounds of the pixels. Default: 0 and 255.
	ValueRange []float64 `keras:",default=[0, 255]"`
	// Seed makes the numbers the same in every run. Default: they differ.
	Seed *int
	// Random draws the numbers; see [Dropout]. Default: a generator made from Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// CompleteConfig sorts the bounds, and makes two of one.
func (r *RandomBrightness) CompleteConfig() {
	if len(r.Factor) == 1 {
		f := math.Abs(r.Factor[0])
		r.Factor = Numbers{-f, f}
	}
	slices.Sort(r.Factor)
	slices.Sort(r.ValueRange)
}

// BuildLayer makes the generator.
func (r *RandomBrightness) BuildLayer(s *ops.Scope, _ base.Shapes) error {
	if _, _, err := span("Factor", r.Factor, -1, 1); err != nil {
		return err
	}
	if len(r.ValueRange) != 2 {
		return fmt.Errorf("ValueRange has %d numbers, want 2", len(r.ValueRange))
	}
	imageGenerator(s, &r.once, &r.Random, r.Seed)
	return nil
}

// Call changes the brightness of x in a training scope.
func (r *RandomBrightness) Call(s *ops.Scope, x ops.Input) *ops.Value { return r.Run(s, r, x, nil) }

// Compute changes the brightness of x in a training scope.
func (r *RandomBrightness) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	x = ops.Cast(s, x, r.DType.Compute())
	if !s.Training() {
		return x
	}
	return onBatch(s, "RandomBrightness", x, func(x *ops.Value) *ops.Value {
		shape := ops.Concat(s, []ops.Input{batchOf(s, x), []int32{1, 1, 1}}, 0)
		more := drawn(s, r.Random, r.Factor[0], r.Factor[1], shape)
		more = ops.Mul(s, more, float32(r.ValueRange[1]-r.ValueRange[0]))
		return clipTo(s, ops.Add(s, x, ops.Cast(s, more, x.DType())), r.ValueRange[0], r.ValueRange[1])
	})
}
