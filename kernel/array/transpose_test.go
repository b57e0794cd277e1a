package array

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// TestTransposesThatMoveNothingCopyNothing checks that permutations of
// dimensions of size 1, which Keras's dense layers often have, return the
// input's memory.
func TestTransposesThatMoveNothingCopyNothing(t *testing.T) {
	for _, c := range []struct {
		shape tensor.Shape
		perm  []int32
		dims  tensor.Shape
		moves bool
	}{
		{tensor.Shape{2, 3, 4}, []int32{0, 1, 2}, tensor.Shape{2, 3, 4}, false},
		{tensor.Shape{2, 1, 3}, []int32{1, 0, 2}, tensor.Shape{1, 2, 3}, false},
		{tensor.Shape{1, 2, 1, 3}, []int32{1, 3, 2, 0}, tensor.Shape{2, 3, 1, 1}, false},
		{tensor.Shape{2, 3}, []int32{1, 0}, tensor.Shape{3, 2}, true},
		{tensor.Shape{2, 1, 3}, []int32{2, 1, 0}, tensor.Shape{3, 1, 2}, true},
		{tensor.Shape{1, 3, 2}, []int32{2, 0, 1}, tensor.Shape{2, 1, 3}, true},
	} {
		n := 1
		for _, d := range c.shape {
			n *= d
		}
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(i)
		}
		x := tensor.Must(tensor.New(v, c.shape...))
		ks, err := engine.NewKernelSet(Kernels())
		if err != nil {
			t.Fatal(err)
		}
		in := []engine.Value{engine.ValueOf(x), engine.ValueOf(tensor.Vector(c.perm...))}
		p, err := ks.PrepareEager("Transpose", nil, in)
		if err != nil {
			t.Fatal(err)
		}
		var call engine.Runner
		call.Begin(context.Background(), &engine.Env{})
		call.Add(in[0])
		call.Add(in[1])
		if err := call.Run(p); err != nil {
			t.Fatal(err)
		}
		y := call.Results()[0].Tensor
		if !y.Shape().Equal(c.dims) {
			t.Errorf("%v by %v has shape %v, want %v", c.shape, c.perm, y.Shape(), c.dims)
		}
		if copied := &y.Bytes()[0] != &x.Bytes()[0]; copied != c.moves {
			t.Errorf("%v by %v: copied %v, want %v", c.shape, c.perm, copied, c.moves)
		}
	}
}
