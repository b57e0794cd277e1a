package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// countingDir counts the writes to data files and refuses those from one on.
type countingDir struct {
	*vfs.Mem
	writes, busy, overlaps atomic.Int64
	most                   int64
}

var errNoRoom = errors.New("no room")

func (d *countingDir) Create(name string) (vfs.File, error) {
	f, err := d.Mem.Create(name)
	if strings.Contains(name, ".data-") {
		return countingFile{f, d}, err
	}
	return f, err
}

type countingFile struct {
	vfs.File
	d *countingDir
}

func (f countingFile) Write(b []byte) (int, error) {
	if f.d.busy.Add(1) > 1 {
		f.d.overlaps.Add(1)
	}
	defer f.d.busy.Add(-1)
	time.Sleep(time.Millisecond)
	if f.d.writes.Add(1) > f.d.most {
		return 0, errNoRoom
	}
	return f.File.Write(b)
}

func (f countingFile) Sync() error {
	if f.d.busy.Load() > 0 {
		f.d.overlaps.Add(1)
	}
	return f.File.Sync()
}

// TestSmallTensorsTakeFewWrites checks that small tensors are collected into
// few sequential writes, which run while more are collected. A failed write
// fails the Finish at the latest, and a refused tensor leaves no bytes.
func TestSmallTensorsTakeFewWrites(t *testing.T) {
	const n, size = 20_000, 1024
	want := make([]byte, 0, n*size)
	for _, most := range []int64{1 << 20, 3, 19} {
		d := &countingDir{Mem: vfs.MemDir(), most: most}
		w, err := NewWriter(d, "p", nil)
		if err != nil {
			t.Fatal(err)
		}
		want = want[:0]
		buf := tensor.Must(tensor.Zeros(tensor.Uint8, size)) // used again, as Add allows
		for i := range n {
			b := buf.Bytes()
			for k := range b {
				b[k] = byte(i + k)
			}
			want = append(want, b...)
			if err = w.Add(t.Context(), fmt.Sprint("v", i), buf); err != nil {
				break
			}
		}
		if err == nil {
			err = w.Finish(t.Context())
		}
		if d.overlaps.Load() > 0 {
			t.Errorf("%d writes beside others", d.overlaps.Load())
		}
		if most < 1<<20 {
			if !errors.Is(err, errNoRoom) {
				t.Errorf("after %d writes: %v", most, err)
			}
			if err := w.Abort(); err != nil || len(d.Names()) > 0 {
				t.Errorf("%v, %v is left", err, d.Names())
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := d.writes.Load(); got > n*size/gather+1 {
			t.Errorf("%d writes of %d bytes", got, n*size)
		}
		got, err := d.ReadFile("p.data-00000-of-00001")
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, want %d, %v", len(got), len(want), err)
		}
		if w.Written() != n*size {
			t.Errorf("%d bytes written", w.Written())
		}
	}
}

// readCountingFS counts how often data files are opened and read.
type readCountingFS struct {
	fs.FS
	opened, reads atomic.Int64
}

func (c *readCountingFS) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if strings.Contains(name, ".data-") {
		c.opened.Add(1)
	}
	if err == nil && strings.Contains(name, ".data-") {
		return readCountingFile{f, f.(io.ReaderAt), c}, nil
	}
	return f, err
}

type readCountingFile struct {
	fs.File
	r io.ReaderAt
	c *readCountingFS
}

func (f readCountingFile) ReadAt(b []byte, off int64) (int, error) {
	f.c.reads.Add(1)
	return f.r.ReadAt(b, off)
}

// TestSmallTensorsTakeFewReads, in whatever order they are asked for.
func TestSmallTensorsTakeFewReads(t *testing.T) {
	const n, size = 10_000, 1024
	mem := vfs.MemDir()
	write(t, mem, "p", nil, func(w *Writer) {
		for i := range n {
			w.Add(t.Context(), fmt.Sprint("v", i), tensor.Must(tensor.Zeros(tensor.Uint8, size)))
		}
	})
	c := &readCountingFS{FS: mem}
	r, err := Open(t.Context(), c, "p", nil)
	if err != nil {
		t.Fatal(err)
	}
	reqs := make([]ReadRequest, n)
	for i := range reqs {
		reqs[i].Name = fmt.Sprint("v", i*7919%n)
	}
	if err := r.ReadAll(t.Context(), reqs, nil); err != nil {
		t.Fatal(err)
	}
	if got := c.reads.Load(); got > n*size/small+1 {
		t.Errorf("%d reads of %d bytes", got, n*size)
	}
	if got := c.opened.Load(); got != 1 {
		t.Errorf("the data file was opened %d times", got)
	}
	if err := mem.Remove("p.data-00000-of-00001"); err != nil {
		t.Fatal(err)
	}
	c.opened.Store(0)
	if err := r.Verify(t.Context(), nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("without a data file: %v", err)
	}
	if got := c.opened.Load(); got != 1 {
		t.Errorf("a data file that is missing was opened %d times", got)
	}
}
