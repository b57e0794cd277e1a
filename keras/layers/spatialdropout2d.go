package layers

import (
	"fmt"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// SpatialDropout2D drops whole channels of images while training, as
// [Dropout] drops elements.
type SpatialDropout2D struct {
	base.Layer
	// Rate is the probability of 0, from 0 to 1. While training, it must be below 1.
	Rate float64
	// NoiseShape is kept and does nothing, as in tf_keras. Default: none.
	NoiseShape base.Shape
	// Seed makes the masks the same in every run. Default: they differ.
	Seed *int
	// DataFormat is ChannelsLast or ChannelsFirst. It is no part of the config, as in tf_keras.
	// Default: ChannelsLast.
	DataFormat string `keras:"-"`
	// Random draws the masks; see [Dropout]. Default: a generator made from Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// PassesMask marks a layer whose output has the mask of its input.
func (d *SpatialDropout2D) PassesMask() {}

// Call drops channels of x in a training scope.
func (d *SpatialDropout2D) Call(s *ops.Scope, x ops.Input) *ops.Value { return d.Run(s, d, x, nil) }

// Compute drops channels of x in a training scope. x has 4 dimensions.
func (d *SpatialDropout2D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return d.drop(s, "SpatialDropout2D", x, 2)
}

// drop sets random channels of x, which has n spatial dimensions, to 0.
func (d *SpatialDropout2D) drop(s *ops.Scope, layer string, x *ops.Value, n int) *ops.Value {
	if err := checkRate(s, d.Rate); err != nil {
		return s.Fail(layer, err)
	}
	if r := x.Fact().Shape; r.HasRank() && r.Rank() != n+2 {
		return s.Fail(layer, fmt.Errorf("the input has %d dimensions, want %d", r.Rank(), n+2))
	}
	if d.Rate == 0 || !s.Training() {
		return x
	}
	return dropElements(s, generator(s, &d.once, &d.Random, d.Seed), x, d.Rate, imageNoise(d.DataFormat, n))
}

// imageNoise returns the shape of a mask of whole channels of n spatial dimensions.
func imageNoise(format string, n int) base.Shape {
	noise := make(base.Shape, n+2)
	for i := range noise {
		noise[i] = 1
	}
	noise[0] = -1
	if format == ChannelsFirst {
		noise[1] = -1
	} else {
		noise[n+1] = -1
	}
	return noise
}
