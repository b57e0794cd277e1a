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

// SimpleRNNCell computes one step of [SimpleRNN]:
// activation(x·kernel + bias + state·recurrent kernel).
type SimpleRNNCell struct {
	base.Layer
	noise
	// Units is the number of outputs. It is required.
	Units int
	// Activation is applied to the output. Default: Tanh.
	Activation activations.Activation `keras:",default=tanh"`
	// NoBias leaves the bias out. Default: there is one.
	NoBias bool `keras:"use_bias,not"`
	// KernelInitializer makes the first value of the kernel for the inputs. Default: GlorotUniform.
	KernelInitializer initializers.Initializer `keras:",default=GlorotUniform"`
	// RecurrentInitializer makes the first value of the kernel for the states. Default: Orthogonal.
	RecurrentInitializer initializers.Initializer `keras:",default=Orthogonal"`
	// BiasInitializer makes the first value of the bias. Default: Zeros.
	BiasInitializer initializers.Initializer `keras:",default=Zeros"`
	// KernelRegularizer, RecurrentRegularizer and BiasRegularizer add losses of the weights. Default: none.
	KernelRegularizer, RecurrentRegularizer, BiasRegularizer regularizers.Regularizer
	// KernelConstraint, RecurrentConstraint and BiasConstraint project the weights after a step. Default: none.
	KernelConstraint, RecurrentConstraint, BiasConstraint constraints.Constraint
	// Dropout and RecurrentDropout are the parts of the inputs and of the states that are
	// dropped while training. All steps of a call drop the same. Default: 0.
	Dropout, RecurrentDropout float64
	// EnableCachingDevice is a setting of TensorFlow's devices. It is kept, and does nothing.
	EnableCachingDevice *bool `keras:",omitempty"`

	// Kernel [features, units], RecurrentKernel [units, units] and Bias [units]
	// are nil until the cell is built.
	Kernel, RecurrentKernel, Bias *trackable.Variable `cairn:"-"`
}

// CompleteConfig limits the rates of dropout to [0, 1].
func (c *SimpleRNNCell) CompleteConfig() {
	fraction(&c.Dropout)
	fraction(&c.RecurrentDropout)
}

// Weights lists kernels and bias.
func (c *SimpleRNNCell) Weights(in base.Shapes) ([]base.Weight, error) {
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
		{To: &c.Kernel, Edge: "kernel", Shape: tensor.Shape{n, c.Units},
			Init: c.KernelInitializer, Regularizer: c.KernelRegularizer, Constraint: c.KernelConstraint},
		{To: &c.RecurrentKernel, Edge: "recurrent_kernel", Shape: tensor.Shape{c.Units, c.Units},
			Init: c.RecurrentInitializer, Regularizer: c.RecurrentRegularizer, Constraint: c.RecurrentConstraint},
	}
	if c.NoBias {
		return list, nil
	}
	bias := base.Weight{To: &c.Bias, Edge: "bias", Shape: tensor.Shape{c.Units},
		Init: c.BiasInitializer, Regularizer: c.BiasRegularizer, Constraint: c.BiasConstraint}
	return append(list, bias), nil
}

// StateShapes returns the shape of the output.
func (c *SimpleRNNCell) StateShapes(tensor.Shape) []tensor.Shape { return []tensor.Shape{{c.Units}} }

// Call returns the output of one step from states of zeros.
func (c *SimpleRNNCell) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// ComputeAll computes one step from the states in the argument "states", by default zeros.
// It returns the output and the new states.
func (c *SimpleRNNCell) ComputeAll(s *ops.Scope, i *base.Invocation) []*ops.Value {
	return stepOnce(s, c, i)
}

// Begin returns the function that computes one step.
func (c *SimpleRNNCell) Begin(s *ops.Scope, call *CellCall) Step {
	in, step := c.inputs(s, call), c.step(s, call)
	return func(s *ops.Scope, x *ops.Value, states []*ops.Value) (*ops.Value, []*ops.Value) {
		return step(s, in(s, x), states)
	}
}

// project computes the products of all inputs at once.
func (c *SimpleRNNCell) project(s *ops.Scope, call *CellCall, xs *ops.Value) (*ops.Value, Step) {
	return c.inputs(s, call)(s, xs), c.step(s, call)
}

// inputs returns a function that computes x·kernel + bias.
func (c *SimpleRNNCell) inputs(s *ops.Scope, call *CellCall) func(s *ops.Scope, x *ops.Value) *ops.Value {
	masks := c.masks(s, call.Input, c.Dropout, 1)
	kernel, bias := c.Read(s, c.Kernel), c.readBias(s)
	return func(s *ops.Scope, x *ops.Value) *ops.Value {
		return addBias(s, product(s, x, masks, kernel, c.Units), bias, c.Units)
	}
}

func (c *SimpleRNNCell) readBias(s *ops.Scope) ops.Input {
	if c.NoBias {
		return nil
	}
	return c.Read(s, c.Bias)
}

// step returns the function that computes one step from the results of inputs.
func (c *SimpleRNNCell) step(s *ops.Scope, call *CellCall) Step {
	masks := c.masks(s, call.States[0], c.RecurrentDropout, 1)
	kernel := c.Read(s, c.RecurrentKernel)
	return func(s *ops.Scope, x *ops.Value, states []*ops.Value) (*ops.Value, []*ops.Value) {
		y := activate(s, c.Activation, ops.Add(s, x, product(s, states[0], masks, kernel, c.Units)))
		return y, []*ops.Value{y}
	}
}
