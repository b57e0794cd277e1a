package layers

import (
	"math"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// AlphaDropout is a [Dropout] for layers with the activation selu: it keeps mean and
// variance by setting dropped elements to selu's smallest value, and scaling
// and shifting the result.
type AlphaDropout struct {
	base.Layer
	// Rate is the probability of dropping an element. Unless it is above 0 and below 1, the layer
	// returns its input, as in tf_keras.
	Rate float64
	// NoiseShape is the shape of the mask, broadcast to the input's; -1 is the input's
	// size in that dimension. It is no part of the config, as in tf_keras. Default: the input's shape.
	NoiseShape base.Shape `keras:"-"`
	// Seed makes the numbers the same in every run. Default: they differ.
	Seed *int
	// Random draws the numbers; see [Dropout]. Default: a generator made from Seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// PassesMask marks a layer whose output has the mask of its input.
func (d *AlphaDropout) PassesMask() {}

// Call drops elements of x in a training scope.
func (d *AlphaDropout) Call(s *ops.Scope, x ops.Input) *ops.Value { return d.Run(s, d, x, nil) }

// Compute drops elements of x in a training scope.
func (d *AlphaDropout) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if !dropsSome(d.Rate) || !s.Training() {
		return x
	}
	r := generator(s, &d.once, &d.Random, d.Seed)
	const least = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946 // of selu
	draws := ops.RandomUniformLike(s, r, onesLike(s, x, d.NoiseShape))
	kept := ops.Cast(s, ops.GreaterEqual(s, draws, d.Rate), x.DType())
	a := 1 / math.Sqrt((1-d.Rate)*(1+d.Rate*least*least))
	y := ops.Add(s, ops.Mul(s, x, kept), ops.Mul(s, ops.Sub(s, 1.0, kept), least))
	return ops.Add(s, ops.Mul(s, y, a), -a*least*d.Rate)
}
