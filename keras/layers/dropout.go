package layers

import (
	"errors"

	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// Dropout sets elements of its input to 0 with probability Rate while training, and divides
// the others by 1-Rate, so that the mean stays. Outside of training, which is the default, it
// returns its input; see [ops.Scope.WithTraining].
type Dropout struct {
	base.Layer
	// Rate is the probability of 0, from 0 to 1. While training, it must be below 1.
	Rate float64
	// NoiseShape is the shape of the mask, broadcast to the input's; -1 is the input's
	// size in that dimension. Default: the input's shape.
	NoiseShape base.Shape
	// Seed makes the masks the same in every run. Default: they differ.
	Seed *int
	// Random draws the masks. Keras doesn't save a dropout layer's generator, and neither
	// does this layer; to resume a run exactly, hold the generator in a field of the
	// checkpointed struct too. Default: a generator made from Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// PassesMask marks a layer whose output has the mask of its input.
func (d *Dropout) PassesMask() {}

// MapsElements allows ragged inputs: each element is computed independently.
func (d *Dropout) MapsElements() (string, error) {
	if d.NoiseShape != nil {
		return "", errors.New("the input is ragged and NoiseShape is set")
	}
	return "elements", nil
}

// Call drops elements of x in a training scope.
func (d *Dropout) Call(s *ops.Scope, x ops.Input) *ops.Value { return d.Run(s, d, x, nil) }

// Compute drops elements of x in a training scope.
func (d *Dropout) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if err := checkRate(s, d.Rate); err != nil {
		return s.Fail("Dropout", err)
	}
	if d.Rate == 0 || !s.Training() {
		return x
	}
	return dropElements(s, generator(s, &d.once, &d.Random, d.Seed), x, d.Rate, d.NoiseShape)
}
