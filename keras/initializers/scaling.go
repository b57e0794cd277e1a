package initializers

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/tensor"
)

// VarianceScaling draws values with the variance Scale/n; n is the number of a
// layer's inputs, of its outputs or their mean. The Glorot, He and LeCun
// initializers are cases of it.
type VarianceScaling struct {
	// Scale is the variance times n. Default: 1.
	Scale float64 `keras:",default=1.0"`
	// Mode determines n: FanIn, FanOut or FanAvg. Default: FanIn.
	Mode string `keras:",default=fan_in"`
	// Distribution is one of the distributions below. Default: TruncatedNormalDistribution.
	Distribution string `keras:",default=truncated_normal"`
	// Seed makes the values the same in every run. Default: they differ.
	Seed *int
}

// The modes of [VarianceScaling].
const (
	FanIn  = "fan_in"  // the inputs
	FanOut = "fan_out" // the outputs
	FanAvg = "fan_avg" // the mean of both
)

// The distributions of [VarianceScaling]; all have mean 0 and the same variance.
const (
	TruncatedNormalDistribution   = "truncated_normal"   // normal, cut at two deviations and widened again
	UntruncatedNormalDistribution = "untruncated_normal" // normal
	UniformDistribution           = "uniform"            // even between two bounds
)

// cutDeviation is the standard deviation of the standard normal distribution
// cut at two deviations.
const cutDeviation = 0.87962566103423978

// Init draws the tensor. The last dimension is the outputs, the one before it
// the inputs, all others are a kernel's window, as in Keras.
func (s VarianceScaling) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	s = config.Completed(s)
	in, out := fans(shape)
	n := in
	switch s.Mode {
	case FanIn:
	case FanOut:
		n = out
	case FanAvg:
		n = (in + out) / 2
	default:
		return nil, fmt.Errorf("initializers: VarianceScaling has no mode %q", s.Mode)
	}
	variance := s.Scale / max(n, 1)
	switch s.Distribution {
	case TruncatedNormalDistribution, "normal":
		dev := math.Sqrt(variance) / cutDeviation
		return truncated(generator(r, s.Seed), d, shape, 0, dev)
	case UntruncatedNormalDistribution:
		dev := math.Sqrt(variance)
		return normal(generator(r, s.Seed), d, shape, 0, dev)
	case UniformDistribution:
		limit := math.Sqrt(3 * variance)
		return uniform(generator(r, s.Seed), d, shape, -limit, limit)
	}
	return nil, fmt.Errorf("initializers: VarianceScaling has no distribution %q", s.Distribution)
}

// fans returns how many inputs and outputs a kernel of this shape joins.
func fans(shape tensor.Shape) (in, out float64) {
	switch len(shape) {
	case 0:
		return 1, 1
	case 1:
		return float64(shape[0]), float64(shape[0])
	}
	window := 1.0
	for _, d := range shape[:len(shape)-2] {
		window *= float64(d)
	}
	return float64(shape[len(shape)-2]) * window, float64(shape[len(shape)-1]) * window
}

// GlorotUniform is Keras' default for kernels: even within
// sqrt(6/(inputs+outputs)).
type GlorotUniform struct {
	// Seed makes the values the same in every run. Default: they differ.
	Seed *int
}

// Init draws the tensor.
func (g GlorotUniform) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	return VarianceScaling{1, FanAvg, UniformDistribution, g.Seed}.Init(r, d, shape)
}

// GlorotNormal is a truncated normal distribution with variance
// 2/(inputs+outputs).
type GlorotNormal struct {
	// Seed makes the values the same in every run. Default: they differ.
	Seed *int
}

// Init draws the tensor.
func (g GlorotNormal) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	return VarianceScaling{1, FanAvg, TruncatedNormalDistribution, g.Seed}.Init(r, d, shape)
}

// HeUniform is even within sqrt(6/inputs); it suits ReLU.
type HeUniform struct {
	// Seed makes the values the same in every run. Default: they differ.
	Seed *int
}

