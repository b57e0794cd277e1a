package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

func values(t *testing.T, v *ops.Value) *tensor.Tensor {
	t.Helper()
	x, err := v.Tensor()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestAModelOfTensorFlowIsTrainedOn(t *testing.T) {
	ctx := context.Background()
	fsys, err := fs.Sub(embedded, "model")
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	dir, out := filepath.Join(work, "run"), filepath.Join(work, "tuned")
	batch := data()
	in := map[string]*tensor.Tensor{"x": values(t, batch.X), "labels": values(t, batch.Labels)}
	var losses []float32
	for range 2 { // the second run resumes
		if err := run(ctx, fsys, dir, out); err != nil {
			t.Fatal(err)
		}
		model, err := cairn.Load(ctx, os.DirFS(out), nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			answer, err := model.Call(ctx, "train", in)
			if err != nil {
				t.Fatal(err)
			}
			losses = append(losses, tensor.Values[float32](answer["loss"])[0])
		}
		if _, err := model.Call(ctx, "serving_default", map[string]*tensor.Tensor{"v": in["x"]}); err != nil {
			t.Fatal(err)
		}
	}
	for i := 1; i < len(losses); i++ {
		if losses[i] >= losses[i-1] {
			t.Errorf("the losses do not fall: %v", losses)
			break
		}
	}
}

// TestNodesMadeAfterThoseOfAFileHaveNoShapesOfTheirs: TensorFlow compares the shapes that
// nodes have as an attribute with those that it infers.
func TestNodesMadeAfterThoseOfAFileHaveNoShapesOfTheirs(t *testing.T) {
	fsys, err := fs.Sub(embedded, "model")
	if err != nil {
		t.Fatal(err)
	}
	tuned, err := load(t.Context(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	c, err := tuned.Train.Trace(Batch{ops.Spec(tensor.Float32, -1, 4), ops.Spec(tensor.Int32, -1)})
	if err != nil {
		t.Fatal(err)
	}
	loaded := map[*graph.Function]bool{}
	for _, f := range tuned.forward.Function.Graph.Reachable() {
		loaded[f] = true
	}
	for _, f := range append(c.Function.Graph.Reachable(), c.Function) {
		if loaded[f] || f == tuned.forward.Function {
			continue
		}
		for _, n := range f.Graph.Nodes() {
			if strings.HasSuffix(n.Op, "Grad") && n.Attrs.Has("_output_shapes") {
				t.Errorf("%s (%s) of %s has the shapes of another node", n.Name, n.Op, f.Name)
			}
		}
	}
}
