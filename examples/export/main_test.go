package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/tensor"
)

func TestTheExportedModelRuns(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "linear")
	w := tensor.Must(tensor.New(make([]float32, 8), 4, 2))
	if err := export(ctx, NewLinear(w, tensor.Vector[float32](0, 0)), dir); err != nil {
		t.Fatal(err)
	}
	model, err := cairn.Load(ctx, os.DirFS(dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.Must(tensor.New(make([]float32, 12), 3, 4))
	out, err := model.Call(ctx, "serving_default", map[string]*tensor.Tensor{"x": x})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range tensor.Values[float32](out["probs"]) {
		if p != 0.5 {
			t.Errorf("probability %d is %v", i, p)
		}
	}
}
