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

// ConvLSTMCell computes one step of [ConvLSTM1D], [ConvLSTM2D] and [ConvLSTM3D]. Its states
// are the output and the carry. tf_keras has no configs of such cells by themselves.
type ConvLSTMCell struct {
	base.Layer
	noise
	// Rank is the number of spatial dimensions, from 1 to 3. It is required.
	Rank int `keras:"-"`
	// Filters is the number of output channels. It is required.
	Filters int
	// KernelSize is the size of the kernels, one number for all dimensions or one for each.
	// It is required.
	KernelSize []int
	// Strides are the steps of the convolution of the inputs, as KernelSize. Default: 1.
	Strides []int
	// Padding is "valid" or "same", for the convolution of the inputs. Default: valid.
	Padding string `keras:",default=valid"`
	// DataFormat is ChannelsLast or ChannelsFirst. Default: ChannelsLast.
	DataFormat string `keras:",default=channels_last"`
	// DilationRate has the distances of a kernel's elements, as KernelSize, for the convolution
	// of the inputs. Default: 1.
	DilationRate []int
	// Activation is applied to the candidate and the carry. Default: Tanh.
	Activation activations.Activation `keras:",default=tanh"`
	// RecurrentActivation is applied to the gates. Default: HardSigmoid.
	RecurrentActivation activations.Activation `keras:",default=hard_sigmoid"`
	// NoBias leaves the bias out. Default: there is one.
	NoBias bool `keras:"use_bias,not"`
	// KernelInitializer makes the first value of the kernel for the inputs. Default: GlorotUniform.
	KernelInitializer initializers.Initializer `keras:",default=GlorotUniform"`
	// RecurrentInitializer makes the first value of the kernel for the states. Default: Orthogonal.
	RecurrentInitializer initializers.Initializer `keras:",default=Orthogonal"`
	// BiasInitializer makes the first value of the bias. Default: Zeros.
	BiasInitializer initializers.Initializer `keras:",default=Zeros"`
	// NoUnitForgetBias leaves the forget gate's bias at BiasInitializer's value. Default: it begins at 1.
	NoUnitForgetBias bool `keras:"unit_forget_bias,not"`
	// KernelRegularizer, RecurrentRegularizer and BiasRegularizer add losses of the weights. Default: none.
	KernelRegularizer, RecurrentRegularizer, BiasRegularizer regularizers.Regularizer
	// KernelConstraint, RecurrentConstraint and BiasConstraint project the weights after a step. Default: none.
	KernelConstraint, RecurrentConstraint, BiasConstraint constraints.Constraint
	// Dropout and RecurrentDropout are the parts of the inputs and of the states that are
	// dropped while training. All steps of a call drop the same. Default: 0.
	Dropout, RecurrentDropout float64

	// Kernel [size…, channels, 4·filters], RecurrentKernel [size…, filters, 4·filters] and
	// Bias [4·filters] are nil until the cell is built.
	Kernel, RecurrentKernel, Bias *trackable.Variable `cairn:"-"`
}

// CompleteConfig completes the sizes to one for each dimension.
func (c *ConvLSTMCell) CompleteConfig() {
	convDefaults(c.Rank, &c.KernelSize, &c.Strides, &c.DilationRate, &c.Padding)
	fraction(&c.Dropout)
	fraction(&c.RecurrentDropout)
}

// window describes the convolution of the inputs, or that of the states.
func (c *ConvLSTMCell) window(inputs bool) *window {
	w := &window{rank: c.Rank, size: c.KernelSize, strides: c.Strides, dilation: c.DilationRate, padding: c.Padding, format: c.DataFormat}
	if !inputs {
		w.strides, w.dilation, w.padding = slices.Repeat([]int{1}, c.Rank), slices.Repeat([]int{1}, c.Rank), "same"
	}
	return w
}

// channelAxis returns the dimension of the channels in the input of one step.
func (c *ConvLSTMCell) channelAxis() int { return c.window(true).channelAxis() }

