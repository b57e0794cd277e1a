package layers

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// Dropout sets a part of its inputs to 0 while training and divides the others by the
// remaining part, so that the mean stays. Outside of training, which is the default, it
// returns its input; see [ops.Scope.WithTraining].
type Dropout struct {
	base.Layer
	// Rate is the probability of 0, from 0 up to but not including 1.
	Rate float64
	// NoiseShape is the shape of the mask, broadcast to the input's; -1 is the input's
	// size. Default: the input's shape.
	NoiseShape base.Shape
	// Seed makes the masks the same in every run. Default: they differ.
	Seed *int
	// Random draws the masks. Keras doesn't save a dropout layer's generator, and neither
	// does this layer; to resume a run exactly, hold the generator in a field of the
	// checkpointed struct too. Default: one of Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// PassesMask marks a layer whose output has the mask of its input.
func (d *Dropout) PassesMask() {}

// Call drops elements of x in a training scope.
func (d *Dropout) Call(s *ops.Scope, x ops.Input) *ops.Value { return d.Run(s, d, x, nil) }

// Compute drops elements of x in a training scope.
func (d *Dropout) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if !(d.Rate >= 0 && d.Rate < 1) {
		return s.Fail("Dropout", fmt.Errorf("the rate is %v, want at least 0 and below 1", d.Rate))
	}
	if d.Rate == 0 || !s.Training() {
		return x
	}
	d.once.Do(func() {
		if d.Random != nil {
			return
		}
		var seed uint64
		if d.Seed != nil {
			seed = uint64(*d.Seed)
		} else {
			base.WithRand(s, func(r *rand.Rand) { seed = r.Uint64() })
		}
		d.Random = ops.NewRandom(seed)
	})
	if d.NoiseShape == nil {
		return ops.Dropout(s, d.Random, x, d.Rate)
	}
	in := x.Shape()
	if len(in) != len(d.NoiseShape) {
		return s.Fail("Dropout", fmt.Errorf("NoiseShape has %d dimensions, the input has %d", len(d.NoiseShape), len(in)))
	}
	noise := make([]ops.Input, len(in))
	for i, n := range d.NoiseShape {
		if noise[i] = []int32{int32(n)}; n < 0 {
			noise[i] = ops.StridedSlice(s, ops.Shape(s, x), ops.Span(i, i+1))
		}
	}
	ones := ops.Cast(s, s.Emit1("Fill", nil, ops.Concat(s, noise, 0), float32(1)), x.DType())
	return ops.Mul(s, x, ops.Dropout(s, d.Random, ones, d.Rate))
}
