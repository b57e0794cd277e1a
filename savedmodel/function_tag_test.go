package savedmodel_test

import (
	"context"
	"io/fs"
	"testing"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// TestAFunctionsTagNamesItsEdge saves an object whose function has a name of Python's. A
// checkpoint of the object leaves functions out, so the tag is no mistake there.
func TestAFunctionsTagNamesItsEdge(t *testing.T) {
	ctx := context.Background()
	type model struct {
		W      *trackable.Variable
		Call   *function.Func[*ops.Value, *ops.Value]            `cairn:"__call__"`
		Losses []*function.Func[*ops.Value, *ops.Value]          `cairn:"regularization_losses"`
		ByName map[string]*function.Func[*ops.Value, *ops.Value] `cairn:"by name"`
	}
	m := &model{W: trackable.NewVariable(tensor.Scalar[float32](2))}
	m.Call = function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Mul(s, x, m.W) })
	if _, err := m.Call.Trace(ops.Spec(tensor.Float32)); err != nil {
		t.Fatal(err)
	}
	dir := vfs.MemDir()
	if err := savedmodel.SaveFS(ctx, m, dir, "m", nil); err != nil {
		t.Fatal(err)
	}
	fsys, err := fs.Sub(dir, "m")
	if err != nil {
		t.Fatal(err)
	}
	r, err := savedmodel.Restore(ctx, fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	if root, ok := r.Root.(*savedmodel.TrackableObject); !ok || root.Child("__call__") == nil {
		t.Errorf("the root is %v", r.Root)
	}
	if _, err := checkpoint.New(m, nil); err != nil {
		t.Error(err)
	}
	type mistaken struct {
		Name string `cairn:"name"`
	}
	if _, err := checkpoint.New(&mistaken{"x"}, nil); err == nil {
		t.Error("the tag of a text was accepted")
	}
}
