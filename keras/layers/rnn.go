package layers

import (
	"errors"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// RNN is a recurrent layer that goes over the time steps with any cell.
//
//	&layers.RNN{Cell: &layers.StackedRNNCells{Cells: []layers.Cell{&layers.LSTMCell{Units: 8}, &layers.GRUCell{Units: 4}}}}
type RNN struct {
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
	// NumConstants is the number of constants at the end of a call's inputs.
	NumConstants int `keras:",omitempty"`
	// ZeroOutputForMask outputs zeros at steps that the mask ignores. Default: the output before.
	ZeroOutputForMask bool `keras:",omitempty"`
	// Cell computes the steps. It is required.
	Cell Cell
}

// CompleteLayer checks that there is a cell.
func (l *RNN) CompleteLayer() error {
	if l.Cell == nil {
		return errors.New("there is no cell")
	}
	l.begin(l, l.Cell)
	return nil
}

// Call returns the last output, or with ReturnSequences all outputs, of x
// [batch, time, …]. RunAll takes initial states as the argument "initial_state" and values
// for all steps as "constants", and returns the last states with ReturnState.
func (l *RNN) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }
