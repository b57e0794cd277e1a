package layers

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// PReLU computes x for positive elements and Alpha·x for others. Alpha is learned for
// each element of the input without the batch's dimension.
type PReLU struct {
	base.Layer
	// AlphaInitializer makes Alpha's first value. Default: Zeros.
	AlphaInitializer initializers.Initializer `keras:",default=Zeros"`
	// AlphaRegularizer adds a loss of Alpha. Default: none.
	AlphaRegularizer regularizers.Regularizer
	// AlphaConstraint projects Alpha after a step. Default: none.
	AlphaConstraint constraints.Constraint
	// SharedAxes are the dimensions, counted from 1, along which Alpha has one value.
	// Default: none.
	SharedAxes []int

	// Alpha is nil until the layer is built.
	Alpha *trackable.Variable `cairn:"-"`
}

// Weights lists Alpha. It has no shape if in is empty: the input isn't known yet.
func (p *PReLU) Weights(in base.Shapes) ([]base.Weight, error) {
	w := base.Weight{To: &p.Alpha, Edge: "alpha", Init: p.AlphaInitializer, Regularizer: p.AlphaRegularizer, Constraint: p.AlphaConstraint}
	if len(in) == 0 {
		return []base.Weight{w}, nil
	}
	if len(in[0]) == 0 {
		return nil, fmt.Errorf("the input's shape is %v, want a known rank and a batch's dimension", in)
	}
	w.Shape = slices.Clone(tensor.Shape(in[0][1:]))
	for _, axis := range p.SharedAxes {
		if axis < 1 || axis > len(w.Shape) {
			return nil, fmt.Errorf("there is no shared axis %d in an input of shape %v", axis, in[0])
		}
		w.Shape[axis-1] = 1
	}
	return []base.Weight{w}, nil
}

// PassesMask marks a layer whose output has the mask of its input.
func (p *PReLU) PassesMask() {}

// Call returns the activation of x.
func (p *PReLU) Call(s *ops.Scope, x ops.Input) *ops.Value { return p.Run(s, p, x, nil) }

// Compute returns the activation of x. The ops are those of tf_keras, which decide its bits and the
// gradient at 0.
func (p *PReLU) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	below := ops.Mul(s, ops.Neg(s, p.Read(s, p.Alpha)), ops.Relu(s, ops.Neg(s, x)))
	return ops.Add(s, ops.Relu(s, x), below)
}
