package bundle

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

func TestReadBackFindsWhatIsMissing(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		spoil func(dir *vfs.Mem)
		want  string
	}{
		"a short data file":   {func(dir *vfs.Mem) { dir.WriteFile("c.data-00001-of-00002", []byte("short")) }, "the file ends here"},
		"a missing data file": {func(dir *vfs.Mem) { dir.Remove("c.data-00000-of-00002") }, "is missing"},
		"another count": {func(dir *vfs.Mem) {
			b, _ := fs.ReadFile(dir, "one.index")
			dir.WriteFile("c.index", b)
		}, "bytes, "},
		"a short index": {func(dir *vfs.Mem) {
			b, _ := fs.ReadFile(dir, "c.index")
			dir.WriteFile("c.index", b[:len(b)-1])
		}, "corrupt"},
		"another byte": {func(dir *vfs.Mem) {
			b, _ := fs.ReadFile(dir, "c.index")
			b[20] ^= 1
			dir.WriteFile("c.index", b)
		}, "at offset 20 is corrupt: it differs from the written byte"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := vfs.MemDir()
			write(t, dir, "one", nil, func(w *Writer) { w.Add(ctx, "a", tensor.Scalar(1.0)) })
			write(t, dir, "c", nil, func(w *Writer) {
				w.Add(ctx, "a", tensor.Scalar(1.0))
				w.NextShard()
				w.Add(ctx, "b", tensor.Vector(1.0, 2))
			})
			data := []string{"c.data-00000-of-00002", "c.data-00001-of-00002"}
			index, err := dir.ReadFile("c.index")
			if err != nil {
				t.Fatal(err)
			}
			made := checkIndex(ctx, "c.index", index, len(data))
			if err := errors.Join(made.err, made.readBack(ctx, dir, data)); err != nil {
				t.Fatal(err)
			}
			if one := checkIndex(ctx, "c.index", index, 3); one.err == nil {
				t.Error("an index of two data files passes for one of three")
			}
			c.spoil(dir)
			if err := made.readBack(ctx, dir, data); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// losingDir takes every write for done, and loses some bytes of it.
type losingDir struct{ *vfs.Mem }

func (d losingDir) Create(name string) (vfs.File, error) {
	f, err := d.Mem.Create(name)
	if strings.Contains(name, ".data-") {
		return losingFile{f}, err
	}
	return f, err
}

type losingFile struct{ vfs.File }

func (f losingFile) Write(b []byte) (int, error) {
	_, err := f.File.Write(b[:len(b)-1])
	return len(b), err
}

func TestAWriteThatIsLostFailsTheFinish(t *testing.T) {
	ctx := context.Background()
	mem := vfs.MemDir()
	write(t, mem, "c", nil, func(w *Writer) { w.Add(ctx, "old", tensor.Scalar(1.0)) })
	w, err := NewWriter(losingDir{mem}, "c", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(ctx, "new", tensor.Scalar(2.0)); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(ctx); !errors.Is(err, ErrCorrupt) {
		t.Errorf("finished with %v", err)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if got, err := consume(mem, "c"); err != nil || got["old"] == nil {
		t.Errorf("the bundle that was there: %v, %v", got, err)
	}
}

func TestHugeDimensionHidesNoOtherTensor(t *testing.T) {
	ctx, dir := context.Background(), vfs.MemDir()
	huge := &pb.BundleEntryProto{Dtype: pb.DataType(tensor.Int8), Shape: dims(1 << 33), Offset: int64(len(goodData)), Size: 1 << 33}
	for name, b := range rows(goodHeader, goodData, row{"huge", huge.Marshal()}, row{"t", goodEntry().Marshal()})(t) {
		dir.WriteFile(name, b)
	}
	r := mustOpen(t, dir, "ckpt")
	if _, err := r.Read(ctx, "t"); err != nil {
		t.Errorf("the other tensor: %v", err)
	}
	_, err := r.Read(ctx, "huge")
	if err == nil {
		t.Error("the huge one was read")
	} else if strconv.IntSize == 32 && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("on 32 bits: %v", err)
	}
}
