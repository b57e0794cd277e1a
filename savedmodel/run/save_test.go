package run_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// saved writes a model into memory and loads it again.
func saved(t *testing.T, m *run.Model, opts *savedmodel.RewriteOptions) *run.Model {
	t.Helper()
	dir := vfs.MemDir()
	if err := m.Save(ctx, dir, "m", opts); err != nil {
		t.Fatal(err)
	}
	fsys, err := fs.Sub(dir, "m")
	if err != nil {
		t.Fatal(err)
	}
	again, err := run.Load(ctx, fsys, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func TestARunningModelIsSavedWithItsState(t *testing.T) {
	m := load(t, "module")
	bump(t, m, 40)
	if n := bump(t, saved(t, m, nil), 1); n != 41 {
		t.Errorf("the copy counts on to %d", n)
	}
	if n := bump(t, load(t, "module"), 1); n != 1 {
		t.Errorf("the model that was loaded counts to %d", n)
	}
}

func TestARunningModelOfTensorFlow1IsNotSaved(t *testing.T) {
	err := load(t, "tf1_refs").Save(ctx, vfs.MemDir(), "m", nil)
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(fmt.Sprint(err), "no objects") {
		t.Errorf("%v", err)
	}
}

// TestTablesOfARunningModelAreSaved inserts into a mutable table of TensorFlow's, saves
// the model, and looks the key up in the copy.
func TestTablesOfARunningModelAreSaved(t *testing.T) {
	m := load(t, "mutable_table")
	in := map[string]*tensor.Tensor{"k": tensor.Vector("new"), "v": tensor.Vector[int64](7)}
	if _, err := m.Call(ctx, "put", in); err != nil {
		t.Fatal(err)
	}
	if err := m.Save(ctx, vfs.MemDir(), "m", nil); err == nil || !strings.Contains(err.Error(), "RewriteOptions.Run") {
		t.Errorf("%v", err)
	}
	again := saved(t, m, &savedmodel.RewriteOptions{Run: ops.NewRunner(kernel.All())})
	out, err := again.Call(ctx, "get", map[string]*tensor.Tensor{"k": tensor.Vector("new", "old", "none")})
	if err != nil {
		t.Fatal(err)
	}
	if want := tensor.Vector[int64](7, 1, -1); !out["v"].Equal(want) {
		t.Errorf("got %v, want %v", out["v"], want)
	}
}
