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
	"github.com/cairnml/cairn/trackable"
)

// DepthwiseConv2D convolves each channel of images, [batch, height, width, channels], with
// separate kernels.
type DepthwiseConv2D struct {
	base.Layer
	// KernelSize is the size of the kernels, one number for all dimensions or one for each.
	// It is required.
	KernelSize []int
	// Strides are the distances between neighbouring windows in pixels, as KernelSize. Default: 1.
	Strides []int
	// Padding is "valid" or "same". Default: valid.
	Padding string `keras:",default=valid"`
	// DataFormat is ChannelsLast or ChannelsFirst. Default: ChannelsLast.
	DataFormat string `keras:",default=channels_last"`
	// DilationRate has the distances of a kernel's elements in pixels, as KernelSize. Strides and
	// DilationRate can't both be greater than 1, as in tf_keras. Default: 1.
	DilationRate []int
	// Groups does nothing, as in tf_keras. Default: 1.
	Groups int `keras:",default=1"`
	// Activation is applied to the output. Default: Linear.
	Activation activations.Activation `keras:",default=linear"`
	// NoBias leaves the bias out. Default: there is one.
	NoBias bool `keras:"use_bias,not"`
	// BiasInitializer makes the first value of the bias. Default: Zeros.
	BiasInitializer initializers.Initializer `keras:",default=Zeros"`
	// BiasRegularizer adds a loss of the bias. Default: none.
	BiasRegularizer regularizers.Regularizer
	// ActivityRegularizer adds a loss of the output. Default: none.
	ActivityRegularizer regularizers.Regularizer
	// BiasConstraint projects the bias after a step. Default: none.
	BiasConstraint constraints.Constraint
	// DepthMultiplier is the number of outputs of each channel. Default: 1.
	DepthMultiplier int `keras:",default=1"`
	// DepthwiseInitializer makes the first value of the kernel. Default: GlorotUniform.
	DepthwiseInitializer initializers.Initializer `keras:",default=GlorotUniform"`
	// DepthwiseRegularizer adds a loss of the kernel. Default: none.
	DepthwiseRegularizer regularizers.Regularizer
	// DepthwiseConstraint projects the kernel after a step. Default: none.
	DepthwiseConstraint constraints.Constraint

	// DepthwiseKernel [size…, channels, multiplier] and Bias [channels·multiplier] are nil
	// until the layer is built. Bias stays nil with NoBias. Weights declares their edges, so the
	// tag excludes the fields from the edges.
	DepthwiseKernel, Bias *trackable.Variable `cairn:"-"`
}

// DepthwiseConv1D is [DepthwiseConv2D] for lines, [batch, steps, channels].
type DepthwiseConv1D DepthwiseConv2D

func (c *DepthwiseConv2D) complete(rank int) {
	convDefaults(rank, &c.KernelSize, &c.Strides, &c.DilationRate, &c.Padding)
}

func (c *DepthwiseConv2D) window(rank int) *window {
	return &window{rank: rank, size: c.KernelSize, strides: c.Strides, dilation: c.DilationRate, padding: c.Padding, format: c.DataFormat}
}

func (c *DepthwiseConv2D) weights(rank int, in base.Shapes) ([]base.Weight, error) {
	w := c.window(rank)
	n, err := w.channels(in, false)
	if err == nil {
		err = w.check("valid", "same")
	}
	switch {
	case err != nil:
		return nil, err
	case c.DepthMultiplier < 1 || c.DepthMultiplier > maxSize:
		return nil, fmt.Errorf("the depth multiplier is out of range (got %d, want 1 to %d)", c.DepthMultiplier, maxSize)
	}
	kernel := base.Weight{To: &c.DepthwiseKernel, Edge: "depthwise_kernel", Shape: append(slices.Clone(c.KernelSize), n, c.DepthMultiplier),
		Init: c.DepthwiseInitializer, Regularizer: c.DepthwiseRegularizer, Constraint: c.DepthwiseConstraint}
	if n > 0 {
		n *= c.DepthMultiplier
	}
	return withBias([]base.Weight{kernel}, c.NoBias, base.Weight{To: &c.Bias,
		Init: c.BiasInitializer, Regularizer: c.BiasRegularizer, Constraint: c.BiasConstraint}, n), nil
}

func (c *DepthwiseConv2D) compute(s *ops.Scope, rank int, x *ops.Value) *ops.Value {
	w := c.window(rank)
	y := w.depthwise(s, w.toLast(s, x), c.Read(s, c.DepthwiseKernel))
	return activate(s, c.Activation, w.fromLast(s, plusBias(s, &c.Layer, y, c.Bias)))
}

// CompleteConfig completes the sizes to one for each dimension.
func (c *DepthwiseConv1D) CompleteConfig() { (*DepthwiseConv2D)(c).complete(1) }

// Weights lists the layer's variables.
func (c *DepthwiseConv1D) Weights(in base.Shapes) ([]base.Weight, error) {
	return (*DepthwiseConv2D)(c).weights(1, in)
}

// Call returns the convolution of x.
func (c *DepthwiseConv1D) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// Compute returns the convolution of x.
func (c *DepthwiseConv1D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return (*DepthwiseConv2D)(c).compute(s, 1, x)
}

// CompleteConfig completes the sizes to one for each dimension.
func (c *DepthwiseConv2D) CompleteConfig() { c.complete(2) }

// Weights lists the layer's variables.
func (c *DepthwiseConv2D) Weights(in base.Shapes) ([]base.Weight, error) { return c.weights(2, in) }

// Call returns the convolution of x.
func (c *DepthwiseConv2D) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// Compute returns the convolution of x.
func (c *DepthwiseConv2D) Compute(s *ops.Scope, x *ops.Value) *ops.Value { return c.compute(s, 2, x) }
