package random

import (
	"math"

	"github.com/cairnml/cairn/internal/philox"
	"github.com/cairnml/cairn/tensor"
)

// The numbers of RandomGamma, StatelessRandomGammaV2 and
// StatelessRandomGammaV3, whose kernels are in parametric.go.

// gamma draws gamma distributed numbers by Marsaglia and Tsang's method: cubes
// of normal numbers, some of which are rejected. Numbers of shape 1 are
// logarithms. For smaller shapes it draws with one more, and multiplies by a
// power of a uniform number. All is in double precision for any element type.
// The order in which normal and uniform numbers are taken is TensorFlow's and
// must stay.
func gamma(alpha float64) sampler {
	normal, uniform := normals(tensor.Float64), uniforms(tensor.Float64)
	if alpha == 1 {
		return func(g *philox.Generator) (float64, error) {
			u := proposals{g: g, block: uniform}
			return -math.Log1p(-u.next()), nil
		}
	}
	shift := -1.0 / 3
	if alpha < 1 {
		shift = 2.0 / 3
	}
	k := alpha + shift
	c := 1.0 / 3 / math.Sqrt(k)
	return func(g *philox.Generator) (float64, error) {
		if !(alpha >= 0) {
			return math.NaN(), nil
		}
		n, u := proposals{g: g, block: normal}, proposals{g: g, block: uniform}
		for range maxTries {
			x := n.next()
			v := 1 + c*x
			if v <= 0 {
				continue
			}
			v = v * v * v
			y := u.next()
			if y < 1-0.0331*(x*x)*(x*x) || math.Log(y) < 0.5*x*x+k*(1-v+math.Log(v)) {
				if x = k * v; alpha < 1 {
					x *= math.Pow(u.next(), 1/alpha)
				}
				return x, nil
			}
		}
		return 0, errTries
	}
}
