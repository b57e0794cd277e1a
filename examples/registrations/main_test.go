package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/tensor"
)

// TestTheModelRestoresItsStacks loads the model in a program without the saver: the
// model's own ops restore the parts.
func TestTheModelRestoresItsStacks(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "stacks")
	if err := run(ctx, dir); err != nil {
		t.Fatal(err)
	}
	model, err := cairn.Load(ctx, os.DirFS(dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := model.Call(ctx, "serving_default", map[string]*tensor.Tensor{"inputs": tensor.Scalar[float32](2)})
	if err != nil {
		t.Fatal(err)
	}
	if got := tensor.Values[float32](out["output_0"])[0]; got != 42 {
		t.Errorf("twice the sum of 1 to 6 is %v", got)
	}
}
