package layers

import (
	"math"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// RandomCrop cuts a part out of images [height, width, channels] or batches of them while
// training, all images of a batch at the same random place. Outside of training, which is
// the default, and for images that are too small, it resizes without distortion.
type RandomCrop struct {
	base.Layer
	_ struct{} `keras:"rng_type,const=stateful"` // tf_keras's config has the field with this value
	// Height and Width are the size of the output. They are required.
	Height, Width int
	// Seed makes the places the same in every run. Default: they differ.
	Seed *int
	// Random draws the places; see [Dropout]. Default: a generator made from Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// BuildLayer makes the generator.
func (r *RandomCrop) BuildLayer(s *ops.Scope, _ base.Shapes) error {
	imageGenerator(s, &r.once, &r.Random, r.Seed)
	return checkSize(r.Height, r.Width)
}

// Call returns a part of x.
func (r *RandomCrop) Call(s *ops.Scope, x ops.Input) *ops.Value { return r.Run(s, r, x, nil) }

// Compute returns a part of x.
func (r *RandomCrop) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	x = ops.Cast(s, x, r.DType.Compute())
	return onBatch(s, "RandomCrop", x, func(x *ops.Value) *ops.Value {
		if !s.Training() {
			return cropOrResize(s, x, r.Height, r.Width, nil)
		}
		return cropOrResize(s, x, r.Height, r.Width, func(s *ops.Scope, height, width *ops.Value) (top, left *ops.Value) {
			at := ops.RandomInt(s, r.Random, tensor.Int32, int32(0), int32(math.MaxInt32), 2)
			in := func(i int, surplus *ops.Value) *ops.Value {
				return ops.Mod(s, ops.StridedSlice(s, at, ops.At(i)), ops.Add(s, surplus, int32(1)))
			}
			return in(0, height), in(1, width)
		})
	})
}
