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

// GRUCell computes one step of [GRU].
type GRUCell struct {
	base.Layer
	noise
	// Units is the number of outputs. It is required.
	Units int
	// Activation is applied to the candidate. Default: Tanh.
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
	// ResetBefore applies the reset gate before the product with the kernel, not after it.
	// The bias then is one vector, not two. Default: after.
	ResetBefore bool `keras:"reset_after,not"`
	// EnableCachingDevice is a setting of TensorFlow's devices. It is kept, and does nothing.
	EnableCachingDevice *bool `keras:",omitempty"`

	// Kernel [features, 3·units], RecurrentKernel [units, 3·units] and Bias [2, 3·units] or,
	// with ResetBefore, [3·units]
	// are nil until the cell is built.
	Kernel, RecurrentKernel, Bias *trackable.Variable `cairn:"-"`
}

// CompleteConfig limits the rates of dropout to [0, 1], and chooses the implementation.
func (c *GRUCell) CompleteConfig() {
	fraction(&c.Dropout)
	fraction(&c.RecurrentDropout)
	if c.RecurrentDropout != 0 {
		c.Implementation = 1
	}
}

// Weights lists kernels and bias.
func (c *GRUCell) Weights(in base.Shapes) ([]base.Weight, error) {
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
		{To: &c.Kernel, Edge: "kernel", Shape: tensor.Shape{n, 3 * c.Units},
			Init: c.KernelInitializer, Regularizer: c.KernelRegularizer, Constraint: c.KernelConstraint},
		{To: &c.RecurrentKernel, Edge: "recurrent_kernel", Shape: tensor.Shape{c.Units, 3 * c.Units},
			Init: c.RecurrentInitializer, Regularizer: c.RecurrentRegularizer, Constraint: c.RecurrentConstraint},
	}
	if c.NoBias {
		return list, nil
	}
	bias := base.Weight{To: &c.Bias, Edge: "bias", Shape: tensor.Shape{2, 3 * c.Units},
		Init: c.BiasInitializer, Regularizer: c.BiasRegularizer, Constraint: c.BiasConstraint}
	if c.ResetBefore {
		bias.Shape = tensor.Shape{3 * c.Units}
	}
	return append(list, bias), nil
}

// StateShapes returns the shape of the output.
func (c *GRUCell) StateShapes(tensor.Shape) []tensor.Shape { return []tensor.Shape{{c.Units}} }

// Call returns the output of one step from states of zeros.
func (c *GRUCell) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// ComputeAll computes one step from the states in the argument "states", by default zeros.
// It returns the output and the new states.
func (c *GRUCell) ComputeAll(s *ops.Scope, i *base.Invocation) []*ops.Value { return stepOnce(s, c, i) }

// Begin returns the function that computes one step.
func (c *GRUCell) Begin(s *ops.Scope, call *CellCall) Step {
	in, step := c.inputs(s, call), c.step(s, call)
	return func(s *ops.Scope, x *ops.Value, states []*ops.Value) (*ops.Value, []*ops.Value) {
		return step(s, in(s, x), states)
	}
}

// project computes the products of all inputs at once.
func (c *GRUCell) project(s *ops.Scope, call *CellCall, xs *ops.Value) (*ops.Value, Step) {
	return c.inputs(s, call)(s, xs), c.step(s, call)
}

// biases returns the biases of the products with the inputs and with the state; nil for none.
func (c *GRUCell) biases(s *ops.Scope) (in, state ops.Input) {
	switch {
	case c.NoBias:
		return nil, nil
	case c.ResetBefore:
		return c.Read(s, c.Bias), nil
	}
	both := ops.Unstack(s, c.Read(s, c.Bias), 2)
	if s.Err() != nil {
		return nil, nil
	}
	return both[0], both[1]
}

// inputs returns a function that computes x·kernel + bias.
func (c *GRUCell) inputs(s *ops.Scope, call *CellCall) func(s *ops.Scope, x *ops.Value) *ops.Value {
	masks := gateMasks(s, &c.noise, call, c.Dropout, c.Implementation, 3)
	kernel := c.Read(s, c.Kernel)
	bias, _ := c.biases(s)
	return func(s *ops.Scope, x *ops.Value) *ops.Value {
		return addBias(s, product(s, x, masks, kernel, 3*c.Units), bias, 3*c.Units)
	}
}

// step returns the function that computes one step from the results of inputs.
func (c *GRUCell) step(s *ops.Scope, call *CellCall) Step {
	masks := stateMasks(s, &c.noise, call, c.RecurrentDropout, 3)
	kernel := c.Read(s, c.RecurrentKernel)
	_, bias := c.biases(s)
	var gates, candidate ops.Input
	if c.ResetBefore {
		parts := ops.SplitSizes(s, kernel, []int{2 * c.Units, c.Units}, 1)
		if s.Err() != nil {
			return nil
		}
		gates, candidate = parts[0], parts[1]
	}
	return func(s *ops.Scope, x *ops.Value, states []*ops.Value) (*ops.Value, []*ops.Value) {
		h := states[0]
		in := ops.Split(s, x, 3, -1)
		var state []*ops.Value // of the update gate, the reset gate and, unless it is reset before, the candidate
		if c.ResetBefore {
			two := masks
			if masks != nil {
				two = masks[:2]
			}
			state = ops.Split(s, product(s, h, two, gates, 2*c.Units), 2, -1)
		} else {
			state = ops.Split(s, addBias(s, product(s, h, masks, kernel, 3*c.Units), bias, 3*c.Units), 3, -1)
		}
		if s.Err() != nil {
			return nil, nil
		}
		update := activate(s, c.RecurrentActivation, ops.Add(s, in[0], state[0]))
		reset := activate(s, c.RecurrentActivation, ops.Add(s, in[1], state[1]))
		var new *ops.Value
		if c.ResetBefore {
			kept := h
			if masks != nil {
				kept = ops.Mul(s, h, masks[2])
			}
			new = ops.MatMul(s, ops.Mul(s, reset, kept), candidate)
		} else {
			new = ops.Mul(s, reset, state[2])
		}
		new = activate(s, c.Activation, ops.Add(s, in[2], new))
		y := ops.Add(s, ops.Mul(s, update, h), ops.Mul(s, ops.Sub(s, 1, update), new))
		return y, []*ops.Value{y}
	}
}

// dropWhole drops parts of the inputs of all steps, each with a separate mask, as tf_keras's
// GRU does in the settings for which it has a fused kernel. The layer calls it only if fused
// reports these settings.
func (c *GRUCell) dropWhole(s *ops.Scope, x *ops.Value) *ops.Value {
	if masks := c.masks(s, x, c.Dropout, 1); masks != nil {
		return ops.Mul(s, x, masks[0])
	}
	return x
}

// fused reports whether tf_keras has a fused kernel for the settings.
func (c *GRUCell) fused() bool {
	return c.Activation == activations.Activation(activations.Tanh) && c.RecurrentActivation == activations.Activation(activations.Sigmoid) &&
		c.RecurrentDropout == 0 && !c.NoBias && !c.ResetBefore
}