// check returns an error for wrong settings.
func (c *ConvLSTMCell) check() error {
	switch {
	case c.Rank < 1 || c.Rank > 3:
		return fmt.Errorf("the rank is %d, want 1 to 3", c.Rank)
	case c.Filters < 1:
		return fmt.Errorf("there are too few filters (got %d, want 1 or more)", c.Filters)
	case c.Filters > mostUnits:
		return fmt.Errorf("there are too many filters (got %d, want at most %d)", c.Filters, mostUnits)
	}
	return c.window(true).check("valid", "same")
}

// Weights lists kernels and bias.
func (c *ConvLSTMCell) Weights(in base.Shapes) ([]base.Weight, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	n, err := c.window(true).channels(in, false)
	if err != nil {
		return nil, err
	}
	shape := func(n int) tensor.Shape { return append(slices.Clone(c.KernelSize), n, 4*c.Filters) }
	list := []base.Weight{
		{To: &c.Kernel, Edge: "kernel", Shape: shape(n),
			Init: c.KernelInitializer, Regularizer: c.KernelRegularizer, Constraint: c.KernelConstraint},
		{To: &c.RecurrentKernel, Edge: "recurrent_kernel", Shape: shape(c.Filters),
			Init: c.RecurrentInitializer, Regularizer: c.RecurrentRegularizer, Constraint: c.RecurrentConstraint},
	}
	if c.NoBias {
		return list, nil
	}
	bias := base.Weight{To: &c.Bias, Edge: "bias", Shape: tensor.Shape{4 * c.Filters},
		Init: c.BiasInitializer, Regularizer: c.BiasRegularizer, Constraint: c.BiasConstraint}
	if !c.NoUnitForgetBias {
		bias.Init = forgetBias{c.BiasInitializer}
	}
	return append(list, bias), nil
}

// StateShapes returns the shapes of the output and of the carry.
func (c *ConvLSTMCell) StateShapes(in tensor.Shape) []tensor.Shape {
	first := 1
	if c.DataFormat == ChannelsFirst {
		first = 2
	}
	shape := make(tensor.Shape, c.Rank)
	for i := range shape {
		shape[i] = -1
		if len(in) != c.Rank+2 || in[first+i] < 0 {
			continue
		}
		shape[i] = c.window(true).outputSize(i, in[first+i])
	}
	if c.DataFormat == ChannelsFirst {
		shape = append(tensor.Shape{c.Filters}, shape...)
	} else {
		shape = append(shape, c.Filters)
	}
	return []tensor.Shape{shape, shape}
}

// zeroStates returns zeros of the shape that the convolution of x has.
func (c *ConvLSTMCell) zeroStates(s *ops.Scope, x *ops.Value) []*ops.Value {
	shape := c.StateShapes(x.Shape())[0]
	if shape.Known() {
		zero := zerosFor(s, x, shape)
		return []*ops.Value{zero, zero}
	}
	n := x.Fact().Shape.Dim(c.channelAxis())
	if n < 0 {
		s.Fail("ConvLSTMCell", fmt.Errorf("the number of channels must be known (got shape %v, %s)", x.Fact().Shape, c.DataFormat))
		return []*ops.Value{x, x}
	}
	kernel := ops.Zeros(s, x.DType(), append(slices.Clone(c.KernelSize), n, c.Filters)...)
	zero := c.convolve(s, ops.ZerosLike(s, x), kernel, true)
	return []*ops.Value{zero, zero}
}

// convolve returns the convolution of images with a kernel: with the settings of the
// inputs, or with those of the states.
func (c *ConvLSTMCell) convolve(s *ops.Scope, x *ops.Value, kernel ops.Input, inputs bool) *ops.Value {
	w := c.window(inputs)
	return w.fromLast(s, w.convolve(s, w.toLast(s, x), kernel))
}

