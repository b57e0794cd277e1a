package layers

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// RandomFourierFeatures is the layer of tf_keras.layers.experimental. It computes cos(x·UnscaledKernel/KernelScale + Bias), whose products
// approximate a kernel function of the inputs. Kernel and bias are random and stay. The scale is
// learned unless NotTrainable is set, as it is by default in tf_keras.
type RandomFourierFeatures struct {
	base.Layer
	// OutputDim is the number of features. It is required.
	OutputDim int
	// KernelInitializer is GaussianKernel, LaplacianKernel or any initializer.
	// Default: GaussianKernel.
	KernelInitializer initializers.Initializer
	// Scale is the kernel's scale, above 0. Default: the root of half the number of inputs
	// for GaussianKernel, else 1.
	Scale *float64

	// UnscaledKernel [inputs, OutputDim], Bias [OutputDim] and KernelScale [1] are nil until
	// the layer is built.
	UnscaledKernel, Bias, KernelScale *trackable.Variable `cairn:"-"`
}

// The distributions of the kernel for two kernel functions.
var (
	// GaussianKernel draws from the normal distribution.
	GaussianKernel initializers.Initializer = &kernelFunction{func(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
		return initializers.RandomNormal{StdDev: new(1.0)}.Init(r, d, shape)
	}}
	// LaplacianKernel draws from the Cauchy distribution: tf_keras's _get_cauchy_samples. It is
	// defined for float32 alone, the type of the layer's kernel.
	LaplacianKernel initializers.Initializer = &kernelFunction{func(r *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
		t, err := initializers.RandomUniform{Min: new(0.0), Max: new(1.0)}.Init(r, d, shape)
		if err != nil {
			return nil, err
		}
		if d != tensor.Float32 {
			return nil, fmt.Errorf("keras/layers: LaplacianKernel: the kernel has another type (got %v, want float32)", d)
		}
		v := tensor.Values[float32](t)
		for i, x := range v {
			v[i] = float32(math.Tan(math.Pi * (float64(x) - 0.5)))
		}
		return t, nil
	}}
)

// kernelFunction is an initializer that configs refer to by a name: "gaussian" and "laplacian",
// which classes.go declares.
type kernelFunction struct{ initializers.InitializerFunc }

// CompleteConfig sets the initializer.
func (l *RandomFourierFeatures) CompleteConfig() {
	if l.KernelInitializer == nil {
		l.KernelInitializer = GaussianKernel
	}
}

// Weights lists the kernel, the bias and the scale, which are of float32 with any policy.
func (l *RandomFourierFeatures) Weights(in base.Shapes) ([]base.Weight, error) {
	n, err := in.Last()
	switch {
	case err != nil:
		return nil, err
	case l.OutputDim < 1 || l.Scale != nil && !(*l.Scale > 0):
		return nil, fmt.Errorf("OutputDim is %d, want 1 or more, and the scale must be above 0", l.OutputDim)
	case in != nil && len(in[0]) != 2:
		return nil, fmt.Errorf("the input has the shape %v, want a matrix", in[0])
	}
	f := tensor.Float32
	return []base.Weight{
		{To: &l.UnscaledKernel, Edge: "unscaled_kernel", Shape: tensor.Shape{n, l.OutputDim}, DType: f, Init: l.KernelInitializer, NotTrainable: true},
		{To: &l.Bias, Edge: "bias", Shape: tensor.Shape{l.OutputDim}, DType: f, NotTrainable: true,
			Init: initializers.RandomUniform{Min: new(0.0), Max: new(2 * math.Pi)}},
		{To: &l.KernelScale, Edge: "kernel_scale", Shape: tensor.Shape{1}, DType: f, Constraint: constraints.NonNeg{},
			Init: initializers.Constant{Value: l.scale(n)}},
	}, nil
}

// scale returns the first value of KernelScale for a number of inputs: tf_keras's
// _get_default_scale.
func (l *RandomFourierFeatures) scale(inputs int) float64 {
	switch {
	case l.Scale != nil:
		return *l.Scale
	case l.KernelInitializer == GaussianKernel:
		return math.Sqrt(float64(max(inputs, 0)) / 2)
	}
	return 1
}

// BuildLayer keeps the scale in the config, as tf_keras does.
func (l *RandomFourierFeatures) BuildLayer(_ *ops.Scope, in base.Shapes) error {
	l.Scale = new(l.scale(in[0][1]))
	return nil
}

// Call returns the features of x.
func (l *RandomFourierFeatures) Call(s *ops.Scope, x ops.Input) *ops.Value {
	return l.Run(s, l, x, nil)
}

// Compute returns the features of x, of float32.
func (l *RandomFourierFeatures) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	kernel := ops.Mul(s, ops.Reciprocal(s, l.KernelScale), l.UnscaledKernel)
	return ops.Cos(s, ops.BiasAdd(s, ops.MatMul(s, ops.Cast(s, x, tensor.Float32), kernel), l.Bias))
}
