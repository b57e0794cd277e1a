// Package initializers has the initializers of Keras: they make the first values of
// variables.
//
// The numbers are those of tf_keras's initializers with the same seed: of TensorFlow's
// stateless ops, for the seed and 0.
package initializers

import (
	"fmt"
	"math/rand/v2"

	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/tensor"
)

// Initializer makes the first value of a variable. It isn't asked for one if a
// checkpoint has the value already.
//
// r is the random state of the call in which the variable is made; an
// initializer with its own seed doesn't use it. Any type with this method can
// initialize a layer.
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

// TensorFlowConstant is [Constant] as tf.constant_initializer makes it: its config names
// TensorFlow's module. The classifiers of EfficientNetV2 have it.
type TensorFlowConstant struct{ Value float64 }

// Init makes the tensor.
func (c TensorFlowConstant) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	return Constant(c).Init(r, d, shape)
}

// RandomUniform draws evenly from [Min, Max).
type RandomUniform struct {
	// Min is the smallest value. Default: -0.05.
	Min *float64 `keras:"minval,default=-0.05"`
	// Max is the end of the range. Default: 0.05.
	Max *float64 `keras:"maxval,default=0.05"`
	// Seed makes the values the same in every run. Default: they differ.
	Seed *int
}

// Init draws the tensor.
func (u RandomUniform) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	u = config.Completed(u)
	return uniform(generator(r, u.Seed), d, shape, *u.Min, *u.Max)
}

// RandomNormal draws from the normal distribution.
type RandomNormal struct {
	// Mean is the mean. Default: 0.
	Mean float64
	// StdDev is the standard deviation. Default: 0.05.
	StdDev *float64 `keras:"stddev,default=0.05"`
	// Seed makes the values the same in every run. Default: they differ.
	Seed *int
}

// Init draws the tensor.
func (n RandomNormal) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	n = config.Completed(n)
	return normal(generator(r, n.Seed), d, shape, n.Mean, *n.StdDev)
}

// TruncatedNormal draws from the normal distribution, and again if a value is more
// than two standard deviations from the mean.
type TruncatedNormal struct {
	// Mean is the mean before the cut. Default: 0.
	Mean float64
	// StdDev is the standard deviation before the cut. Default: 0.05.
	StdDev *float64 `keras:"stddev,default=0.05"`
	// Seed makes the values the same in every run. Default: they differ.
	Seed *int
}

// Init draws the tensor.
func (n TruncatedNormal) Init(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	n = config.Completed(n)
	return truncated(generator(r, n.Seed), d, shape, n.Mean, *n.StdDev)
}

// Identity makes the identity matrix times a gain; only matrices can be made
// so.
type Identity struct {
	// Gain is the value of the diagonal. Default: 1.
	Gain *float64 `keras:",default=1.0"`
}

// Init makes the matrix.
func (e Identity) Init(_ *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	if len(shape) != 2 {
		return nil, fmt.Errorf("initializers: Identity makes matrices, not shape %v", shape)
	}
	e = config.Completed(e)
	i, cols := -1, max(shape[1], 1)
	return fill(d, shape, func() float64 {
		if i++; i/cols == i%cols {
			return *e.Gain
		}
		return 0
	})
}

func errRange(lo, hi int64) error {
	return fmt.Errorf("initializers: there is nothing from %d up to %d", lo, hi)
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
		return nil, errType(d)
	}
	return t, nil
}

func errType(d tensor.DType) error {
	return fmt.Errorf("initializers: no initializer makes values of %v; use an InitializerFunc", d)
}
