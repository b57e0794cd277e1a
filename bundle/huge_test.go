package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// thinDir keeps large writes by reference, so that files of many gigabytes can
// be made from one tensor's storage.
type thinDir struct {
	*vfs.Mem
	files map[string]*thinFile
}

type thinFile struct {
	size  int64
	parts []thinPart // by offset
}

type thinPart struct {
	at int64
	b  []byte
}

func newThinDir() *thinDir { return &thinDir{vfs.MemDir(), make(map[string]*thinFile)} }

func (d *thinDir) Create(name string) (vfs.File, error) {
	if !strings.Contains(name, ".data-") {
		return d.Mem.Create(name)
	}
	f := &thinFile{}
	d.files[name] = f
	return f, nil
}

func (d *thinDir) Rename(a, b string) error {
	if f, ok := d.files[a]; ok {
		delete(d.files, a)
		d.files[b] = f
		return nil
	}
	return d.Mem.Rename(a, b)
}

func (d *thinDir) Open(name string) (fs.File, error) {
	if f, ok := d.files[name]; ok {
		return thinReader{f}, nil
	}
	return d.Mem.Open(name)
}

func (f *thinFile) Write(b []byte) (int, error) {
	if len(b) < direct {
		b = append([]byte(nil), b...)
	} else if len(b) == gather {
		b = append([]byte(nil), b...) // may be the writer's own buffer
	}
	f.parts = append(f.parts, thinPart{f.size, b})
	f.size += int64(len(b))
	return len(b), nil
}

func (f *thinFile) WriteAt([]byte, int64) (int, error) { return 0, errors.ErrUnsupported }
func (f *thinFile) Sync() error                        { return nil }
func (f *thinFile) Close() error                       { return nil }

type thinReader struct{ f *thinFile }

func (r thinReader) Stat() (fs.FileInfo, error) { return thinInfo{r.f.size}, nil }
func (r thinReader) Read([]byte) (int, error)   { return 0, errors.ErrUnsupported }
func (r thinReader) Close() error               { return nil }

type thinInfo struct{ size int64 }

func (i thinInfo) Name() string       { return "thin" }
func (i thinInfo) Size() int64        { return i.size }
func (i thinInfo) Mode() fs.FileMode  { return 0o644 }
func (i thinInfo) ModTime() time.Time { return time.Time{} }
func (i thinInfo) IsDir() bool        { return false }
func (i thinInfo) Sys() any           { return nil }

func (r thinReader) ReadAt(p []byte, off int64) (n int, err error) {
	i := sort.Search(len(r.f.parts), func(i int) bool { return r.f.parts[i].at > off }) - 1
	for ; i < len(r.f.parts) && n < len(p); i++ {
		k := copy(p[n:], r.f.parts[i].b[off-r.f.parts[i].at:])
		n += k
		off += int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func need64(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("needs a 64-bit platform")
	}
	if testing.Short() || detector.Racing {
		t.Skip("moves gigabytes")
	}
}

func TestDataFileAbove4GiB(t *testing.T) {
	need64(t)
	ctx, dir := context.Background(), newThinDir()
	large := sample(t, tensor.Uint8, 64<<20)
	const n = 68
	w, err := NewWriter(dir, "huge", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := w.Add(ctx, fmt.Sprint("large", i), large); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Add(ctx, "last", tensor.Vector("beyond", "4 GiB")); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(ctx); err != nil {
		t.Fatal(err)
	}
	r := mustOpen(t, dir, "huge")
	e, _ := r.Entry("last")
	if e.Offset != n*64<<20 {
		t.Errorf("the last tensor lies at %d", e.Offset)
	}
	if v, err := r.Read(ctx, "last"); err != nil || v.Strings()[1] != "4 GiB" {
		t.Errorf("the last tensor: %v", err)
	}
	s := Slice{[]Extent{{Start: 63 << 20, Length: 10}}}
	if v, err := r.ReadSlice(ctx, "large63", s); err != nil || string(v.Bytes()) != string(large.Bytes()[63<<20:63<<20+10]) {
		t.Errorf("the end of a tensor that lies across 4 GiB: %v", err)
	}
}

// over4GiB is a variable so that it needn't fit a 32-bit int.
var over4GiB int64 = 1 << 32

// zeroMemory returns n zero bytes that take no memory as long as they are only
// read.
func zeroMemory(n int) []byte { return make([]byte, n) }

func TestTensorAbove4GiB(t *testing.T) {
	need64(t)
	ctx, dir := context.Background(), newThinDir()
	size := int(over4GiB + 8)
	v := tensor.Must(tensor.FromBytes(tensor.Uint8, zeroMemory(size), size))
	write(t, dir, "huge", nil, func(w *Writer) {
		if err := w.Add(ctx, "v", v); err != nil {
			t.Fatal(err)
		}
	})
	r := mustOpen(t, dir, "huge")
	if e, _ := r.Entry("v"); e.Size != int64(size) || e.Shape[0] != size {
		t.Errorf("entry %+v", e)
	}
	if err := r.Verify(ctx, nil); err != nil {
		t.Error(err)
	}
}

// TestStringsAbove4GiB: a length that four bytes can't hold counts with eight in
// the checksum.
func TestStringsAbove4GiB(t *testing.T) {
	need64(t)
	if got := len(appendLength(nil, 1<<32-1, false)); got != 4 {
		t.Errorf("the length 2³²-1 counts with %d bytes", got)
	}
	if got := len(appendLength(nil, 1<<32, false)); got != 8 {
		t.Errorf("the length 2³² counts with %d bytes", got)
	}
	ctx, dir := context.Background(), newThinDir()
	zeros := zeroMemory(int(over4GiB + 5))
	long := unsafe.String(&zeros[0], len(zeros))
	write(t, dir, "huge", nil, func(w *Writer) {
		if err := w.Add(ctx, "v", tensor.Vector("a", long, "b")); err != nil {
			t.Fatal(err)
		}
	})
	r := mustOpen(t, dir, "huge")
	if e, _ := r.Entry("v"); e.Size != 1+5+1+4+int64(len(long))+2 {
		t.Errorf("%d bytes", e.Size)
	}
	if err := r.Verify(ctx, nil); err != nil {
		t.Error(err)
	}
	if os.Getenv("CAIRN_HUGE") == "" {
		return // reading it takes 4 GiB
	}
	v, err := r.Read(ctx, "v")
	if err != nil || len(v.Strings()[1]) != len(long) || v.Strings()[2] != "b" {
		t.Error(err)
	}
}

// TestMemoryAboveTheTensors saves and restores tensors of 256 MiB and measures
// the memory allocated in addition to them.
func TestMemoryAboveTheTensors(t *testing.T) {
	ctx, path := context.Background(), t.TempDir()
	var ts []*tensor.Tensor
	for range 32 {
		ts = append(ts, sample(t, tensor.Uint8, 8<<20))
	}
	words := make([]string, 200000)
	for i := range words {
		words[i] = "word"
	}
	text := tensor.Vector(words...)
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	n := allocated(func() {
		write(t, vfs.OSDir(path), "m", &WriterOptions{NoSync: true}, func(w *Writer) {
			for i, v := range ts {
				if err := w.Add(ctx, fmt.Sprint("v", i), v); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Add(ctx, "text", text); err != nil {
				t.Fatal(err)
			}
		})
	})
	if n > 8<<20 {
		t.Errorf("saving allocates %d bytes", n)
	}
	n = allocated(func() {
		r, err := OpenFile(ctx, filepath.Join(path, "m"), nil)
		if err != nil {
			t.Fatal(err)
		}
		var reqs []ReadRequest
		for i, v := range ts {
			reqs = append(reqs, ReadRequest{Name: fmt.Sprint("v", i), Dst: v})
		}
		if err := r.ReadAll(ctx, reqs, nil); err != nil {
			t.Fatal(err)
		}
		if err := r.Verify(ctx, nil); err != nil {
			t.Fatal(err)
		}
	})
	if n > 8<<20 {
		t.Errorf("restoring and verifying allocates %d bytes", n)
	}
}
