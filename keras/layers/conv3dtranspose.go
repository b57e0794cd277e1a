package layers

import (
	"slices"

	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// Conv3DTranspose is [Conv2DTranspose] for volumes, [batch, depth, height, width,
// channels]. It has no dilation rate.
type Conv3DTranspose struct {
	base.Layer
	// Filters is the number of output channels. It is required.
	Filters int
	// KernelSize is the size of the kernels, one number for all dimensions or one for each.
	// It is required.
	KernelSize []int
	// Strides are the distances between neighbouring windows of the output in voxels, as KernelSize.
	// Default: 1.
	Strides []int
	// Padding is "valid" or "same". Default: valid.
	Padding string `keras:",default=valid"`
	// DataFormat is ChannelsLast or ChannelsFirst. Default: ChannelsLast.
	DataFormat string `keras:",default=channels_last"`
	// Groups does nothing, as in tf_keras. Default: 1.
	Groups int `keras:",default=1"`
	// Activation is applied to the output. Default: Linear.
	Activation activations.Activation `keras:",default=linear"`
	// NoBias leaves the bias out. Default: there is one.
	NoBias bool `keras:"use_bias,not"`
	// KernelInitializer makes the first value of the kernel. Default: GlorotUniform.
	KernelInitializer initializers.Initializer `keras:",default=GlorotUniform"`
	// BiasInitializer makes the first value of the bias. Default: Zeros.
	BiasInitializer initializers.Initializer `keras:",default=Zeros"`
	// KernelRegularizer and BiasRegularizer add losses of the weights. Default: none.
	KernelRegularizer, BiasRegularizer regularizers.Regularizer
	// ActivityRegularizer adds a loss of the output. Default: none.
	ActivityRegularizer regularizers.Regularizer
	// KernelConstraint and BiasConstraint project the weights after a step. Default: none.
	KernelConstraint, BiasConstraint constraints.Constraint
	// OutputPadding are the elements that the output is longer at the end, as KernelSize,
	// each below the stride. Default: tf_keras's choice, with which the output has at least
	// the input's size times the stride.
	OutputPadding []int

	// Kernel [size…, filters, channels] and Bias [filters] are nil until the layer is built.
	Kernel, Bias *trackable.Variable `cairn:"-"`
}

// CompleteConfig completes the sizes to one for each dimension.
func (c *Conv3DTranspose) CompleteConfig() {
	convDefaults(3, &c.KernelSize, &c.Strides, new([]int), &c.Padding)
	c.OutputPadding = forEach(3, c.OutputPadding)
}

func (c *Conv3DTranspose) window() *window {
	return &window{rank: 3, size: c.KernelSize, strides: c.Strides, dilation: slices.Repeat([]int{1}, 3), padding: c.Padding, format: c.DataFormat}
}

// Weights lists the layer's variables.
func (c *Conv3DTranspose) Weights(in base.Shapes) ([]base.Weight, error) {
	shape, err := c.window().transposeShape(in, c.Filters, c.OutputPadding)
	if err != nil {
		return nil, err
	}
	kernel := base.Weight{To: &c.Kernel, Edge: "kernel", Shape: shape,
		Init: c.KernelInitializer, Regularizer: c.KernelRegularizer, Constraint: c.KernelConstraint}
	return withBias([]base.Weight{kernel}, c.NoBias, base.Weight{To: &c.Bias,
		Init: c.BiasInitializer, Regularizer: c.BiasRegularizer, Constraint: c.BiasConstraint}, c.Filters), nil
}

// Call returns the transposed convolution of x.
func (c *Conv3DTranspose) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// Compute returns the transposed convolution of x.
func (c *Conv3DTranspose) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	w := c.window()
	y := w.transpose(s, w.toLast(s, x), c.Read(s, c.Kernel), c.Filters, c.OutputPadding)
	return activate(s, c.Activation, w.fromLast(s, plusBias(s, &c.Layer, y, c.Bias)))
}
