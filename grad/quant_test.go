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

// TestGradientsOfRoundingToLevels compares them with TensorFlow's results: the
// gradient of each element in the range, and for the range's ends the sum of
// those beyond them.
func TestGradientsOfRoundingToLevels(t *testing.T) {
	x := tensor.Vector[float32](-9, -1, 0.5, 2, 9)
	dy := tensor.Vector[float32](1, 2, 3, 4, 5)
	least, most := tensor.Scalar[float32](-2), tensor.Scalar[float32](3)
	perChannel := [2]*tensor.Tensor{tensor.Vector[float32](-2, -2, -2, -2, -2), tensor.Vector[float32](3, 3, 3, 3, 3)}
	for _, c := range []struct {
		op    string
		attrs graph.Attrs
		in    []*tensor.Tensor
		want  []string
	}{
		{"FakeQuantWithMinMaxArgs", graph.Attrs{graph.Float("min", -2), graph.Float("max", 3)}, []*tensor.Tensor{x}, []string{"[0. 2. 3. 4. 0.]"}},
		{"FakeQuantWithMinMaxVars", nil, []*tensor.Tensor{x, least, most}, []string{"[0. 2. 3. 4. 0.]", "1.0", "5.0"}},
		{"FakeQuantWithMinMaxVarsPerChannel", nil, []*tensor.Tensor{x, perChannel[0], perChannel[1]}, []string{"[0. 2. 3. 4. 0.]", "[1. 0. 0. 0. 0.]", "[0. 0. 0. 0. 5.]"}},
		{"QuantizeAndDequantizeV2", nil, []*tensor.Tensor{x, least, most}, []string{"[1. 2. 3. 4. 5.]", "", ""}},
		{"QuantizeAndDequantizeV3", nil, []*tensor.Tensor{x, least, most, tensor.Scalar[int32](8)}, []string{"[1. 2. 3. 4. 5.]", "", ""}},
		{"QuantizeAndDequantizeV4", nil, []*tensor.Tensor{x, least, most}, []string{"[0. 2. 3. 4. 0.]", "0.0", "0.0"}},
	} {
		s := function.Eager(context.Background())
		var in []ops.Input
		var sources []*ops.Value
		for i, v := range c.in {
			value := ops.Const(s, v)
			in = append(in, value)
			if i < 3 {
				sources = append(sources, value)
			}
		}
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Mul(s, s.Emit1(c.op, c.attrs, in...), dy) }, &grad.Options{Watch: sources})
		grads := tape.GradientOf(loss, sources...)
		if err := s.Err(); err != nil {
			t.Errorf("%s: %v", c.op, err)
			continue
		}
		for i, g := range grads {
			got := ""
			if g != nil {
				v, err := g.Tensor()
				if err != nil {
					t.Fatal(err)
				}
				got = v.String()
			}
			if got != c.want[i] {
				t.Errorf("%s: gradient %d is %q, want %q", c.op, i, got, c.want[i])
			}
		}
	}
}
