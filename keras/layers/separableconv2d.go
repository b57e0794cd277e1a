package layers

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// SeparableConv2D convolves each channel of images, [batch, height, width, channels], with
// separate kernels, and mixes the results at each place.
type SeparableConv2D struct {
	base.Layer
	// Filters is the number of output channels. It is required.
	Filters int
	// KernelSize is the size of the kernels, one number for all dimensions or one for each.
	// It is required.
	KernelSize []int
	// Strides are the distances between neighbouring windows in pixels, as KernelSize. Default: 1.
	Strides []int
	// Padding is "valid" or "same", of [SeparableConv1D] also "causal", zeros before the first step. Default: valid.
	Padding string `keras:",default=valid"`
	// DataFormat is ChannelsLast or ChannelsFirst. Default: ChannelsLast.
	DataFormat string `keras:",default=channels_last"`
	// DilationRate has the distances of a kernel's elements, as KernelSize. Strides and
	// DilationRate can't both be greater than 1. Default: 1.
	DilationRate []int
	// Groups does nothing, as in tf_keras. Default: 1.
	Groups int `keras:",default=1"`
	// Activation is applied to the output. Default: Linear.
	Activation activations.Activation `keras:",default=linear"`
	// NoBias leaves the bias out. Default: there is one.
	NoBias bool `keras:"use_bias,not"`
	// KernelInitializer does nothing, as in tf_keras. Default: GlorotUniform.
	KernelInitializer initializers.Initializer `keras:",default=GlorotUniform"`
	// BiasInitializer makes the first value of the bias. Default: Zeros.
	BiasInitializer initializers.Initializer `keras:",default=Zeros"`
	// KernelRegularizer does nothing, as in tf_keras. BiasRegularizer adds a loss of the
	// bias. Default: none.
	KernelRegularizer, BiasRegularizer regularizers.Regularizer
	// ActivityRegularizer adds a loss of the output. Default: none.
	ActivityRegularizer regularizers.Regularizer
	// KernelConstraint does nothing, as in tf_keras. BiasConstraint projects the bias after
	// a step. Default: none.
	KernelConstraint, BiasConstraint constraints.Constraint
	// DepthMultiplier is the number of results of each channel. Default: 1.
	DepthMultiplier int `keras:",default=1"`
	// DepthwiseInitializer makes the first value of the kernel of the channels.
	// Default: GlorotUniform.
	DepthwiseInitializer initializers.Initializer `keras:",default=GlorotUniform"`
	// PointwiseInitializer makes the first value of the kernel that mixes.
	// Default: GlorotUniform.
	PointwiseInitializer initializers.Initializer `keras:",default=GlorotUniform"`
	// DepthwiseRegularizer and PointwiseRegularizer add losses of the kernels. Default: none.
	DepthwiseRegularizer, PointwiseRegularizer regularizers.Regularizer
	// DepthwiseConstraint and PointwiseConstraint project the kernels after a step.
	// Default: none.
	DepthwiseConstraint, PointwiseConstraint constraints.Constraint

	// DepthwiseKernel [size…, channels, multiplier], PointwiseKernel
	// [1…, channels·multiplier, filters] and Bias [filters] are nil until the layer is built.
	DepthwiseKernel, PointwiseKernel, Bias *trackable.Variable `cairn:"-"`
}

// SeparableConv1D is [SeparableConv2D] for lines, [batch, steps, channels].
type SeparableConv1D SeparableConv2D

func (c *SeparableConv2D) complete(rank int) {
	convDefaults(rank, &c.KernelSize, &c.Strides, &c.DilationRate, &c.Padding)
}

func (c *SeparableConv2D) window(rank int) *window {
	return &window{rank: rank, size: c.KernelSize, strides: c.Strides, dilation: c.DilationRate, padding: c.Padding, format: c.DataFormat}
}

func (c *SeparableConv2D) weights(rank int, in base.Shapes) ([]base.Weight, error) {
	w, paddings := c.window(rank), []string{"valid", "same"}
	if rank == 1 {
		paddings = append(paddings, "causal")
	}
	n, err := w.channels(in, false)
	if err == nil {
		err = w.check(paddings...)
	}
	switch {
	case err != nil:
		return nil, err
	case c.Filters < 1:
		return nil, fmt.Errorf("there are too few filters (got %d, want 1 or more)", c.Filters)
	case c.DepthMultiplier < 1 || c.DepthMultiplier > maxSize:
		return nil, fmt.Errorf("the depth multiplier is out of range (got %d, want 1 to %d)", c.DepthMultiplier, maxSize)
	}
	depthwise := base.Weight{To: &c.DepthwiseKernel, Edge: "depthwise_kernel", Shape: append(slices.Clone(c.KernelSize), n, c.DepthMultiplier),
		Init: c.DepthwiseInitializer, Regularizer: c.DepthwiseRegularizer, Constraint: c.DepthwiseConstraint}
	if n > 0 {
		n *= c.DepthMultiplier
	}
	pointwise := base.Weight{To: &c.PointwiseKernel, Edge: "pointwise_kernel", Shape: append(slices.Repeat(tensor.Shape{1}, rank), n, c.Filters),
		Init: c.PointwiseInitializer, Regularizer: c.PointwiseRegularizer, Constraint: c.PointwiseConstraint}
	return withBias([]base.Weight{depthwise, pointwise}, c.NoBias, base.Weight{To: &c.Bias,
		Init: c.BiasInitializer, Regularizer: c.BiasRegularizer, Constraint: c.BiasConstraint}, c.Filters), nil
}

func (c *SeparableConv2D) compute(s *ops.Scope, rank int, x *ops.Value) *ops.Value {
	w := c.window(rank)
	y := w.depthwise(s, w.toLast(s, x), c.Read(s, c.DepthwiseKernel))
	ones := slices.Repeat([]int{1}, rank)
	point := &window{rank: rank, size: ones, strides: ones, dilation: ones, padding: "valid", format: ChannelsLast}
	y = plusBias(s, &c.Layer, point.convolve(s, y, c.Read(s, c.PointwiseKernel)), c.Bias)
	return activate(s, c.Activation, w.fromLast(s, y))
}

// CompleteConfig completes the sizes to one for each dimension.
func (c *SeparableConv1D) CompleteConfig() { (*SeparableConv2D)(c).complete(1) }

// Weights lists the layer's variables.
func (c *SeparableConv1D) Weights(in base.Shapes) ([]base.Weight, error) {
	return (*SeparableConv2D)(c).weights(1, in)
}

// Call returns the convolution of x.
func (c *SeparableConv1D) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// Compute returns the convolution of x.
func (c *SeparableConv1D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return (*SeparableConv2D)(c).compute(s, 1, x)
}

// CompleteConfig completes the sizes to one for each dimension.
func (c *SeparableConv2D) CompleteConfig() { c.complete(2) }

// Weights lists the layer's variables.
func (c *SeparableConv2D) Weights(in base.Shapes) ([]base.Weight, error) { return c.weights(2, in) }

// Call returns the convolution of x.
func (c *SeparableConv2D) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// Compute returns the convolution of x.
func (c *SeparableConv2D) Compute(s *ops.Scope, x *ops.Value) *ops.Value { return c.compute(s, 2, x) }
