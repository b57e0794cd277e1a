package grad_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestGradientsGoThroughVariantsOfRaggedTensors squares values that were taken
// apart to rows and put together again.
func TestGradientsGoThroughVariantsOfRaggedTensors(t *testing.T) {
	s := function.Eager(context.Background())
	x := ops.Const(s, tensor.Vector[float32](1, 2, 3))
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		rows := s.Emit1("RaggedTensorToVariant", graph.Attrs{graph.Bool("batched_input", true)}, tensor.Vector[int64](0, 2, 2, 3), x)
		back := s.EmitN(2, "RaggedTensorFromVariant", graph.Attrs{graph.Int("input_ragged_rank", 0), graph.Int("output_ragged_rank", 1), graph.Type("Tvalues", tensor.Float32)}, rows)
		return ops.Sum(s, ops.Square(s, back[1]), 0)
	}, &grad.Options{Watch: []*ops.Value{x}})
	grads := tape.GradientOf(loss, x)
	got, err := grads[0].Tensor()
	if want := tensor.Vector[float32](2, 4, 6); err != nil || !got.Equal(want) {
		t.Errorf("%v %v, want %v", got, err, want)
	}
}
