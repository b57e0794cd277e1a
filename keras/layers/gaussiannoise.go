package layers

import (
	"fmt"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// GaussianNoise adds normal numbers of mean 0 to its inputs while training.
type GaussianNoise struct {
	base.Layer
	// StdDev is the standard deviation, 0 or more.
	StdDev float64 `keras:"stddev"`
	// Seed makes the numbers the same in every run. Default: they differ.
	Seed *int
	// Random draws the numbers; see [Dropout]. Default: a generator made from Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// PassesMask marks a layer whose output has the mask of its input.
func (d *GaussianNoise) PassesMask() {}

// MapsElements allows ragged inputs: each element is computed independently.
func (d *GaussianNoise) MapsElements() (string, error) { return "elements", nil }

// Call adds random numbers to x in a training scope.
func (d *GaussianNoise) Call(s *ops.Scope, x ops.Input) *ops.Value { return d.Run(s, d, x, nil) }

// Compute adds random numbers to x in a training scope.
func (d *GaussianNoise) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if !(d.StdDev >= 0) {
		return s.Fail("GaussianNoise", fmt.Errorf("the standard deviation is %v, want 0 or more", d.StdDev))
	}
	if d.StdDev == 0 || !s.Training() {
		return x
	}
	r := generator(s, &d.once, &d.Random, d.Seed)
	return ops.Add(s, x, ops.Mul(s, ops.RandomNormalLike(s, r, x), d.StdDev))
}
