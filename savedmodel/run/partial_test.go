package run_test

import (
	"strings"
	"testing"

	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// TestAPartOfTheObjectsIsLoaded loads objects with the captures of their
// functions and without the rest. The checkpoint may lack the values of the
// rest, or not be read at all.
func TestAPartOfTheObjectsIsLoaded(t *testing.T) {
	dir := files(t, "keras_mlp")
	load := func(o run.LoadOptions) (*run.Model, error) {
		o.Kernels = kernel.All()
		return run.Load(ctx, dir, &o)
	}
	m, err := load(run.LoadOptions{Objects: []string{"layer_with_weights-1"}})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(m.Variables()); n != 2 {
		t.Errorf("%d variables are loaded, want the layer's 2", n)
	}
	f, err := m.Function("layer_with_weights-1")
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.Must(tensor.New(make([]float32, 5), 1, 5))
	if _, err := f.Call(ctx, []any{x}, nil); err != nil {
		t.Errorf("the layer: %v", err)
	}
	for name, err := range map[string]error{
		"the signature": func() error {
			_, err := m.Call(ctx, "serving_default", map[string]*tensor.Tensor{"hidden_input": tensor.Must(tensor.New(make([]float32, 4), 1, 4))})
			return err
		}(),
		"another layer's variable": func() error { _, err := m.Variable("layer_with_weights-0/kernel"); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), "LoadOptions.Objects") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := load(run.LoadOptions{Objects: []string{"layer_with_weight-1"}}); err == nil || !strings.Contains(err.Error(), "layer_with_weights-1") {
		t.Errorf("a path that isn't there: %v", err)
	}
	// The whole model through its root, and a part without its weights.
	if m, err = load(run.LoadOptions{Objects: []string{""}}); err != nil || len(m.Variables()) != 16 {
		t.Errorf("the root: %v", err)
	}
	if m, err = load(run.LoadOptions{Objects: []string{"layer_with_weights-1"}, NoVariables: true}); err != nil {
		t.Fatal(err)
	}
	v, err := m.Variable("layer_with_weights-1/bias")
	if err != nil || v.Load() != nil {
		t.Errorf("a variable has a value that nobody read: %v, %v", v, err)
	}
}
