package layers

import (
	"fmt"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// SpatialDropout3D drops whole channels of volumes while training, as
// [Dropout] drops elements.
type SpatialDropout3D struct {
	base.Layer
	// Rate is the probability of 0, from 0 up to but not including 1.
	Rate float64
	// NoiseShape is kept and does nothing, as in tf_keras. Default: none.
	NoiseShape base.Shape
	// Seed makes the masks the same in every run. Default: they differ.
	Seed *int
	// DataFormat is ChannelsLast or ChannelsFirst. It is no part of the config, as in tf_keras.
	// Default: ChannelsLast.
	DataFormat string `keras:"-"`
	// Random draws the masks; see [Dropout]. Default: one of Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// PassesMask marks a layer whose output has the mask of its input.
func (d *SpatialDropout3D) PassesMask() {}

// Call drops channels of x in a training scope.
func (d *SpatialDropout3D) Call(s *ops.Scope, x ops.Input) *ops.Value { return d.Run(s, d, x, nil) }

// Compute drops channels of x in a training scope. x has 5 dimensions.
func (d *SpatialDropout3D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	const op = "SpatialDropout3D"
	if err := checkRate(d.Rate); err != nil {
		return s.Fail(op, err)
	}
	if r := x.Fact().Shape; r.HasRank() && r.Rank() != 5 {
		return s.Fail(op, fmt.Errorf("the input has %d dimensions, want 5", r.Rank()))
	}
	if d.Rate == 0 || !s.Training() {
		return x
	}
	return dropElements(s, generator(s, &d.once, &d.Random, d.Seed), x, d.Rate, imageNoise(d.DataFormat, 3))
}
