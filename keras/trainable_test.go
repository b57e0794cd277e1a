package keras_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestSetTrainableReachesInnerLayers freezes a wrapper, whose inner layer then keeps its
// averages in training, and thaws it again.
func TestSetTrainableReachesInnerLayers(t *testing.T) {
	inner := &layers.BatchNormalization{}
	wrapper := &layers.TimeDistributed{Inner: inner}
	s := function.Eager(context.Background()).WithTraining(true)
	x := ops.Add(s, ops.Ones(s, tensor.Float32, 2, 3, 1), 4)
	moved := func() bool {
		before := tensor.Values[float32](inner.MovingMean.Load())[0]
		wrapper.Call(s, x)
		return tensor.Values[float32](inner.MovingMean.Load())[0] != before
	}
	wrapper.Call(s, x)
	for _, on := range []bool{false, true} {
		if err := keras.SetTrainable(wrapper, on); err != nil {
			t.Fatal(err)
		}
		if got := len(keras.Trainable(wrapper)) > 0; got != on {
			t.Errorf("trainable %v: there are trainable variables: %v", on, got)
		}
		if got := moved(); got != on || s.Err() != nil {
			t.Errorf("trainable %v: the average moved: %v, %v", on, got, s.Err())
		}
	}
}
