package models_test

import (
	"fmt"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// A layer takes a constant in addition to a symbolic tensor. The model is called in separate
// traces.
func TestConstantsAreInputsOfLayers(t *testing.T) {
	s := keras.Symbolic(t.Context())
	number := keras.Input(s, tensor.Shape{2}, nil)
	text := keras.Input(s, tensor.Shape{2}, &keras.InputOptions{DType: tensor.String})
	constant := tensor.Must(tensor.New([]float32{1, 2.5}, 1, 2))
	words := tensor.Must(tensor.FromStrings(tensor.String, []string{"c", "d"}, 1, 2))
	m, err := keras.NewModel([]*ops.Value{number, text}, []*ops.Value{
		new(layers.Add).Call(s, []ops.Input{number, constant}), new(layers.Concatenate).Call(s, []ops.Input{text, words}),
	}, nil)
	kerastest.Must(t, err)
	in := []*ops.Value{ops.ValueOf(constant), ops.ValueOf(tensor.Must(tensor.FromStrings(tensor.String, []string{"a", "b"}, 1, 2)))}
	for _, m := range []keras.Callable{m, reload(t, m, nil, nil).Model} {
		run := function.New(func(s *ops.Scope, in []*ops.Value) []*ops.Value { return keras.CallAll(s, m, in, nil) }, nil)
		out, err := run.Call(t.Context(), in)
		kerastest.Must(t, err)
		if got := fmt.Sprint(out[0], out[1]); got != "[[2. 5.]] [[b'a' b'b' b'c' b'd']]" {
			t.Errorf("got %s", got)
		}
	}
}
