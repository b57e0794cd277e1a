package layers

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// generator sets *random once, if the caller left it nil, to a generator of the seed, and
// returns it. seed is nil for a seed from the scope. The dropout and noise layers draw from it. Their
// numbers aren't tf_keras's, see docs/differences.md; those of image layers are, from imageGenerator.
func generator(s *ops.Scope, once *sync.Once, random **ops.Random, seed *int) *ops.Random {
	once.Do(func() {
		if *random != nil {
			return
		}
		var n uint64
		if seed != nil {
			n = uint64(*seed)
		} else {
			base.WithRand(s, func(r *rand.Rand) { n = r.Uint64() })
		}
		*random = ops.NewRandom(n)
	})
	return *random
}

// checkRate returns an error unless rate is a probability of dropping. While training, that must
// be below 1.
func checkRate(s *ops.Scope, rate float64) error {
	switch {
	case !(rate >= 0 && rate <= 1):
		return fmt.Errorf("the rate is %v, want 0 to 1", rate)
	case rate == 1 && s.Training():
		return fmt.Errorf("the rate is %v, want at least 0 and below 1 while training", rate)
	}
	return nil
}

// dropsSome reports whether a rate is above 0 and below 1. In tf_keras another rate turns
// AlphaDropout and GaussianDropout off.
func dropsSome(rate float64) bool { return rate > 0 && rate < 1 }

// onesLike returns ones of the type of x and of a shape that broadcasts to x's: noise, in
// which -1 is the input's size in that dimension, or x's shape if noise is nil.
func onesLike(s *ops.Scope, x *ops.Value, noise base.Shape) *ops.Value {
	if noise == nil {
		return ops.OnesLike(s, x)
	}
	in := x.Fact().Shape
	if in.HasRank() && in.Rank() != len(noise) {
		return s.Fail("Dropout", fmt.Errorf("NoiseShape has %d dimensions, the input has %d", len(noise), in.Rank()))
	}
	sizes := make([]ops.Input, len(noise))
	for i, n := range noise {
		if sizes[i] = []int32{int32(n)}; n < 0 {
			sizes[i] = ops.StridedSlice(s, ops.Shape(s, x), ops.Span(i, i+1))
		}
	}
	return ops.Cast(s, s.Emit1("Fill", nil, ops.Concat(s, sizes, 0), float32(1)), x.DType())
}

// dropElements sets elements of x to 0 with probability rate and divides the others by 1-rate. All
// elements that share one of noise are dropped together.
func dropElements(s *ops.Scope, r *ops.Random, x *ops.Value, rate float64, noise base.Shape) *ops.Value {
	if noise == nil {
		return ops.Dropout(s, r, x, rate)
	}
	draws := ops.RandomUniformLike(s, r, onesLike(s, x, noise))
	return ops.Where(s, ops.GreaterEqual(s, draws, rate), ops.Mul(s, x, 1/(1-rate)), 0)
}
