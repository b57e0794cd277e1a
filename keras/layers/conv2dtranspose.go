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

// Conv2DTranspose computes the transposed convolution of images, [batch, height, width,
// channels]: the images whose convolution has this gradient. Its output is larger than
// its input if its strides are greater than 1.
type Conv2DTranspose struct {
	base.Layer
	// Filters is the number of output channels. It is required.
	Filters int
	// KernelSize is the size of the kernels, one number for all dimensions or one for each.
	// It is required.
	KernelSize []int
	// Strides are the distances between neighbouring windows of the output in pixels, as KernelSize.
	// Default: 1.
	Strides []int
	// Padding is "valid" or "same". Default: valid.
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

// Conv1DTranspose is [Conv2DTranspose] for lines, [batch, steps, channels].
type Conv1DTranspose Conv2DTranspose

func (c *Conv2DTranspose) complete(rank int) {
	convDefaults(rank, &c.KernelSize, &c.Strides, &c.DilationRate, &c.Padding)
	c.OutputPadding = forEach(rank, c.OutputPadding)
}

func (c *Conv2DTranspose) window(rank int) *window {
	return &window{rank: rank, size: c.KernelSize, strides: c.Strides, dilation: c.DilationRate, padding: c.Padding, format: c.DataFormat}
}

func (c *Conv2DTranspose) weights(rank int, in base.Shapes) ([]base.Weight, error) {
	shape, err := c.window(rank).transposeShape(in, c.Filters, c.OutputPadding)
	if err != nil {
		return nil, err
	}
	kernel := base.Weight{To: &c.Kernel, Edge: "kernel", Shape: shape,
		Init: c.KernelInitializer, Regularizer: c.KernelRegularizer, Constraint: c.KernelConstraint}
	return withBias([]base.Weight{kernel}, c.NoBias, base.Weight{To: &c.Bias,
		Init: c.BiasInitializer, Regularizer: c.BiasRegularizer, Constraint: c.BiasConstraint}, c.Filters), nil
}

// transposeShape returns the shape of the kernel of a transposed convolution, [size…, filters,
// channels], after it has checked the settings. Conv3DTranspose uses it too.
func (w *window) transposeShape(in base.Shapes, filters int, outputPadding []int) (tensor.Shape, error) {
	n, err := w.channels(in, false)
	if err == nil {
		err = w.check("valid", "same")
	}
	switch {
	case err != nil:
		return nil, err
	case filters < 1:
		return nil, fmt.Errorf("there are too few filters (got %d, want 1 or more)", filters)
	case outputPadding != nil && len(outputPadding) != w.rank:
		return nil, fmt.Errorf("the output padding is wrong (got %v, want %d numbers)", outputPadding, w.rank)
	}
	for i, n := range outputPadding {
		if n < 0 || n >= w.strides[i] {
			return nil, fmt.Errorf("the output padding is wrong (got %v, want numbers from 0 and below the strides %v)", outputPadding, w.strides)
		}
	}
	return append(slices.Clone(w.size), filters, n), nil
}

func (c *Conv2DTranspose) compute(s *ops.Scope, rank int, x *ops.Value) *ops.Value {
	w := c.window(rank)
	y := w.transpose(s, w.toLast(s, x), c.Read(s, c.Kernel), c.Filters, c.OutputPadding)
	return activate(s, c.Activation, w.fromLast(s, plusBias(s, &c.Layer, y, c.Bias)))
}

// CompleteConfig completes the sizes to one for each dimension.
func (c *Conv1DTranspose) CompleteConfig() { (*Conv2DTranspose)(c).complete(1) }

// Weights lists the layer's variables.
func (c *Conv1DTranspose) Weights(in base.Shapes) ([]base.Weight, error) {
	return (*Conv2DTranspose)(c).weights(1, in)
}

// Call returns the transposed convolution of x.
func (c *Conv1DTranspose) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// Compute returns the transposed convolution of x.
func (c *Conv1DTranspose) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return (*Conv2DTranspose)(c).compute(s, 1, x)
}

// CompleteConfig completes the sizes to one for each dimension.
func (c *Conv2DTranspose) CompleteConfig() { c.complete(2) }

// Weights lists the layer's variables.
func (c *Conv2DTranspose) Weights(in base.Shapes) ([]base.Weight, error) { return c.weights(2, in) }

// Call returns the transposed convolution of x.
func (c *Conv2DTranspose) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// Compute returns the transposed convolution of x.
func (c *Conv2DTranspose) Compute(s *ops.Scope, x *ops.Value) *ops.Value { return c.compute(s, 2, x) }