// gates returns the convolutions of x for the four gates, in the dimension of the channels; with
// masks each is that of x times its mask. The order is input, forget, candidate, output, as in the
// kernels of tf_keras's ConvLSTMCell.
func (c *ConvLSTMCell) gates(s *ops.Scope, x *ops.Value, masks []*ops.Value, kernel ops.Input, inputs bool) *ops.Value {
	if masks == nil {
		return c.convolve(s, x, kernel, inputs)
	}
	parts := ops.Split(s, kernel, 4, c.Rank+1)
	for i := range parts {
		parts[i] = c.convolve(s, ops.Mul(s, x, masks[i]), parts[i], inputs)
	}
	return ops.Concat(s, parts, c.channelAxis())
}

// Call returns the output of one step from states of zeros.
func (c *ConvLSTMCell) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// ComputeAll computes one step from the states in the argument "states", by default zeros.
// It returns the output and the new states.
func (c *ConvLSTMCell) ComputeAll(s *ops.Scope, i *base.Invocation) []*ops.Value {
	return stepOnce(s, c, i)
}

// Begin returns the function that computes one step.
func (c *ConvLSTMCell) Begin(s *ops.Scope, call *CellCall) Step {
	masks := c.inputMasks(s, call)
	in, step := c.inputs(s, masks), c.step(s, call)
	return func(s *ops.Scope, x *ops.Value, states []*ops.Value) (*ops.Value, []*ops.Value) {
		return step(s, in(s, x), states)
	}
}

// inputMasks draws the masks of dropout for the inputs.
func (c *ConvLSTMCell) inputMasks(s *ops.Scope, call *CellCall) []*ops.Value {
	return gateMasks(s, &c.noise, call, c.Dropout, 1, 4)
}

// project computes the convolutions of all inputs at once, as one larger batch.
func (c *ConvLSTMCell) project(s *ops.Scope, call *CellCall, xs *ops.Value) (*ops.Value, Step) {
	masks := c.inputMasks(s, call)
	if masks != nil { // they are for one step's batch
		in, step := c.inputs(s, masks), c.step(s, call)
		return xs, func(s *ops.Scope, x *ops.Value, states []*ops.Value) (*ops.Value, []*ops.Value) {
			return step(s, in(s, x), states)
		}
	}
	y := c.inputs(s, nil)(s, joinTime(s, xs))
	return splitTime(s, y, xs), c.step(s, call)
}

// inputs returns a function that computes the convolutions of the inputs and adds the bias.
func (c *ConvLSTMCell) inputs(s *ops.Scope, masks []*ops.Value) func(s *ops.Scope, x *ops.Value) *ops.Value {
	kernel := c.Read(s, c.Kernel)
	if c.NoBias {
		return func(s *ops.Scope, x *ops.Value) *ops.Value { return c.gates(s, x, masks, kernel, true) }
	}
	bias := ops.Const(s, c.Read(s, c.Bias))
	if c.DataFormat == ChannelsFirst {
		bias = ops.Reshape(s, bias, append([]int{4 * c.Filters}, slices.Repeat([]int{1}, c.Rank)...)...)
	}
	return func(s *ops.Scope, x *ops.Value) *ops.Value {
		return ops.Add(s, c.gates(s, x, masks, kernel, true), bias)
	}
}

// step returns the function that computes one step from the results of inputs.
func (c *ConvLSTMCell) step(s *ops.Scope, call *CellCall) Step {
	masks := stateMasks(s, &c.noise, call, c.RecurrentDropout, 4)
	kernel := c.Read(s, c.RecurrentKernel)
	return func(s *ops.Scope, x *ops.Value, states []*ops.Value) (*ops.Value, []*ops.Value) {
		z := ops.Add(s, x, c.gates(s, states[0], masks, kernel, false))
		return lstmGates(s, z, c.channelAxis(), states[1], c.Activation, c.RecurrentActivation)
	}
}
