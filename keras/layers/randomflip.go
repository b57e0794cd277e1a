package layers

import (
	"fmt"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// RandomFlip flips images [height, width, channels] or images of batches at random while
// training. Outside of training, which is the default, it returns its input.
type RandomFlip struct {
	base.Layer
	_ struct{} `keras:"rng_type,const=stateful"` // tf_keras's config has the field with this value
	// Mode is the direction: horizontal, vertical or horizontal_and_vertical. Default:
	// horizontal_and_vertical.
	Mode string `keras:",default=horizontal_and_vertical"`
	// Seed makes the choices the same in every run. Default: they differ.
	Seed *int
	// Random makes the choices; see [Dropout]. Default: a generator made from Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// BuildLayer makes the generator.
func (r *RandomFlip) BuildLayer(s *ops.Scope, _ base.Shapes) error {
	switch r.Mode {
	case "horizontal", "vertical", "horizontal_and_vertical":
	default:
		return fmt.Errorf("unknown Mode %q, want horizontal, vertical or horizontal_and_vertical", r.Mode)
	}
	imageGenerator(s, &r.once, &r.Random, r.Seed)
	return nil
}

// Call flips x in a training scope.
func (r *RandomFlip) Call(s *ops.Scope, x ops.Input) *ops.Value { return r.Run(s, r, x, nil) }

// Compute flips x in a training scope.
func (r *RandomFlip) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	x = ops.Cast(s, x, r.DType.Compute())
	if !s.Training() {
		return x
	}
	if r.Mode != "vertical" {
		x = r.flip(s, x, -2)
	}
	if r.Mode != "horizontal" {
		x = r.flip(s, x, -3)
	}
	return x
}

// flip turns images around along an axis, each with probability one half.
func (r *RandomFlip) flip(s *ops.Scope, x *ops.Value, axis int) *ops.Value {
	rank := x.Fact().Shape.Rank()
	if rank == 3 { // one image
		return ops.If(s, ops.Less(s, drawnStateless(s, r.Random, 0, 1, []int32{}), float32(0.5)),
			func(s *ops.Scope) *ops.Value { return ops.Reverse(s, x, rank+axis) },
			func(s *ops.Scope) *ops.Value { return ops.Identity(s, x) })
	}
	return onBatch(s, "RandomFlip", x, func(x *ops.Value) *ops.Value {
		u := ops.Round(s, drawnStateless(s, r.Random, 0, 1, batchOf(s, x)))
		flips := ops.Cast(s, ops.Reshape(s, u, -1, 1, 1, 1), x.DType())
		flipped := ops.Reverse(s, x, rank+axis)
		return ops.Add(s, ops.Mul(s, flips, flipped), ops.Mul(s, ops.Sub(s, ops.OnesLike(s, flips), flips), x))
	})
}
