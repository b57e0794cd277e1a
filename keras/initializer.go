package keras

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/cairnml/cairn/tensor"
)

// Initializer makes the first value of a variable. It isn't asked for one where
// a checkpoint has the value already.
//
// r is the random state of the call in which the variable is made; an
// initializer with a seed of its own leaves it alone. Any type with this method
// can initialize a layer.
type Initializer interface {
	Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error)
}

// InitializerFunc lets a function be an [Initializer].
type InitializerFunc func(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error)

// Init calls f.
func (f InitializerFunc) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	return f(r, d, shape)
}

// Zeros makes zeros.
type Zeros struct{}

// Init makes a tensor of zeros.
func (Zeros) Init(_ *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	return tensor.Zeros(d, shape...)
}

// Ones makes ones.
type Ones struct{}

// Init makes a tensor of ones.
func (Ones) Init(_ *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	return fill(d, shape, func() float64 { return 1 })
}

// Constant makes a tensor whose elements are all Value.
type Constant struct{ Value float64 }

// Init makes the tensor.
func (c Constant) Init(_ *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	return fill(d, shape, func() float64 { return c.Value })
}

// RandomUniform draws evenly from [Min, Max). NewRandomUniform has TensorFlow's
// bounds.
type RandomUniform struct {
	Min, Max float64
	Seed     uint64 // the same seed gives the same values; 0 draws from the call's random state
}

// NewRandomUniform returns a RandomUniform between -0.05 and 0.05, TensorFlow's
// bounds.
func NewRandomUniform(seed uint64) RandomUniform {
	return RandomUniform{Min: -0.05, Max: 0.05, Seed: seed}
}

// Init draws the tensor.
func (u RandomUniform) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	r = source(r, u.Seed)
	return fill(d, shape, func() float64 { return u.Min + (u.Max-u.Min)*r.Float64() })
}

// RandomNormal draws from the normal distribution. NewRandomNormal has
// TensorFlow's deviation.
type RandomNormal struct {
	Mean, StdDev float64
	Seed         uint64 // the same seed gives the same values; 0 draws from the call's random state
}

// NewRandomNormal returns a RandomNormal around 0 with standard deviation 0.05,
// TensorFlow's.
func NewRandomNormal(seed uint64) RandomNormal { return RandomNormal{StdDev: 0.05, Seed: seed} }

// Init draws the tensor.
func (n RandomNormal) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	r = source(r, n.Seed)
	return fill(d, shape, func() float64 { return n.Mean + n.StdDev*r.NormFloat64() })
}

// TruncatedNormal draws from the normal distribution and draws again what lies
// more than two standard deviations from the mean. NewTruncatedNormal has
// TensorFlow's deviation.
type TruncatedNormal struct {
	Mean, StdDev float64
	Seed         uint64 // the same seed gives the same values; 0 draws from the call's random state
}

// NewTruncatedNormal returns a TruncatedNormal around 0 with standard deviation
// 0.05, TensorFlow's.
func NewTruncatedNormal(seed uint64) TruncatedNormal {
	return TruncatedNormal{StdDev: 0.05, Seed: seed}
}

// Init draws the tensor.
func (n TruncatedNormal) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	r = source(r, n.Seed)
	return fill(d, shape, func() float64 { return n.Mean + n.StdDev*truncated(r) })
}

// Identity makes the identity matrix times a gain; only matrices can be made
// so.
type Identity struct {
	Gain float64 // what stands on the diagonal; 1 where it is 0
}

// Init makes the matrix.
func (e Identity) Init(_ *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	if len(shape) != 2 {
		return nil, fmt.Errorf("keras: Identity makes matrices, not shape %v", shape)
	}
	i, cols := -1, max(shape[1], 1)
	return fill(d, shape, func() float64 {
		if i++; i/cols == i%cols {
			return gain(e.Gain)
		}
		return 0
	})
}

func gain(g float64) float64 {
	if g == 0 {
		return 1
	}
	return g
}

// source returns r, or a source of its own for an initializer with a seed.
func source(r *rand.Rand, seed uint64) *rand.Rand {
	switch {
	case seed != 0:
		// The second word only has to be fixed: it tells these streams from
		// others that users seed with small numbers.
		return rand.New(rand.NewPCG(seed, 0x6b65726173))
	case r == nil:
		return rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	return r
}

// truncated draws from the standard normal distribution within two deviations.
func truncated(r *rand.Rand) float64 {
	for {
		if v := r.NormFloat64(); math.Abs(v) < 2 {
			return v
		}
	}
}

// fill makes a tensor of type d from next's numbers, in row-major order.
func fill(d tensor.DType, shape tensor.Shape, next func() float64) (*tensor.Tensor, error) {
	t, err := tensor.Zeros(d, shape...)
	if err != nil {
		return nil, err
	}
	switch d {
	case tensor.Float32:
		v := tensor.Values[float32](t)
		for i := range v {
			v[i] = float32(next())
		}
	case tensor.Float64:
		v := tensor.Values[float64](t)
		for i := range v {
			v[i] = next()
		}
	case tensor.Float16:
		v := tensor.Values[tensor.F16](t)
		for i := range v {
			v[i] = tensor.ToF16(float32(next()))
		}
	case tensor.BFloat16:
		v := tensor.Values[tensor.BF16](t)
		for i := range v {
			v[i] = tensor.ToBF16(float32(next()))
		}
	case tensor.Int32:
		v := tensor.Values[int32](t)
		for i := range v {
			v[i] = int32(next())
		}
	case tensor.Int64:
		v := tensor.Values[int64](t)
		for i := range v {
			v[i] = int64(next())
		}
	default:
		return nil, fmt.Errorf("keras: no initializer makes values of %v; use an InitializerFunc", d)
	}
	return t, nil
}
