package layers

import (
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
)

// LSTM is a long short-term memory layer. Its states are the output and the carry.
type LSTM struct {
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
	// ActivityRegularizer adds a loss of the outputs. Default: none.
	ActivityRegularizer regularizers.Regularizer
	// KernelConstraint, RecurrentConstraint and BiasConstraint project the weights after a step. Default: none.
	KernelConstraint, RecurrentConstraint, BiasConstraint constraints.Constraint
	// Dropout and RecurrentDropout are the parts of the inputs and of the states that are
	// dropped while training. All steps of a call drop the same,
	// but for the inputs with the default activations, a bias and no RecurrentDropout. Default: 0.
	Dropout, RecurrentDropout float64
	// Implementation is 1 for a mask of dropout for each gate, or 2 for one mask for all
	// gates. Default: 2, and 1 with RecurrentDropout.
	Implementation int `keras:",default=2"`
	// EnableCachingDevice is a setting of TensorFlow's devices. It is kept, and does nothing.
	EnableCachingDevice *bool `keras:",omitempty"`

	// Cell computes the steps. The layer makes it.
	Cell *LSTMCell `keras:"-"`
}

// DecodeConfig reads a config; older ones have the implementation 0, which became 1.
func (l *LSTM) DecodeConfig(d *config.Decoder, fields map[string]any) error {
	return d.Fields("LSTM", l, withoutImplementation0(fields))
}

// CompleteConfig limits the rates of dropout to [0, 1], and chooses the implementation.
func (l *LSTM) CompleteConfig() {
	fraction(&l.Dropout)
	fraction(&l.RecurrentDropout)
	if l.RecurrentDropout != 0 {
		l.Implementation = 1
	}
}

// CompleteLayer makes the cell.
func (l *LSTM) CompleteLayer() error {
	cell := new(LSTMCell)
	if err := adopt(l, &l.Cell, cell, "lstm_cell"); err != nil {
		return err
	}
	l.begin(l, cell)
	l.whole = cell.fused()
	return nil
}

// Call returns the last output [batch, units], or with ReturnSequences all outputs
// [batch, time, units], of x [batch, time, features]. RunAll takes initial states as the
// argument "initial_state", and returns the last states with ReturnState.
func (l *LSTM) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }
