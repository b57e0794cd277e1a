package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/cairnml/cairn/internal/table"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

func openV1(t testing.TB, name string) *Reader {
	t.Helper()
	r, err := Open(context.Background(), os.DirFS(fixtures), name+"/ckpt", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Version() != 1 {
		t.Fatalf("version %d", r.Version())
	}
	return r
}

func TestVersion1TypesAreRead(t *testing.T) {
	ctx := context.Background()
	r := openV1(t, "v1")
	if err := r.Verify(ctx, nil); err != nil {
		t.Fatal(err)
	}
	seen := make(map[tensor.DType]bool)
	for _, d := range tensor.DTypes() {
		for _, s := range [][]int{{}, {3}, {5, 7}} {
			name := d.String() + fmt.Sprint(s)
			e, ok := r.Entry(name)
			if !ok {
				continue // TensorFlow can't write it in this version
			}
			seen[d] = true
			want := pattern(t, d, s...)
			got, err := r.Read(ctx, name)
			if err != nil || !got.Equal(want) {
				t.Errorf("%s: %v", name, err)
			}
			if e.Size != want.NumBytes() && d.Fixed() {
				t.Errorf("%s: the entry has %d bytes, want %d", name, e.Size, want.NumBytes())
			}
			into, err := tensor.Zeros(d, s...)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.ReadInto(ctx, name, into); err != nil || !into.Equal(want) {
				t.Errorf("%s into a tensor: %v", name, err)
			}
		}
	}
	if len(seen) < 16 {
		t.Errorf("only the types %v are in the fixture", seen)
	}
}

func TestVersion1SlicesAndShardsAreRead(t *testing.T) {
	ctx := context.Background()
	full, err := tensor.Zeros(tensor.Float32, 10, 5)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tensor.Values[float32](full) {
		tensor.Values[float32](full)[i] = float32(i)
	}
	for _, name := range []string{"v1_slices", "v1_sharded"} {
		t.Run(name, func(t *testing.T) {
			r := openV1(t, name)
			if err := r.Verify(ctx, nil); err != nil {
				t.Error(err)
			}
			got, err := r.Read(ctx, "part")
			if err != nil || !got.Equal(full) {
				t.Errorf("part: %v, %v", got, err)
			}
			cut, err := ParseSlice("5,4:1,2")
			if err != nil {
				t.Fatal(err)
			}
			got, err = r.ReadSlice(ctx, "part", cut)
			if err != nil || !slices.Equal(tensor.Values[float32](got), []float32{26, 27, 31, 32, 36, 37, 41, 42}) {
				t.Errorf("part %v: %v", cut, err)
			}
			if parts, err := r.Parts("part"); err != nil || len(parts) != 2 || !parts[1].Shape.Equal(tensor.Shape{3, 5}) {
				t.Errorf("parts %v, %v", parts, err)
			}
			if _, err := r.Read(ctx, "parts"); !errors.Is(err, ErrNotFound) {
				t.Errorf("a missing tensor: %v", err)
			}
		})
	}
}

func TestVersion1SnappyBlocksAreRead(t *testing.T) {
	// The fixture's table is written again with compressed blocks.
	ctx := context.Background()
	plain := openV1(t, "v1")
	old, err := os.ReadFile(fixtures + "/v1/ckpt")
	if err != nil {
		t.Fatal(err)
	}
	from, err := table.Open(bytes.NewReader(old), int64(len(old)), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	to := table.NewSnappyWriter(&packed)
	if err := from.All(func(k, v []byte, _ int64) error { return to.Add(k, v) }); err != nil {
		t.Fatal(err)
	}
	if err := to.Finish(); err != nil {
		t.Fatal(err)
	}
	if packed.Len() >= len(old) {
		t.Fatalf("%d bytes became %d", len(old), packed.Len())
	}
	dir := vfs.MemDir()
	dir.WriteFile("ckpt", packed.Bytes())
	r := mustOpen(t, dir, "ckpt")
	for _, name := range plain.Names() {
		want, err1 := plain.Read(ctx, name)
		got, err2 := r.Read(ctx, name)
		if err1 != nil || err2 != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", name, err1, err2)
		}
	}
	if err := r.Verify(ctx, nil); err != nil {
		t.Error(err)
	}
}

func TestVersion1IsConvertedByCopying(t *testing.T) {
	ctx := context.Background()
	r := openV1(t, "v1_sharded")
	dir := vfs.MemDir()
	write(t, dir, "new", nil, func(w *Writer) {
		if err := w.CopyAll(ctx, r, nil); err != nil {
			t.Fatal(err)
		}
	})
	n := mustOpen(t, dir, "new")
	if !slices.Equal(n.Names(), r.Names()) {
		t.Errorf("names %q, want %q", n.Names(), r.Names())
	}
	for _, name := range r.Names() {
		a, err1 := r.Read(ctx, name)
		b, err2 := n.Read(ctx, name)
		if err1 != nil || err2 != nil || !a.Equal(b) {
			t.Errorf("%s: %v, %v", name, err1, err2)
		}
	}
	if e, _ := n.Entry("part"); len(e.Slices) != 2 {
		t.Errorf("part has slices %v", e.Slices)
	}
}

// hookedFS calls a hook with the result of each read; its error becomes the
// read's.
type hookedFS struct {
	fs.FS
	hook func(b []byte) error
}

type hookedFile struct {
	fs.File
	io.ReaderAt
	fsys *hookedFS
}

func (h *hookedFS) Open(name string) (fs.File, error) {
	f, err := h.FS.Open(name)
	if r, ok := f.(io.ReaderAt); ok && err == nil {
		return hookedFile{f, r, h}, nil
	}
	return f, err
}

func (f hookedFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.ReaderAt.ReadAt(b, off)
	if herr := f.fsys.hook(b[:n]); herr != nil {
		return 0, herr
	}
	return n, err
}

// TestV1FilesThatGoBadWhileTheyAreOpen: all is sound when the checkpoint is opened,
// and whichever read goes wrong later is told, as is the end of a context.
func TestV1FilesThatGoBadWhileTheyAreOpen(t *testing.T) {
	broken := errors.New("the disk is broken")
	for what, c := range map[string]struct {
		change func(b []byte, cancel func()) error
		want   error
	}{
		"a byte":    {func(b []byte, _ func()) error { b[len(b)/2] ^= 0x10; return nil }, ErrCorrupt},
		"the disk":  {func([]byte, func()) error { return broken }, broken},
		"cancelled": {func(_ []byte, cancel func()) error { cancel(); return nil }, context.Canceled},
	} {
		for name, read := range map[string]func(ctx context.Context, r *Reader) error{
			"Verify": func(ctx context.Context, r *Reader) error { return r.Verify(ctx, &VerifyOptions{Workers: 1}) },
			"ReadAll": func(ctx context.Context, r *Reader) error {
				var reqs []ReadRequest
				for _, name := range r.Names() {
					reqs = append(reqs, ReadRequest{Name: name})
				}
				return r.ReadAll(ctx, reqs, &ReadAllOptions{Workers: 1})
			},
			"Read": func(ctx context.Context, r *Reader) error { _, err := r.Read(ctx, r.Names()[0]); return err },
		} {
			for k := 0; ; k++ {
				fsys := &hookedFS{os.DirFS(fixtures), func([]byte) error { return nil }}
				r, err := Open(t.Context(), fsys, "v1/ckpt", nil)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				reads := 0
				fsys.hook = func(b []byte) error {
					if reads++; reads == k+1 && len(b) > 0 {
						return c.change(b, cancel)
					}
					return nil
				}
				err = read(ctx, r)
				cancel()
				r.Close()
				if reads <= k {
					if err != nil || k < 3 {
						t.Errorf("%s: %v after %d reads", name, err, reads)
					}
					break
				}
				if !errors.Is(err, c.want) {
					t.Errorf("%s: %s at read %d: %v", name, what, k, err)
				}
			}
		}
	}
}
