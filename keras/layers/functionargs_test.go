package layers_test

import (
	"strings"
	"testing"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
)

func TestSettingsThatNoFunctionHasAreErrors(t *testing.T) {
	for _, c := range []struct {
		function string
		args     map[string]any
		want     string
	}{
		{"linalg.matmul", map[string]any{"output_type": "int32"}, `argument "output_type": got int32, want None`},
		{"linalg.matmul", map[string]any{"adjoint_a": true}, `argument "adjoint_a": got true, want false`},
	} {
		s := ops.NewScope(t.Context())
		x := ops.Const(s, [][]float32{{1}})
		l := &layers.TFOpLambda{Function: c.function}
		l.ComputeAll(s, &base.Invocation{Inputs: []*ops.Value{x}, Args: c.args})
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: the error is %v, want %q", c.function, c.args, err, c.want)
		}
	}
}
