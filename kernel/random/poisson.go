package random

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/internal/philox"
	"github.com/cairnml/cairn/tensor"
)

// The numbers of RandomPoisson, RandomPoissonV2 and StatelessRandomPoisson,
// whose kernels are in parametric.go. The constants and the order of draws are
// those of TensorFlow's random_poisson_op.cc and must stay.

// poisson draws the number of events at a rate: a small one event by event
// (Knuth), a large one by proposals of a similar distribution (Hörmann).
func poisson(rate float64) sampler {
	uniform := uniforms(tensor.Float64)
	switch {
	case math.IsNaN(rate):
		return func(*philox.Generator) (float64, error) { return 0, fmt.Errorf("a rate that is no number") }
	case math.IsInf(rate, 1):
		return func(*philox.Generator) (float64, error) { return rate, nil }
	case rate < 10:
		none := math.Exp(-rate)
		return func(g *philox.Generator) (float64, error) {
			u := proposals{g: g, block: uniform}
			prod := 1.0
			for x := 0.0; ; x++ {
				if prod *= u.next(); prod <= none {
					return x, nil
				}
			}
		}
	}
	logRate := math.Log(rate)
	b := 0.931 + 2.53*math.Sqrt(rate)
	a := -0.059 + 0.02483*b
	inverse := 1.1239 + 1.1328/(b-3.4)
	inside := 0.9277 - 3.6224/(b-2)
	return func(g *philox.Generator) (float64, error) {
		from := proposals{g: g, block: uniform}
		for range maxTries {
			u := from.next() - 0.5
			v := from.next()
			edge := 0.5 - math.Abs(u)
			k := math.Floor((2*a/edge+b)*u + rate + 0.43)
			if edge >= 0.07 && v <= inside {
				return k, nil
			}
			if k < 0 || edge < 0.013 && v > edge {
				continue
			}
			factorial, _ := math.Lgamma(k + 1)
			if math.Log(v*inverse/(a/(edge*edge)+b)) <= -rate+k*logRate-factorial {
				return k, nil
			}
		}
		return 0, errTries
	}
}
