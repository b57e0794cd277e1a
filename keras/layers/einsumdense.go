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

// EinsumDense is a fully connected layer whose product is an Einstein sum of the input and
// the kernel: activation(einsum(Equation, x, kernel) + bias). MultiHeadAttention uses it.
type EinsumDense struct {
	base.Layer
	// OutputShape has the sizes of the output's letters: of all after a leading "...", else of
	// those after the first, which is the batch. -1 takes the input's size. It is required.
	OutputShape base.Shape
	// Equation is the sum: "ab,bc->ac", "...b,bc->...c" or "ab...,bc->ac...". It is required.
	Equation string
	// Activation is applied to the outputs. Default: none.
	Activation activations.Activation `keras:",default=linear"`
	// BiasAxes are the letters of the output along which there is a bias. Default: there
	// is no bias.
	BiasAxes *string
	// KernelInitializer makes the kernel's first value. Default: GlorotUniform.
	KernelInitializer initializers.Initializer `keras:",default=GlorotUniform"`
	// BiasInitializer makes the bias's first value. Default: Zeros.
	BiasInitializer initializers.Initializer `keras:",default=Zeros"`
	// KernelRegularizer and BiasRegularizer add losses of the weights. Default: none.
	KernelRegularizer, BiasRegularizer regularizers.Regularizer
	// ActivityRegularizer adds a loss of the outputs. Default: none.
	ActivityRegularizer regularizers.Regularizer
	// KernelConstraint and BiasConstraint project the weights after a step. Default: none.
	KernelConstraint, BiasConstraint constraints.Constraint

	// Kernel and Bias are nil until the layer is built. Kernel has a dimension for each of its
	// letters. Bias has one for each output letter from the first in BiasAxes on, of size 1 for
	// other letters, and 1 for each of a trailing "...".
	Kernel, Bias *trackable.Variable `cairn:"-"`
}

// Weights lists kernel and bias.
func (e *EinsumDense) Weights(in base.Shapes) ([]base.Weight, error) {
	eq, err := parseEquation(e.Equation)
	if err != nil {
		return nil, err
	}
	var x tensor.Shape
	if len(in) > 0 {
		x = in[0]
	}
	kernel, bias, err := eq.shapes(x, tensor.Shape(e.OutputShape), e.BiasAxes)
	if err != nil {
		return nil, fmt.Errorf("the equation %q: %w", e.Equation, err)
	}
	list := []base.Weight{{To: &e.Kernel, Edge: "kernel", Shape: kernel,
		Init: e.KernelInitializer, Regularizer: e.KernelRegularizer, Constraint: e.KernelConstraint}}
	if e.BiasAxes != nil {
		list = append(list, base.Weight{To: &e.Bias, Edge: "bias", Shape: bias,
			Init: e.BiasInitializer, Regularizer: e.BiasRegularizer, Constraint: e.BiasConstraint})
	}
	return list, nil
}

// Call returns the activation of the sum.
func (e *EinsumDense) Call(s *ops.Scope, x ops.Input) *ops.Value { return e.Run(s, e, x, nil) }

// Compute returns the activation of the sum.
func (e *EinsumDense) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	y := ops.Einsum(s, e.Equation, x, e.Read(s, e.Kernel))
	if e.Bias != nil {
		y = ops.Add(s, y, e.Read(s, e.Bias))
	}
	return activate(s, e.Activation, y)
}
