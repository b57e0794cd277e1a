package layers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Dense is a fully connected layer: activation(x·kernel + bias). x has the shape
// [batch, …, inputs] and the result [batch, …, units].
type Dense struct {
	base.Layer
	// Units is the size of the result's last dimension, 1 or more. It is required.
	Units int
	// Activation is applied to the outputs. Default: none.
	Activation activations.Activation `keras:",default=linear"`
	// NoBias leaves the bias out. Default: there is one.
	NoBias bool `keras:"use_bias,not"`
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
	// Keras3 names the kernel's edge "_kernel", as Keras 3 does. Default: false, the edge is
	// "kernel", or "_kernel" if a checkpoint with that edge is restored before the layer is built.
	Keras3 bool `keras:"-"`

	// Kernel [inputs, units] and Bias [units] are nil until the layer is built.
	Kernel, Bias *trackable.Variable `cairn:"-"`
}

// Weights lists kernel and bias.
func (d *Dense) Weights(in base.Shapes) ([]base.Weight, error) {
	n, err := in.Last()
	switch {
	case err != nil:
		return nil, err
	case d.Units < 1:
		return nil, fmt.Errorf("there are too few units (got %d, want 1 or more)", d.Units)
	}
	kernel := base.Weight{To: &d.Kernel, Edge: "kernel", Or: []string{"_kernel"}, Shape: tensor.Shape{n, d.Units},
		Init: d.KernelInitializer, Regularizer: d.KernelRegularizer, Constraint: d.KernelConstraint}
	if d.Keras3 {
		kernel.Edge, kernel.Or, kernel.Name = "_kernel", nil, "kernel"
	}
	if d.NoBias {
		return []base.Weight{kernel}, nil
	}
	return []base.Weight{kernel, {To: &d.Bias, Edge: "bias", Shape: tensor.Shape{d.Units},
		Init: d.BiasInitializer, Regularizer: d.BiasRegularizer, Constraint: d.BiasConstraint}}, nil
}

// PassesMask marks a layer whose output has the mask of its input.
func (d *Dense) PassesMask() {}

// TakesSparse marks a layer that takes sparse inputs.
func (d *Dense) TakesSparse() {}

// MapsElements allows ragged inputs. It returns "rows": each innermost row is computed
// independently.
func (d *Dense) MapsElements() (string, error) { return "rows", nil }

// Call returns activation(x·kernel + bias).
func (d *Dense) Call(s *ops.Scope, x ops.Input) *ops.Value { return d.Run(s, d, x, nil) }

// Compute returns activation(x·kernel + bias).
func (d *Dense) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if t, ok := base.SparseOf(x); ok {
		return d.sparse(s, t)
	}
	if r := x.Fact().Shape.Rank(); r == 0 || r == 1 {
		return s.Fail("Dense", fmt.Errorf("the input's shape is %v, want two dimensions or more, a batch's first", x.Fact().Shape))
	}
	rows, restore := flatten(s, x)
	y := ops.MatMul(s, rows, d.Read(s, d.Kernel))
	if d.Bias != nil {
		y = ops.BiasAdd(s, y, d.Read(s, d.Bias))
	}
	return activate(s, d.Activation, restore(y, d.Units))
}

// sparse returns activation(x·kernel + bias) of a sparse x of the shape [batch, inputs].
func (d *Dense) sparse(s *ops.Scope, x base.Sparse) *ops.Value {
	if rank := x.Indices.Fact().Shape.Dim(-1); rank != 2 {
		return s.Fail("Dense", fmt.Errorf("the sparse input has %d dimensions, want 2", rank))
	}
	y := raw.SparseTensorDenseMatMul(s, x.Indices, x.Values, x.Shape, d.Read(s, d.Kernel), nil)
	if d.Bias != nil {
		y = ops.BiasAdd(s, y, d.Read(s, d.Bias))
	}
	return activate(s, d.Activation, y)
}
