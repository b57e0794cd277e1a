package run

import (
	"strings"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// TestErrorsOfResultsBeginAlike: with and without the structure of the output.
func TestErrorsOfResultsBeginAlike(t *testing.T) {
	one := &graph.Structure{Kind: graph.TensorStructure}
	value := engine.Value{Tensor: tensor.Scalar[float32](1)}
	for name, c := range map[string]struct {
		out     *graph.Structure
		results []engine.Value
		want    string
	}{
		"a handle without a structure": {nil, []engine.Value{{Object: new(int)}}, "a handle"},
		"a handle":                     {one, []engine.Value{{Object: new(int)}}, "a handle"},
		"too many":                     {one, []engine.Value{value, value, value}, "returns 2 tensors more than the structure"},
		"too few":                      {one, nil, "fewer tensors than the structure"},
	} {
		_, err := pack(c.out, c.results)
		if err == nil || !strings.HasPrefix(err.Error(), "savedmodel: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