// Init draws the tensor.
func (h HeUniform) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	return VarianceScaling{2, FanIn, UniformDistribution, h.Seed}.Init(r, d, shape)
}

// HeNormal is a truncated normal distribution with variance 2/inputs; it suits
// ReLU.
type HeNormal struct {
	// Seed makes the values the same in every run. Default: they differ.
	Seed *int
}

// Init draws the tensor.
func (h HeNormal) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	return VarianceScaling{2, FanIn, TruncatedNormalDistribution, h.Seed}.Init(r, d, shape)
}

// LecunUniform is even within sqrt(3/inputs).
type LecunUniform struct {
	// Seed makes the values the same in every run. Default: they differ.
	Seed *int
}

// Init draws the tensor.
func (l LecunUniform) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	return VarianceScaling{1, FanIn, UniformDistribution, l.Seed}.Init(r, d, shape)
}

// LecunNormal is a truncated normal distribution with variance 1/inputs; it
// suits SELU.
type LecunNormal struct {
	// Seed makes the values the same in every run. Default: they differ.
	Seed *int
}

// Init draws the tensor.
func (l LecunNormal) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	return VarianceScaling{1, FanIn, TruncatedNormalDistribution, l.Seed}.Init(r, d, shape)
}

// Orthogonal makes a matrix with orthonormal columns (or rows, whichever are
// fewer), times a gain. A shape of more than two dimensions is made as the
// matrix in which all but the last are the rows.
type Orthogonal struct {
	// Gain is a factor on all values. Default: 1.
	Gain *float64 `keras:",default=1.0"`
	// Seed makes the values the same in every run. Default: they differ.
	Seed *int
}

// Init draws the tensor.
func (o Orthogonal) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	if len(shape) < 2 {
		return nil, fmt.Errorf("initializers: Orthogonal needs two dimensions or more, not shape %v", shape)
	}
	o = config.Completed(o)
	n, err := shape.NumElements()
	if err != nil {
		return nil, err
	}
	cols := shape[len(shape)-1]
	if n == 0 {
		return tensor.Zeros(d, shape...)
	}
	rows := n / cols
	long, short := max(rows, cols), min(rows, cols)
	a, err := normal(generator(r, o.Seed), d, tensor.Shape{long, short}, 0, 1)
	if err != nil {
		return nil, err
	}
	draws, err := a.AppendFloat64s(nil, 0, n)
	if err != nil {
		return nil, err
	}
	q := orthonormal(draws, long, short)
	i := -1
	return fill(d, shape, func() float64 {
		i++
		row, col := i/cols, i%cols
		if rows < cols {
			row, col = col, row
		}
		return *o.Gain * q[col][row]
	})
}

// orthonormal returns the columns of Q in the QR decomposition of a matrix, long rows of
// short numbers, with a positive diagonal of R. It computes in float64, so the result is near
// tf_keras's, and not its bits.
func orthonormal(a []float64, long, short int) [][]float64 {
	q := make([][]float64, 0, short)
	axis := 0
	for len(q) < short {
		v := make([]float64, long)
		for i := range v {
			v[i] = a[i*short+len(q)]
		}
		before := norm(v)
		project(v, q)
		// A column that depends on the others gets any direction that is left.
		for ; norm(v) < 1e-10*max(before, 1e-300); axis++ {
			clear(v)
			v[axis], before = 1, 1
			project(v, q)
		}
		l := norm(v)
		for i := range v {
			v[i] /= l
		}
		q = append(q, v)
	}
	return q
}

// project subtracts the parts of v along the vectors of q. Twice is enough (Kahan): the
// second pass removes the remains of rounding.
func project(v []float64, q [][]float64) {
	for range 2 {
		for _, u := range q {
			p := 0.0
			for i, x := range u {
				p += x * v[i]
			}
			for i, x := range u {
				v[i] -= p * x
			}
		}
	}
}

func norm(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x * x
	}
	return math.Sqrt(s)
}
