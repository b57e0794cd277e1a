package graph

import (
	"slices"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

func TestAttributesAreTyped(t *testing.T) {
	as := Attrs{
		Int("i", -5), Float("f", 0.25), Bool("b", true), String("s", "x"),
		Type("t", tensor.Float32), Shape("sh", ShapeOf(2, -1)), Ints("is", 1, 2),
		Types("ts", tensor.Int32), Tensor("te", tensor.Scalar(1.0)),
	}
	shape, ok := as.Shape("sh")
	if as.Int("i", 0) != -5 || as.Float("f", 0) != 0.25 || !as.Bool("b") || as.String("s", "") != "x" ||
		as.Type("t", 0) != tensor.Float32 || !ok || !shape.Equal(ShapeOf(2, -1)) ||
		!slices.Equal(as.Ints("is"), []int64{1, 2}) || as.Types("ts")[0] != tensor.Int32 || as.Tensor("te") == nil {
		t.Errorf("got %s", as.Describe())
	}
	if as.Int("f", 7) != 7 || as.Int("none", 8) != 8 || as.Bool("i") || as.Has("none") || !as.Has("i") {
		t.Error("an attribute of another kind is taken")
	}
	if got, want := as.Describe(), "i=-5 f=0.25 b=true s=x t=float32"; got[:len(want)] != want {
		t.Errorf("described as %s", got)
	}
}
