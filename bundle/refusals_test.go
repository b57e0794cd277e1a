package bundle

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/table"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// TestShortTagsAreReadAsTheLongWayReadsThem compares fieldTag with protowire for every
// tag of up to two bytes.
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

// TestStringsWithoutElementsMayTakeNoBytes: TensorFlow writes the checksum of their
// lengths even so, other writers needn't.
func TestStringsWithoutElementsMayTakeNoBytes(t *testing.T) {
	dir := vfs.MemDir()
	write := func(name string, f func(w io.Writer) error) {
		file, err := dir.Create(name)
		if err == nil {
			err = errors.Join(f(file), file.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("ckpt.data-00000-of-00001", func(w io.Writer) error {
		_, err := w.Write(nil)
		return err
	})
	write("ckpt.index", func(w io.Writer) error {
		tw := table.NewWriter(w)
		e := &pb.BundleEntryProto{Dtype: pb.DataType(tensor.String), Shape: &pb.TensorShapeProto{Dim: []*pb.Dim{{}}}, Crc32c: crc32c.Mask(0)}
		return errors.Join(tw.Add(nil, goodHeader.Marshal()), tw.Add([]byte("t"), e.Marshal()), tw.Finish())
	})
	r := mustOpen(t, dir, "ckpt")
	if err := r.Verify(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if x, err := r.Read(t.Context(), "t"); err != nil || x.DType() != tensor.String || x.Len() != 0 {
		t.Errorf("%v, %v", x, err)
	}
}
