package layers_test

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// An encoder returns its states, and a decoder continues from them.
func ExampleLSTM() {
	s := function.Eager(context.Background())
	x := ops.Ones(s, tensor.Float32, 2, 5, 3) // two sequences of five steps
	encoder := &layers.LSTM{Units: 4, ReturnState: true}
	decoder := &layers.LSTM{Units: 4, ReturnSequences: true}

	encoded := base.CallAll(s, encoder, []*ops.Value{x}, nil)
	decoded := base.CallAll(s, decoder, []*ops.Value{x}, &base.CallOptions{
		Args: map[string]any{"initial_state": encoded[1:]},
	})
	fmt.Println(encoded[0].Shape(), len(encoded)-1, "states", decoded[0].Shape(), s.Err())
	// Output: [2,4] 2 states [2,5,4] <nil>
}

// A cell of a program: a running mean of the inputs.
type meanCell struct{ base.Layer }

func (c *meanCell) StateShapes(in tensor.Shape) []tensor.Shape { return []tensor.Shape{in[1:]} }

func (c *meanCell) Begin(*ops.Scope, *layers.CellCall) layers.Step {
	return func(s *ops.Scope, x *ops.Value, states []*ops.Value) (*ops.Value, []*ops.Value) {
		y := ops.Add(s, ops.Mul(s, states[0], 0.5), ops.Mul(s, x, 0.5))
		return y, []*ops.Value{y}
	}
}

func ExampleRNN() {
	s := function.Eager(context.Background())
	x := ops.Reshape(s, []float32{8, 4, 2}, 1, 3, 1)
	l := &layers.RNN{Cell: new(meanCell), ReturnSequences: true}
	y, err := l.Call(s, x).Tensor()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tensor.Values[float32](y))
	// Output: [4 4 3]
}
