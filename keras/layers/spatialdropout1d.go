package layers

import (
	"fmt"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// SpatialDropout1D drops whole channels of sequences [batch, time, channels] while training, as
// [Dropout] drops elements.
type SpatialDropout1D struct {
	base.Layer
	// Rate is the probability of 0, from 0 to 1. While training, it must be below 1.
	Rate float64
	// NoiseShape is kept and does nothing, as in tf_keras. Default: none.
	NoiseShape base.Shape
	// Seed makes the masks the same in every run. Default: they differ.
	Seed *int
	// Random draws the masks; see [Dropout]. Default: a generator made from Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// PassesMask marks a layer whose output has the mask of its input.
func (d *SpatialDropout1D) PassesMask() {}

// Call drops channels of x in a training scope.
func (d *SpatialDropout1D) Call(s *ops.Scope, x ops.Input) *ops.Value { return d.Run(s, d, x, nil) }

// Compute drops channels of x in a training scope. x has 3 dimensions.
func (d *SpatialDropout1D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	const op = "SpatialDropout1D"
	if err := checkRate(s, d.Rate); err != nil {
		return s.Fail(op, err)
	}
	if r := x.Fact().Shape; r.HasRank() && r.Rank() != 3 {
		return s.Fail(op, fmt.Errorf("the input has %d dimensions, want 3", r.Rank()))
	}
	if d.Rate == 0 || !s.Training() {
		return x
	}
	return dropElements(s, generator(s, &d.once, &d.Random, d.Seed), x, d.Rate, base.Shape{-1, 1, -1})
}
