package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/table"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// countingFS counts the files that are open.
type countingFS struct {
	fs.FS
	open, most atomic.Int64
}

type countedFile struct {
	*os.File
	c *countingFS
}

func (c *countingFS) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if n := c.open.Add(1); n > c.most.Load() {
		c.most.Store(n)
	}
	return countedFile{f.(*os.File), c}, nil
}

func (f countedFile) Close() error {
	f.c.open.Add(-1)
	return f.File.Close()
}

func TestManyShardsNeedFewHandles(t *testing.T) {
	ctx, path := context.Background(), t.TempDir()
	const shards = 3 * handles
	write(t, vfs.OSDir(path), "m", &WriterOptions{NoSync: true}, func(w *Writer) {
		for i := range shards {
			if err := w.Add(ctx, fmt.Sprintf("v%03d", i), tensor.Vector(int64(i))); err != nil {
				t.Fatal(err)
			}
			if err := w.NextShard(); err != nil {
				t.Fatal(err)
			}
		}
	})
	fsys := &countingFS{FS: os.DirFS(path)}
	r, err := Open(ctx, fsys, "m", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Header().NumShards != shards {
		t.Errorf("%d data files", r.Header().NumShards)
	}
	var reqs []ReadRequest
	for _, n := range r.Names() {
		reqs = append(reqs, ReadRequest{Name: n})
	}
	if err := r.ReadAll(ctx, reqs, nil); err != nil {
		t.Fatal(err)
	}
	for i, q := range reqs {
		if tensor.Values[int64](q.Dst)[0] != int64(i) {
			t.Errorf("%s is %v", q.Name, tensor.Values[int64](q.Dst))
		}
	}
	if err := r.Verify(ctx, nil); err != nil {
		t.Error(err)
	}
	if fsys.open.Load() != 0 || fsys.most.Load() > handles+16 {
		t.Errorf("%d files are open, at most %d were", fsys.open.Load(), fsys.most.Load())
	}
}

// peak returns approximately the peak of additional memory while f runs: the
// total allocated by f, minus memory that could be freed meanwhile, is no more.
func peak(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestBombsStaySmall opens files that promise far more than they hold.
func TestBombsStaySmall(t *testing.T) {
	ctx := context.Background()
	bomb := func(snappy bool, rows func(add func(key string, value []byte))) []byte {
		var b bytes.Buffer
		w := table.NewWriter(&b)
		if snappy {
			w = table.NewSnappyWriter(&b)
		}
		rows(func(key string, value []byte) {
			if err := w.Add([]byte(key), value); err != nil {
				t.Fatal(err)
			}
		})
		if err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	header := goodHeader.Marshal()
	long := strings.Repeat("k", 100<<10)
	for name, b := range map[string][]byte{
		// Keys that share 100 KiB with the one before.
		"shared keys": bomb(false, func(add func(string, []byte)) {
			add("", header)
			for i := range 200 {
				add(fmt.Sprintf("%s%05d", long, i), (&pb.BundleEntryProto{Dtype: 1, Size: 4, Offset: int64(i) * 4}).Marshal())
			}
		}),
		"shared keys, compressed": bomb(true, func(add func(string, []byte)) {
			add("", header)
			for i := range 2000 {
				add(fmt.Sprintf("%s%05d", long, i), (&pb.BundleEntryProto{Dtype: 1, Size: 4, Offset: int64(i) * 4}).Marshal())
			}
		}),
		"a great many entries": bomb(true, func(add func(string, []byte)) {
			add("", header)
			for i := range 20000 {
				add(fmt.Sprintf("%06d", i), []byte{0x08, 0x04, 0x12, 0x04, 0x12, 0x02, 0x08, 0x00})
			}
		}),
		"a great many slices": bomb(true, func(add func(string, []byte)) {
			add("", header)
			e := &pb.BundleEntryProto{Dtype: 1, Shape: dims(1 << 40)}
			for i := range 20000 {
				e.Slices = append(e.Slices, extent(int64(i), 1<<20))
			}
			add("t", e.Marshal())
		}),
		"an unknown field of a megabyte": bomb(true, func(add func(string, []byte)) {
			add("", append(header, append([]byte{0xfa, 0x07, 0x80, 0x80, 0x40}, make([]byte, 1<<20)...)...))
		}),
	} {
		dir := vfs.MemDir()
		dir.WriteFile("ckpt.index", b)
		var err error
		n := peak(func() {
			var r *Reader
			if r, err = Open(ctx, dir, "ckpt", nil); err == nil {
				err = r.Verify(ctx, nil)
			}
		})
		if n > 64<<20 {
			t.Errorf("%s: a file of %d bytes makes %d be allocated", name, len(b), n)
		}
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, errors.ErrUnsupported) { // an int of 32 bits
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %d bytes in the file, %d allocated: %.200v", name, len(b), n, err)
	}
}

// TestSlicesLaidOutToBeSlow: the check of a partition ends soon whatever the
// slices are.
func TestSlicesLaidOutToBeSlow(t *testing.T) {
	// Long thin boxes that all meet in each dimension alone, and never in both.
	var parts [][]span
	const n = 20000
	for i := range int64(n) {
		parts = append(parts, []span{{i, 2 * n}, {2 * (n - i), 1}})
	}
	_, err := covering(t.Context(), []span{{0, 4 * n}, {0, 4 * n}}, parts)
	if err == nil {
		t.Error("the partition was accepted")
	}
}
