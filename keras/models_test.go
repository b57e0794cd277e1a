package keras_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// modelCase is a model of testdata/models/gen_models.py.
type modelCase struct {
	Name                    string
	Unbuilt, Config, Legacy json.RawMessage
	Inputs, Outputs         int
	Weights, Trainable      []string
	Layers                  []string
	OutputNames             []string `json:"output_names"`
	Summary                 string
}

func modelCases(t *testing.T) ([]modelCase, map[string]*tensor.Tensor) {
	var cases []modelCase
	kerastest.JSON(t, "testdata/models/models.json", &cases)
	return cases, kerastest.Arrays(t, "testdata/models/models.npz")
}

// layered is implemented by the models.
type layered interface {
	keras.Callable
	base.LayerLike
}

func TestModelsAreTfKeras(t *testing.T) {
	cases, arrays := modelCases(t)
	for _, c := range cases {
		for form, data := range map[string]json.RawMessage{"unbuilt": c.Unbuilt, "new form": c.Config, "legacy form": c.Legacy} {
			t.Run(c.Name+"/"+form, func(t *testing.T) {
				obj, err := keras.FromConfig(data, nil)
				kerastest.Must(t, err)
				m := obj.(layered)
				got, err := keras.Config(m, &keras.ConfigOptions{Legacy: form == "legacy form"})
				kerastest.Must(t, err)
				kerastest.SameJSON(t, "config", data, got)
				checkModel(t, &c, arrays, m)
			})
		}
	}
}

// checkModel compares weights and outputs with tf_keras's.
func checkModel(t *testing.T, c *modelCase, arrays map[string]*tensor.Tensor, m layered) {
	inputs := make([]*ops.Value, c.Inputs)
	for i := range inputs {
		inputs[i] = ops.ValueOf(arrays[fmt.Sprintf("%s/input%d", c.Name, i)])
	}
	s := function.Eager(t.Context())
	if seq, ok := m.(*keras.Sequential); ok {
		shape := inputs[0].Shape().Clone()
		shape[0] = -1
		kerastest.Must(t, keras.Build(s, seq, shape))
	}
	vars := keras.Variables(m)
	if len(vars) != len(c.Weights) {
		t.Fatalf("there are %d variables, want %q", len(vars), c.Weights)
	}
	for i, v := range vars {
		kerastest.Must(t, v.Store(arrays[fmt.Sprintf("%s/weight%d", c.Name, i)]))
	}
	if got := len(keras.Trainable(m)); got != len(c.Trainable) {
		t.Errorf("%d variables are trainable, want %d", got, len(c.Trainable))
	}
	s = function.Eager(t.Context())
	out := keras.CallAll(s, m, inputs, nil)
	kerastest.Must(t, s.Err())
	if len(out) != c.Outputs {
		t.Fatalf("%d outputs, want %d", len(out), c.Outputs)
	}
	for i := range out {
		kerastest.Near(t, fmt.Sprintf("output %d", i), out[i], arrays[fmt.Sprintf("%s/output%d", c.Name, i)], 1e-5)
	}
	var summary strings.Builder
	kerastest.Must(t, keras.Summary(&summary, m, nil))
	if got := strings.TrimRight(summary.String(), "\n"); got != c.Summary {
		t.Errorf("summary:\n%s\nwant:\n%s", got, c.Summary)
	}
	if f, ok := m.(*keras.Functional); ok {
		var names []string
		for _, l := range f.Layers() {
			names = append(names, l.(base.LayerLike).AsLayer().Name)
		}
		if strings.Join(names, " ") != strings.Join(c.Layers, " ") {
			t.Errorf("layers %q, want %q", names, c.Layers)
		}
	}
}
