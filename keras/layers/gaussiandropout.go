package layers

import (
	"math"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// GaussianDropout multiplies its inputs while training by normal numbers of mean 1, whose
// variance is Rate/(1-Rate).
type GaussianDropout struct {
	base.Layer
	// Rate is the probability of [Dropout] that has the same variance. Unless it is above 0 and
	// below 1, the layer returns its input, as in tf_keras.
	Rate float64
	// Seed makes the numbers the same in every run; they aren't tf_keras's for the seed.
	// Default: they differ.
	Seed *int
	// Random draws the numbers; see [Dropout]. Default: a generator made from Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// PassesMask marks a layer whose output has the mask of its input.
func (d *GaussianDropout) PassesMask() {}

// MapsElements allows ragged inputs: each element is computed independently.
func (d *GaussianDropout) MapsElements() (string, error) { return "elements", nil }

// Call multiplies x by random numbers in a training scope.
func (d *GaussianDropout) Call(s *ops.Scope, x ops.Input) *ops.Value { return d.Run(s, d, x, nil) }

// Compute multiplies x by random numbers in a training scope.
func (d *GaussianDropout) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if !dropsSome(d.Rate) || !s.Training() {
		return x
	}
	r := generator(s, &d.once, &d.Random, d.Seed)
	dev := math.Sqrt(d.Rate / (1 - d.Rate))
	return ops.Mul(s, x, ops.Add(s, ops.Mul(s, ops.RandomNormalLike(s, r, x), dev), 1.0))
}
