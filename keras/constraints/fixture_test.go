package constraints_test

import (
	"strings"
	"testing"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestConstraintsAreTfKeras compares projected weights and penalties with those of
// testdata/gen_constraints.py.
func TestConstraintsAreTfKeras(t *testing.T) {
	arrays := kerastest.Arrays(t, "testdata/constraints.npz")
	tested := 0
	for name, w := range arrays {
		key, ok := strings.CutSuffix(name, "/w")
		if !ok {
			continue
		}
		tested++
		obj, err := keras.FromConfig([]byte(strings.SplitN(key, "/", 2)[0]), nil)
		kerastest.Must(t, err)
		s := kerastest.Scope(t)
		var got *ops.Value
		switch x := obj.(type) {
		case constraints.Constraint:
			got = x.Project(s, w)
		case regularizers.Regularizer:
			got = x.Penalty(s, w)
		}
		kerastest.Must(t, s.Err())
		relative := map[tensor.DType]float64{tensor.Float32: 1e-6, tensor.Float64: 1e-14, tensor.Float16: 1e-3}[w.DType()]
		kerastest.Near(t, key, got, arrays[key+"/to"], relative)
	}
	if tested < 100 {
		t.Errorf("only %d cases", tested)
	}
}
