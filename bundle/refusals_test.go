package bundle

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// TestShortTagsAreReadAsTheLongWayReadsThem holds fieldTag against protowire's way for
// every tag of up to two bytes.
func TestShortTagsAreReadAsTheLongWayReadsThem(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			for _, raw := range [][]byte{{byte(a)}, {byte(a), byte(b)}} {
				num, typ, n := fieldTag(raw)
				wantNum, wantTyp, want := protowire.ConsumeTag(raw)
				if n != want || n > 0 && (num != wantNum || typ != wantTyp) {
					t.Fatalf("% x: %v %v %d, want %v %v %d", raw, num, typ, n, wantNum, wantTyp, want)
				}
			}
		}
	}
}

func TestSlicesNeedAName(t *testing.T) {
	w, err := NewWriter(vfs.MemDir(), "ckpt", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	s := Slice{Extents: []Extent{{Start: 0, Length: 1}}}
	if err := w.AddSlice(t.Context(), "", tensor.Shape{2}, s, tensor.Vector[float32](1)); err == nil {
		t.Error("a slice of a tensor without a name is taken: its entry would stand in the header's place")
	}
	if err := w.Finish(t.Context()); err == nil {
		t.Error("the refusal doesn't stick")
	}
}

// TestAFileOfVersion1ThatHasGoneIsAnError: its tables are opened again for each
// read.
func TestAFileOfVersion1ThatHasGoneIsAnError(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/tf2.21/v1_sharded")); err != nil {
		t.Fatal(err)
	}
	r := mustOpen(t, vfs.OSDir(dir), "ckpt")
	if err := r.Verify(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dir + "/ckpt-00001-of-00002"); err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(t.Context(), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("verify: %v", err)
	}
	failed := 0
	for _, name := range r.Names() {
		if _, err := r.Read(t.Context(), name); errors.Is(err, fs.ErrNotExist) {
			failed++
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if failed == 0 || failed == r.Len() {
		t.Errorf("%d of %d tensors can't be read", failed, r.Len())
	}
}
