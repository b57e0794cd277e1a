package saving_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/saving"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// The counts of Adapt are in no Keras file. The tokens and their weights are.
func TestAdaptedLayersAreSaved(t *testing.T) {
	s := keras.Symbolic(t.Context())
	x := keras.Input(s, tensor.Shape{2}, &keras.InputOptions{DType: tensor.Int64})
	lookup := &layers.IntegerLookup{OutputMode: layers.OutputTFIDF, MaxTokens: new(6), PadToMaxTokens: true}
	if err := lookup.SetVocabulary(function.Eager(t.Context()), []int64{3, 5, 9}, []float64{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	m, err := keras.NewModel(x, lookup.Call(s, x), nil)
	if err != nil {
		t.Fatal(err)
	}
	outputs := func(m keras.Callable) string {
		in := ops.ValueOf(tensor.Must(tensor.New([]int64{3, 9, 7, 5}, 2, 2)))
		y, err := m.Call(function.Eager(t.Context()), in).Tensor()
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(y)
	}
	for _, version := range []int{2, 3} {
		var b bytes.Buffer
		if err := saving.WriteModel(t.Context(), &b, m, kerasfile.Archive, &saving.SaveModelOptions{Keras: version}); err != nil {
			t.Fatal(err)
		}
		again, err := saving.LoadModelFrom(t.Context(), open(t, b.Bytes()), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := outputs(again.Model), outputs(m); got != want {
			t.Errorf("Keras %d: got %s, want %s", version, got, want)
		}
	}
}
