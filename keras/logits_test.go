package keras

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestModelsKeepTheLogitsOfTheirOutputs: a crossentropy of probabilities that are rounded to
// 0 would be that of the smallest probability, 1e-7.
func TestModelsKeepTheLogitsOfTheirOutputs(t *testing.T) {
	x := mat(2, 3, 100, 0, -100, 0, 200, 0)
	labels := tensor.Vector[int64](2, 0)
	for name, layer := range map[string]Callable{
		"activation": &layers.Activation{Activation: activations.Softmax},
		"layer":      new(layers.Softmax),
		"model":      NewSequential(new(layers.Softmax)),
	} {
		loss := func(s *ops.Scope, x *ops.Value) *ops.Value {
			return losses.SparseCategoricalCrossentropy{}.Loss(s, labels, layer.Call(s, x), nil)
		}
		s := function.Eager(context.Background())
		eager := loss(s, ops.ValueOf(x))
		must(t, s.Err())
		traced, err := function.New(loss, &function.Options{Mode: function.Traced}).Call(t.Context(), ops.ValueOf(x))
		must(t, err)
		for mode, v := range map[string]*ops.Value{"eager": eager, "traced": traced} {
			if got, err := ops.Item[float32](v); err != nil || got != 200 {
				t.Errorf("%s, %s: the loss is %v, %v, want 200", name, mode, got, err)
			}
		}
	}
}
