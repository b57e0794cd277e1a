package layers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// LSTMCell computes one step of [LSTM]. Its states are the output and the carry.
type LSTMCell struct {
	base.Layer
	noise
	// Units is the number of outputs. It is required.
	Units int
	// Activation is applied to the candidate and the carry. Default: Tanh.
	Activation activations.Activation `keras:",default=tanh"`
	// RecurrentActivation is applied to the gates. Default: Sigmoid.
	RecurrentActivation activations.Activation `keras:",default=sigmoid"`
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
	// Implementation is 1 for a mask of dropout for each gate, or 2 for one mask for all
	// gates. Default: 2, and 1 with RecurrentDropout.
	Implementation int `keras:",default=2"`
	// EnableCachingDevice is a setting of TensorFlow's devices. It is kept, and does nothing.
	EnableCachingDevice *bool `keras:",omitempty"`

	// Kernel [features, 4·units], RecurrentKernel [units, 4·units] and Bias [4·units]
	// are nil until the cell is built.
	Kernel, RecurrentKernel, Bias *trackable.Variable `cairn:"-"`
}

// CompleteConfig limits the rates of dropout to [0, 1], and chooses the implementation.
func (c *LSTMCell) CompleteConfig() {
	fraction(&c.Dropout)
	fraction(&c.RecurrentDropout)
	if c.RecurrentDropout != 0 {
		c.Implementation = 1
	}
}

// Weights lists kernels and bias.
func (c *LSTMCell) Weights(in base.Shapes) ([]base.Weight, error) {
	n, err := in.Last()
	switch {
	case err != nil:
		return nil, err
	case c.Units < 1:
		return nil, fmt.Errorf("there are too few units (got %d, want 1 or more)", c.Units)
	case c.Units > mostUnits:
		return nil, fmt.Errorf("there are too many units (got %d, want at most %d)", c.Units, mostUnits)
	}
	list := []base.Weight{
		{To: &c.Kernel, Edge: "kernel", Shape: tensor.Shape{n, 4 * c.Units},
			Init: c.KernelInitializer, Regularizer: c.KernelRegularizer, Constraint: c.KernelConstraint},
		{To: &c.RecurrentKernel, Edge: "recurrent_kernel", Shape: tensor.Shape{c.Units, 4 * c.Units},
			Init: c.RecurrentInitializer, Regularizer: c.RecurrentRegularizer, Constraint: c.RecurrentConstraint},
	}
	if c.NoBias {
		return list, nil
	}
	bias := base.Weight{To: &c.Bias, Edge: "bias", Shape: tensor.Shape{4 * c.Units},
		Init: c.BiasInitializer, Regularizer: c.BiasRegularizer, Constraint: c.BiasConstraint}
	if !c.NoUnitForgetBias {
		bias.Init = forgetBias{c.BiasInitializer}
	}
	return append(list, bias), nil
}

// StateShapes returns the shapes of the output and of the carry.
func (c *LSTMCell) StateShapes(tensor.Shape) []tensor.Shape {
	return []tensor.Shape{{c.Units}, {c.Units}}
}

// Call returns the output of one step from states of zeros.
func (c *LSTMCell) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// ComputeAll computes one step from the states in the argument "states", by default zeros.
// It returns the output and the new states.
func (c *LSTMCell) ComputeAll(s *ops.Scope, i *base.Invocation) []*ops.Value {
	return stepOnce(s, c, i)
}

// Begin returns the function that computes one step.
func (c *LSTMCell) Begin(s *ops.Scope, call *CellCall) Step {
	in, step := c.inputs(s, call), c.step(s, call)
	return func(s *ops.Scope, x *ops.Value, states []*ops.Value) (*ops.Value, []*ops.Value) {
		return step(s, in(s, x), states)
	}
}

// project computes the products of all inputs at once.
func (c *LSTMCell) project(s *ops.Scope, call *CellCall, xs *ops.Value) (*ops.Value, Step) {
	return c.inputs(s, call)(s, xs), c.step(s, call)
}

// inputs returns a function that computes x·kernel + bias.
func (c *LSTMCell) inputs(s *ops.Scope, call *CellCall) func(s *ops.Scope, x *ops.Value) *ops.Value {
	masks := gateMasks(s, &c.noise, call, c.Dropout, c.Implementation, 4)
	kernel := c.Read(s, c.Kernel)
	var bias ops.Input
	if !c.NoBias {
		bias = c.Read(s, c.Bias)
	}
	return func(s *ops.Scope, x *ops.Value) *ops.Value {
		return addBias(s, product(s, x, masks, kernel, 4*c.Units), bias, 4*c.Units)
	}
}

// step returns the function that computes one step from the results of inputs.
func (c *LSTMCell) step(s *ops.Scope, call *CellCall) Step {
	masks := stateMasks(s, &c.noise, call, c.RecurrentDropout, 4)
	kernel := c.Read(s, c.RecurrentKernel)
	return func(s *ops.Scope, x *ops.Value, states []*ops.Value) (*ops.Value, []*ops.Value) {
		z := ops.Add(s, x, product(s, states[0], masks, kernel, 4*c.Units))
		return lstmGates(s, z, 1, states[1], c.Activation, c.RecurrentActivation)
	}
}

// lstmGates computes the output and the states after a step of an LSTM. z has the sums of
// the input gate, the forget gate, the candidate and the output gate along an axis.
func lstmGates(s *ops.Scope, z *ops.Value, axis int, carry *ops.Value, activation, gate activations.Activation) (*ops.Value, []*ops.Value) {
	parts := ops.Split(s, z, 4, axis)
	if s.Err() != nil {
		return nil, nil
	}
	in, forget := activate(s, gate, parts[0]), activate(s, gate, parts[1])
	carry = ops.Add(s, ops.Mul(s, forget, carry), ops.Mul(s, in, activate(s, activation, parts[2])))
	y := ops.Mul(s, activate(s, gate, parts[3]), activate(s, activation, carry))
	return y, []*ops.Value{y, carry}
}

// dropWhole drops parts of the inputs of all steps, each with a separate mask, as tf_keras's
// LSTM does in the settings for which it has a fused kernel. The layer calls it only if fused
// reports these settings.
func (c *LSTMCell) dropWhole(s *ops.Scope, x *ops.Value) *ops.Value {
	if masks := c.masks(s, x, c.Dropout, 1); masks != nil {
		return ops.Mul(s, x, masks[0])
	}
	return x
}

// fused reports whether tf_keras has a fused kernel for the settings.
func (c *LSTMCell) fused() bool {
	return c.Activation == activations.Activation(activations.Tanh) && c.RecurrentActivation == activations.Activation(activations.Sigmoid) &&
		c.RecurrentDropout == 0 && !c.NoBias
}
