package keras

import (
	"strings"
	"testing"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/tensor"
)

// TestASequentialModelsInputHasTheTypeOfTheVariables checks the dtype that tf_keras's
// configs state for the input that the first layer declares.
func TestASequentialModelsInputHasTheTypeOfTheVariables(t *testing.T) {
	for policy, want := range map[base.Policy]string{"": "float32", "mixed_float16": "float32", "float16": "float16", "float64": "float64"} {
		l := &layers.Dense{Units: 2}
		l.DType, l.BatchInputShape = policy, base.Shape{-1, 3}
		b, err := Config(NewSequential(l), nil)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if i := strings.Index(text, `"dtype"`); i < 0 || !strings.HasPrefix(strings.TrimLeft(text[i+len(`"dtype"`):], ": "), `"`+want+`"`) {
			t.Errorf("%q: the config is %s, want the first dtype %q", policy, text, want)
		}
	}
}

func TestAModelWithoutLayersIsBuilt(t *testing.T) {
	s := scope(t)
	if err := Build(s, NewSequential(), tensor.Shape{-1, 3}); err != nil {
		t.Errorf("%v", err)
	}
}
