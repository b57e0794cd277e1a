package grad_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestANormalizationTrainsUnlessToldOtherwise leaves out an attribute whose default
// is true.
func TestANormalizationTrainsUnlessToldOtherwise(t *testing.T) {
	x := ops.ValueOf(tensor.Must(tensor.New([]float32{1, 2, 4, 8}, 1, 2, 2, 1)))
	gradient := func(attrs graph.Attrs) []float32 {
		s := function.Eager(context.Background())
		y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			out := s.EmitN(6, "FusedBatchNormV3", attrs, x, []float32{2}, []float32{0}, tensor.Vector[float32](), tensor.Vector[float32]())
			return ops.Sum(s, ops.Square(s, ops.Square(s, out[0])))
		}, &grad.Options{Watch: []*ops.Value{x}})
		g, err := tape.GradientOf(y, x)[0].Tensor()
		if err != nil {
			t.Fatal(s.Err())
		}
		return tensor.Values[float32](g)
	}
	got, want := gradient(nil), gradient(graph.Attrs{graph.Bool("is_training", true)})
	for i := range want {
		if got[i] != want[i] || got[i] == 0 {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

func TestAPreventedGradientIsAnError(t *testing.T) {
	x := ops.ValueOf(tensor.Scalar(3.0))
	s := function.Eager(context.Background())
	y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		return ops.Square(s, s.Emit1("PreventGradient", graph.Attrs{graph.String("message", "the second derivative is unknown")}, x))
	}, &grad.Options{Watch: []*ops.Value{x}})
	tape.GradientOf(y, x)
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "the second derivative is unknown") {
		t.Errorf("%v", err)
	}
}
