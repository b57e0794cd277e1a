package layers

import (
	"errors"

	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
)

// ConvLSTM2D is an LSTM whose products with the kernels are convolutions. Its inputs are
// sequences of images, [batch, time, height, width, channels].
type ConvLSTM2D struct {
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
	// Unroll and TimeMajor must be false.
	Unroll, TimeMajor bool
	// ZeroOutputForMask does nothing, as in tf_keras.
	ZeroOutputForMask bool `keras:",omitempty"`
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
	// ActivityRegularizer adds a loss of the outputs. Default: none.
	ActivityRegularizer regularizers.Regularizer
	// KernelConstraint, RecurrentConstraint and BiasConstraint project the weights after a step. Default: none.
	KernelConstraint, RecurrentConstraint, BiasConstraint constraints.Constraint
	// Dropout and RecurrentDropout are the parts of the inputs and of the states that are
	// dropped while training. All steps of a call drop the same. Default: 0.
	Dropout, RecurrentDropout float64

	// Cell computes the steps. The layer makes it.
	Cell *ConvLSTMCell `keras:"-"`
}

// ConvLSTM1D is [ConvLSTM2D] for sequences of lines, [batch, time, width, channels].
type ConvLSTM1D ConvLSTM2D

// ConvLSTM3D is [ConvLSTM2D] for sequences of volumes,
// [batch, time, depth, height, width, channels].
type ConvLSTM3D ConvLSTM2D

// complete sets the defaults that depend on the number of spatial dimensions.
func (l *ConvLSTM2D) complete(rank int) {
	convDefaults(rank, &l.KernelSize, &l.Strides, &l.DilationRate, &l.Padding)
	fraction(&l.Dropout)
	fraction(&l.RecurrentDropout)
}

// begin makes the cell of self, which is l under the name of its class.
func (l *ConvLSTM2D) begin(self base.LayerLike, rank int) error {
	if l.Unroll || l.TimeMajor {
		return errors.New("a convolutional recurrent layer is neither unrolled nor time-major")
	}
	cell := &ConvLSTMCell{Rank: rank}
	if err := adopt(self, &l.Cell, cell, "conv_lstm_cell"); err != nil {
		return err
	}
	cell.NotTrainable = false // tf_keras doesn't hand it on
	cell.Inline()
	l.recurrent.begin(self, cell)
	l.recurrent.seq.ZeroOutputForMask = false
	return nil
}

// CompleteConfig completes the sizes to one for each dimension.
func (l *ConvLSTM1D) CompleteConfig() { (*ConvLSTM2D)(l).complete(1) }

// CompleteConfig completes the sizes to one for each dimension.
func (l *ConvLSTM2D) CompleteConfig() { l.complete(2) }

// CompleteConfig completes the sizes to one for each dimension.
func (l *ConvLSTM3D) CompleteConfig() { (*ConvLSTM2D)(l).complete(3) }

// CompleteLayer makes the cell.
func (l *ConvLSTM1D) CompleteLayer() error { return (*ConvLSTM2D)(l).begin(l, 1) }

// CompleteLayer makes the cell.
func (l *ConvLSTM2D) CompleteLayer() error { return l.begin(l, 2) }

// CompleteLayer makes the cell.
func (l *ConvLSTM3D) CompleteLayer() error { return (*ConvLSTM2D)(l).begin(l, 3) }

// Call returns the last output, or with ReturnSequences all outputs.
func (l *ConvLSTM1D) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

// Call returns the last output, or with ReturnSequences all outputs.
func (l *ConvLSTM2D) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

// Call returns the last output, or with ReturnSequences all outputs.
func (l *ConvLSTM3D) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }
