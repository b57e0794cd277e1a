package layers

import (
	"maps"

	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
)

// SimpleRNN is a recurrent layer whose output is its state: at each step
// activation(x·kernel + bias + state·recurrent kernel).
type SimpleRNN struct {
	base.Layer
	recurrent
	// ReturnSequences returns the outputs of all steps, not just the last one.
	ReturnSequences bool
	// ReturnState returns the last states after the output.
	ReturnState bool
	// GoBackwards goes over the steps in reverse order. A sequence of outputs is in that order.
	GoBackwards bool
	// Stateful begins each call with the last states of the call before. The batch's size must stay.
	Stateful bool
	// Unroll repeats the ops for each step in a traced function. Default: a loop.
	Unroll bool
	// TimeMajor has inputs and outputs of the shape [time, batch, …]. Default: [batch, time, …].
	TimeMajor bool
	// ZeroOutputForMask outputs zeros at steps that the mask ignores. Default: the output before.
	ZeroOutputForMask bool `keras:",omitempty"`
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
	// ActivityRegularizer adds a loss of the outputs. Default: none.
	ActivityRegularizer regularizers.Regularizer
	// KernelConstraint, RecurrentConstraint and BiasConstraint project the weights after a step. Default: none.
	KernelConstraint, RecurrentConstraint, BiasConstraint constraints.Constraint
	// Dropout and RecurrentDropout are the parts of the inputs and of the states that are
	// dropped while training. All steps of a call drop the same. Default: 0.
	Dropout, RecurrentDropout float64
	// EnableCachingDevice is a setting of TensorFlow's devices. It is kept, and does nothing.
	EnableCachingDevice *bool `keras:",omitempty"`

	// Cell computes the steps. The layer makes it.
	Cell *SimpleRNNCell `keras:"-"`
}

// DecodeConfig reads a config; older ones have the key "implementation", which means nothing.
func (l *SimpleRNN) DecodeConfig(d *config.Decoder, fields map[string]any) error {
	fields = maps.Clone(fields)
	delete(fields, "implementation")
	return d.Fields("SimpleRNN", l, fields)
}

// CompleteConfig limits the rates of dropout to [0, 1].
func (l *SimpleRNN) CompleteConfig() {
	fraction(&l.Dropout)
	fraction(&l.RecurrentDropout)
}

// CompleteLayer makes the cell.
func (l *SimpleRNN) CompleteLayer() error {
	cell := new(SimpleRNNCell)
	if err := adopt(l, &l.Cell, cell, "simple_rnn_cell"); err != nil {
		return err
	}
	l.begin(l, cell)
	return nil
}

// Call returns the last output [batch, units], or with ReturnSequences all outputs
// [batch, time, units], of x [batch, time, features]. RunAll takes initial states as the
// argument "initial_state", and returns the last states with ReturnState.
func (l *SimpleRNN) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }
