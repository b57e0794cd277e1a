package grad_test

import (
	"fmt"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// On one device a shard is the whole value.
func TestGradientsPassMarksOfShards(t *testing.T) {
	s := function.Eager(t.Context())
	v := trackable.NewVariable(tensor.Must(tensor.New([]float32{1, 2, 3, 4}, 2, 2)))
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		marks := graph.Attrs{graph.String("manual_sharding", ""), graph.Int("dim", -1), graph.Ints("unspecified_dims")}
		shard := s.Emit1("XlaSpmdFullToShardShape", marks, v)
		full := s.Emit1("XlaSpmdShardToFullShape", append(marks, graph.Shape("full_shape", graph.ShapeOf(2, 2))), ops.Square(s, shard))
		return ops.Sum(s, ops.Mul(s, full, float32(3)))
	})
	g, err := tape.Gradient(loss, []*trackable.Variable{v})[0].Grad.Tensor()
	if got := fmt.Sprint(g); err != nil || got != "[[ 6. 12.]\n [18. 24.]]" {
		t.Errorf("got %s, %v", got, err)
	}
}
