package trackable_test

import (
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestAnUnrankedVariableTakesAnyShape, but no other type; a shape ends that.
func TestAnUnrankedVariableTakesAnyShape(t *testing.T) {
	v := trackable.NewVariable(tensor.Vector[float32](1)).SetUnranked()
	if !v.Unranked() {
		t.Error("it isn't unranked")
	}
	for _, x := range []*tensor.Tensor{tensor.Scalar[float32](1), tensor.Vector[float32](1, 2), tensor.Must(tensor.Zeros(tensor.Float32, 2, 3, 4))} {
		if err := v.Store(x); err != nil {
			t.Error(err)
		}
	}
	if v.Store(tensor.Vector[int32](1)) == nil {
		t.Error("it takes another type")
	}
	if v.SetShape(tensor.Shape{-1}).Unranked() {
		t.Error("it is unranked for ever")
	}
	if v.Store(tensor.Scalar[float32](1)) == nil {
		t.Error("it takes another rank than its own")
	}
}
