package checkpoint

import (
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
	"github.com/google/go-cmp/cmp"
)

// TestAnEdgeWithoutANameIsReported: a name may be empty, and a path through it is
// one like any other.
func TestAnEdgeWithoutANameIsReported(t *testing.T) {
	objects := func(x float32) (*node, *trackable.Variable) {
		root, middle, v := new(node), new(node), trackable.NewVariable(tensor.Vector(x)).Named("v")
		if err := root.Attach("", middle); err != nil {
			t.Fatal(err)
		}
		if err := middle.Attach("a", v); err != nil {
			t.Fatal(err)
		}
		return root, v
	}
	first, _ := objects(1)
	ck, err := New(first, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := vfs.MemDir()
	if err := ck.WriteTo(ctx, dir, "ckpt"); err != nil {
		t.Fatal(err)
	}
	second, v := objects(0)
	if ck, err = New(second, nil); err != nil {
		t.Fatal(err)
	}
	r, err := ck.ReadFS(ctx, dir, "ckpt", nil)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, it := range r.Restored() {
		paths = append(paths, it.Path)
	}
	if diff := cmp.Diff([]string{".a"}, paths); diff != "" {
		t.Error(diff)
	}
	if got := tensor.Values[float32](v.Load())[0]; got != 1 {
		t.Errorf("the variable is %v", got)
	}
}
