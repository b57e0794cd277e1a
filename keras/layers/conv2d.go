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

// Conv2D convolves images, [batch, height, width, channels]. Further dimensions before the
// height count as batches too.
type Conv2D struct {
	base.Layer
	// Filters is the number of output channels. It is required.
	Filters int
	// KernelSize is the size of the kernels, one number for all dimensions or one for each.
	// It is required.
	KernelSize []int
	// Strides are the distances between neighbouring windows in pixels, as KernelSize. Default: 1.
	Strides []int
	// Padding is "valid" or "same", of [Conv1D] also "causal", zeros before the first step. Default: valid.
	Padding string `keras:",default=valid"`
	// DataFormat is ChannelsLast or ChannelsFirst. Default: ChannelsLast.
	DataFormat string `keras:",default=channels_last"`
	// DilationRate has the distances of a kernel's elements, as KernelSize. Strides and
	// DilationRate can't both be greater than 1. Default: 1.
	DilationRate []int
	// Groups is the number of groups of channels that are convolved apart. It divides the
	// numbers of channels and Filters. Default: 1.
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

	// Kernel [size…, channels/groups, filters] and Bias [filters] are nil until the layer is built.
	Kernel, Bias *trackable.Variable `cairn:"-"`
}

// Conv1D is [Conv2D] for lines, [batch, steps, channels].
type Conv1D Conv2D

// Conv3D is [Conv2D] for volumes, [batch, depth, height, width, channels].
type Conv3D Conv2D

func (c *Conv2D) complete(rank int) {
	convDefaults(rank, &c.KernelSize, &c.Strides, &c.DilationRate, &c.Padding)
}

func (c *Conv2D) window(rank int) *window {
	return &window{rank: rank, size: c.KernelSize, strides: c.Strides, dilation: c.DilationRate, padding: c.Padding, format: c.DataFormat}
}

func (c *Conv2D) weights(rank int, in base.Shapes) ([]base.Weight, error) {
	w, paddings := c.window(rank), []string{"valid", "same"}
	if rank == 1 {
		paddings = append(paddings, "causal")
	}
	n, err := w.channels(in, true)
	if err == nil {
		err = w.check(paddings...)
	}
	switch {
	case err != nil:
		return nil, err
	case c.Filters < 1 || c.Groups < 1 || c.Filters%c.Groups != 0:
		return nil, fmt.Errorf("the filters can't be divided into groups (got %d filters and %d groups)", c.Filters, c.Groups)
	case n >= 0 && n%c.Groups != 0:
		return nil, fmt.Errorf("the input's channels can't be divided into groups (got %d channels and %d groups)", n, c.Groups)
	case n >= 0:
		n /= c.Groups
	}
	kernel := base.Weight{To: &c.Kernel, Edge: "kernel", Shape: append(slices.Clone(c.KernelSize), n, c.Filters),
		Init: c.KernelInitializer, Regularizer: c.KernelRegularizer, Constraint: c.KernelConstraint}
	return withBias([]base.Weight{kernel}, c.NoBias, base.Weight{To: &c.Bias,
		Init: c.BiasInitializer, Regularizer: c.BiasRegularizer, Constraint: c.BiasConstraint}, c.Filters), nil
}

func (c *Conv2D) compute(s *ops.Scope, rank int, x *ops.Value) *ops.Value {
	w := c.window(rank)
	images, restore := w.images(s, x)
	kernel := c.Read(s, c.Kernel)
	var y *ops.Value
	if c.Groups > 1 {
		y = w.convolveGroups(s, images, kernel)
	} else {
		y = w.convolve(s, images, kernel)
	}
	y = plusBias(s, &c.Layer, y, c.Bias)
	return activate(s, c.Activation, restore(y))
}

// withBias returns the weights and a bias of n elements, unless none is set. All convolutions use it.
func withBias(list []base.Weight, none bool, bias base.Weight, n int) []base.Weight {
	if none {
		return list
	}
	bias.Edge, bias.Shape = "bias", tensor.Shape{n}
	return append(list, bias)
}

// plusBias adds a bias to images, channels last.
func plusBias(s *ops.Scope, l *base.Layer, y *ops.Value, bias *trackable.Variable) *ops.Value {
	if bias == nil {
		return y
	}
	return ops.BiasAdd(s, y, l.Read(s, bias))
}

// CompleteConfig completes the sizes to one for each dimension.
func (c *Conv1D) CompleteConfig() { (*Conv2D)(c).complete(1) }

// Weights lists the layer's variables.
func (c *Conv1D) Weights(in base.Shapes) ([]base.Weight, error) { return (*Conv2D)(c).weights(1, in) }

// Call returns the convolution of x.
func (c *Conv1D) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// Compute returns the convolution of x.
func (c *Conv1D) Compute(s *ops.Scope, x *ops.Value) *ops.Value { return (*Conv2D)(c).compute(s, 1, x) }

// CompleteConfig completes the sizes to one for each dimension.
func (c *Conv2D) CompleteConfig() { c.complete(2) }

// Weights lists the layer's variables.
func (c *Conv2D) Weights(in base.Shapes) ([]base.Weight, error) { return c.weights(2, in) }

// Call returns the convolution of x.
func (c *Conv2D) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// Compute returns the convolution of x.
func (c *Conv2D) Compute(s *ops.Scope, x *ops.Value) *ops.Value { return c.compute(s, 2, x) }

// CompleteConfig completes the sizes to one for each dimension.
func (c *Conv3D) CompleteConfig() { (*Conv2D)(c).complete(3) }

// Weights lists the layer's variables.
func (c *Conv3D) Weights(in base.Shapes) ([]base.Weight, error) { return (*Conv2D)(c).weights(3, in) }

// Call returns the convolution of x.
func (c *Conv3D) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// Compute returns the convolution of x.
func (c *Conv3D) Compute(s *ops.Scope, x *ops.Value) *ops.Value { return (*Conv2D)(c).compute(s, 3, x) }
