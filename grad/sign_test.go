package grad_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

func TestTheGradientOfSignIsZeros(t *testing.T) {
	v := trackable.NewVariable(tensor.Vector[float32](-2, 0, 3))
	s := function.Eager(context.Background())
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, ops.Sign(s, v)) })
	g := tape.Gradient(loss, []*trackable.Variable{v})
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	if g[0].Grad == nil {
		t.Fatal("there is no gradient")
	}
	got, err := g[0].Grad.Tensor()
	if err != nil {
		t.Fatal(err)
	}
	if !got.Equal(tensor.Vector[float32](0, 0, 0)) {
		t.Errorf("the gradient is %v", got)
	}
}
