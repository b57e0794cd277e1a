package bundle

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/internal/limit"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/table"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// allocated returns how many bytes f allocates in all, freed ones included.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// headerOnly returns a bundle of no tensors whose header speaks of n data
// files.
func headerOnly(t *testing.T, n int32) *vfs.Mem {
	dir := vfs.MemDir()
	dir.WriteFile("ckpt.index", tableOf(t, row{"", (&pb.BundleHeaderProto{NumShards: n, Version: &pb.VersionDef{Producer: 1}}).Marshal()}))
	return dir
}

func TestHeaderOfTwoBillionDataFilesIsRefused(t *testing.T) {
	ctx := context.Background()
	dir := headerOnly(t, math.MaxInt32)
	if _, err := Open(ctx, dir, "ckpt", nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Open: %v", err)
	}
	if err := Merge(ctx, dir, "merged", []string{"ckpt"}, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Merge: %v", err)
	}
	// Who raises the limit still gets no work for files that aren't there.
	r, err := Open(ctx, dir, "ckpt", &ReaderOptions{MaxShards: math.MaxInt32})
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(dir, "copy", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.CopyAll(ctx, r, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("CopyAll: %v", err)
	}
}

// TestDataFilesThatAreMissingMakeNoWork: a header within the limit whose data
// files aren't there is told so before anything is made for each of them.
func TestDataFilesThatAreMissingMakeNoWork(t *testing.T) {
	ctx := context.Background()
	dir := headerOnly(t, defaultMaxShards)
	r, err := Open(ctx, dir, "ckpt", nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(dir, "copy", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	n := allocated(func() {
		if err := w.CopyAll(ctx, r, nil); !errors.Is(err, ErrCorrupt) {
			t.Errorf("CopyAll: %v", err)
		}
		if err := Merge(ctx, dir, "merged", []string{"ckpt"}, nil); !errors.Is(err, ErrCorrupt) {
			t.Errorf("Merge: %v", err)
		}
	})
	if n > 1<<20 {
		t.Errorf("%d bytes are allocated", n)
	}
}

func TestStateFilesThatNameFoldersAreFollowedOnce(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	state := func(dir, latest string) {
		text := "model_checkpoint_path: \"" + filepath.ToSlash(latest) + "\"\n"
		if err := os.WriteFile(filepath.Join(dir, "checkpoint"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, a, b string }{
		{"its own directory", a, a},
		{"itself", filepath.Join(a, "checkpoint"), a},
		{"each other", b, a},
		{"each other's state files", filepath.Join(b, "checkpoint"), filepath.Join(a, "checkpoint")},
		{"a relative directory", ".", "."},
	} {
		state(a, c.a)
		state(b, c.b)
		for _, p := range []string{a, filepath.Join(a, "checkpoint")} {
			var none *PathError
			if f, err := FindFile(p); !errors.As(err, &none) {
				t.Errorf("%s: %s leads to %+v, %v", c.name, p, f, err)
			}
		}
	}
}

// sparseFile makes a file of size bytes that are zeros except for tail at the
// end. It skips the test if the file system stores the zeros.
func sparseFile(t *testing.T, path string, size int64, tail []byte) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(tail, size-int64(len(tail))); err != nil {
		t.Fatal(err)
	}
	if n := limit.Stored(f, size); n > 1<<20 {
		t.Skipf("this file system stores %d bytes of a hole of %d", n, size)
	}
}

// millionEntries returns an index of n tensors of a byte each, and their data
// file.
func millionEntries(t testing.TB, dir string, n int) (index int64) {
	t.Helper()
	write := func(name string, f func(w io.Writer) error) {
		file, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := f(file); err != nil {
			t.Fatal(err)
		}
	}
	data := make([]byte, n)
	write("many.data-00000-of-00001", func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	write("many.index", func(w io.Writer) error {
		tw := table.NewWriter(w)
		if err := tw.Add(nil, goodHeader.Marshal()); err != nil {
			return err
		}
		e := &pb.BundleEntryProto{Dtype: pb.DataType(tensor.Int8), Size: 1, Crc32c: crc32c.Mask(crc32c.Value(data[:1]))}
		for i := range n {
			e.Offset = int64(i)
			if err := tw.Add(fmt.Appendf(nil, "v%06x", i), e.Marshal()); err != nil {
				return err
			}
		}
		index = tw.Size()
		return tw.Finish()
	})
	return index
}

// heldHeap returns the number of bytes of the heap in use, without garbage. It collects
// twice: the first collection leaves objects in pools, such as working lists of an index.
func heldHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestIndexOfAMillionEntries checks that an open checkpoint holds the entries' keys,
// and for each entry a row with the positions of key and value (48 bytes) and its
// number in the order of the data files (4), plus some spare capacity.
func TestIndexOfAMillionEntries(t *testing.T) {
	dir := t.TempDir()
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
	size := millionEntries(t, dir, n)
	before := heldHeap()
	r, err := Open(context.Background(), os.DirFS(dir), "many", nil)
	if err != nil {
		t.Fatal(err)
	}
	held := heldHeap() - before
	t.Logf("%d entries in %d bytes of index: %d bytes held", r.Len(), size, held)
	limit := 5 * size
	if testing.Short() { // memory allocated in large pieces weighs more with few entries
		limit = size + 72*int64(n)
	}
	if held > limit {
		t.Errorf("an index of %d bytes takes %d in memory", size, held)
	}
	if e, ok := r.Entry(r.name(n / 2)); !ok || e.Offset != int64(n/2) {
		t.Errorf("entry %+v, %v", e, ok)
	}
	runtime.KeepAlive(r)
}

// TestMakingAnIndexOfAMillionEntries checks that a copy and a merge hold little
// more than the bytes of the index that they write.
func TestMakingAnIndexOfAMillionEntries(t *testing.T) {
	path := t.TempDir()
	n := 1_000_000
	if testing.Short() || detector.Racing {
		n = 100_000
	}
	size := millionEntries(t, path, n)
	ctx, dir := t.Context(), vfs.OSDir(path)
	r := mustOpen(t, dir, "many")
	for what, begin := range map[string]func() any{
		"a copy": func() any {
			w, err := NewWriter(vfs.MemDir(), "copy", nil)
			if err == nil {
				err = w.CopyAll(ctx, r, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			return w
		},
		"a merge": func() any {
			m := &merging{ctx: ctx, dir: dir, dst: "merged", opts: &MergeOptions{}, shards: make(map[string]int)}
			if err := m.read("many"); err != nil {
				t.Fatal(err)
			}
			return m
		},
	} {
		before := heldHeap()
		made := begin()
		held := heldHeap() - before
		t.Logf("%s: %d entries in %d bytes of index: %d bytes held", what, r.Len(), size, held)
		if held > 10*size {
			t.Errorf("%s of an index of %d bytes takes %d in memory", what, size, held)
		}
		runtime.KeepAlive(made)
	}
}

// TestSparseIndexIsRefused checks that an index with only a few bytes stored on
// disk is not read into memory.
func TestSparseIndexIsRefused(t *testing.T) {
	dir := t.TempDir()
	// The footer of a table preceded only by its index block.
	const size = 128 << 20
	foot := make([]byte, 48)
	n := binary.PutUvarint(foot, size-48-13)
	n += binary.PutUvarint(foot[n:], 8)
	n += binary.PutUvarint(foot[n:], 0)
	binary.PutUvarint(foot[n:], size-48-13-5)
	binary.LittleEndian.PutUint64(foot[40:], 0xdb4775248b80fb57)
	meta := append([]byte{0, 0, 0, 0, 1, 0, 0, 0}, 0)
	meta = binary.LittleEndian.AppendUint32(meta, crc32c.Mask(crc32c.Value(meta)))
	sparseFile(t, filepath.Join(dir, "ckpt.index"), size, append(meta, foot...))
	sparseFile(t, filepath.Join(dir, "old"), size, append(meta, foot...)) // the same, in version 1
	for _, name := range []string{"ckpt", "old"} {
		n := allocated(func() {
			if _, err := Open(context.Background(), vfs.OSDir(dir), name, nil); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s: %v", name, err)
			}
		})
		if n > 1<<20 {
			t.Errorf("%s: %d bytes are allocated", name, n)
		}
	}
	if _, err := Open(context.Background(), vfs.OSDir(dir), "ckpt", &ReaderOptions{MaxIndex: 1 << 30}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("with the limit raised: %v", err)
	}
}

// TestSparseDataIsNotReadWhole checks that tensors in holes of a file are read
// into existing storage, and refused if storage would have to be allocated.
func TestSparseDataIsNotReadWhole(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	const size = 60 << 30
	text := binary.AppendUvarint(nil, size-32)
	index := tableOf(t,
		row{"", goodHeader.Marshal()},
		row{"_CHECKPOINTABLE_OBJECT_GRAPH", (&pb.BundleEntryProto{Dtype: pb.DataType(tensor.String), Shape: dims(), Size: size - 32 + int64(len(text)) + 4}).Marshal()},
		row{"strings", (&pb.BundleEntryProto{Dtype: pb.DataType(tensor.String), Shape: dims(10 << 30), Offset: size, Size: 10<<30 + 4}).Marshal()},
		row{"w", (&pb.BundleEntryProto{Dtype: pb.DataType(tensor.Int8), Shape: dims(1 << 30), Offset: 100 << 30, Size: 1 << 30}).Marshal()})
	if err := os.WriteFile(filepath.Join(dir, "ckpt.index"), index, 0o666); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "ckpt.data-00000-of-00001")
	sparseFile(t, data, 101<<30, nil)
	f, err := os.OpenFile(data, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(text, 0); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for name, opts := range map[string]*ReaderOptions{"by default": nil, "with a limit": {MaxRead: 1 << 20}} {
		r, err := Open(ctx, vfs.OSDir(dir), "ckpt", opts)
		if err != nil {
			t.Fatal(err)
		}
		n := allocated(func() {
			for _, tensor := range r.Names() {
				if _, err := r.Read(ctx, tensor); !errors.Is(err, errors.ErrUnsupported) {
					t.Errorf("%s: %s: %v", name, tensor, err)
				}
			}
		})
		if n > 4<<20 {
			t.Errorf("%s: %d bytes are allocated", name, n)
		}
	}
}

// TestEntriesOfManyDimensionsTakeLittle: a dimension, or an extent, takes two
// bytes in a file and many more once it is decoded.
func TestEntriesOfManyDimensionsTakeLittle(t *testing.T) {
	empty := func(tag byte, n int) []byte { return bytes.Repeat([]byte{tag, 0}, n) }
	field := func(tag byte, b []byte) []byte {
		return append(binary.AppendUvarint([]byte{tag}, uint64(len(b))), b...)
	}
	const n = 4 << 20
	for name, entry := range map[string][]byte{
		"dimensions": append([]byte{8, 1}, field(0x12, empty(0x12, n))...),
		"extents":    append(append([]byte{8, 1}, field(0x12, []byte{0x12, 2, 8, 4})...), field(0x3a, empty(0x0a, n))...),
	} {
		dir := vfs.MemDir()
		b := tableOf(t, row{"", goodHeader.Marshal()}, row{"t", entry})
		dir.WriteFile("ckpt.index", b)
		got := allocated(func() {
			if _, err := Open(context.Background(), dir, "ckpt", nil); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %v", name, err)
			}
		})
		if got > uint64(6*len(b)) {
			t.Errorf("%s: an index of %d bytes makes %d be allocated", name, len(b), got)
		}
	}
}

// TestBlocksOfVersion1AreDecompressedOnce: many small tensors in one compressed
// block take it to be decompressed once, not once each.
func TestBlocksOfVersion1AreDecompressedOnce(t *testing.T) {
	ctx := context.Background()
	const n = 8000
	var b bytes.Buffer
	w := table.NewSnappyWriter(&b)
	meta := &pb.SavedTensorSliceMeta{Versions: &pb.VersionDef{Producer: 1}}
	for i := range n {
		meta.Tensor = append(meta.Tensor, &pb.SavedSliceMeta{Name: fmt.Sprintf("t%06d", i), Shape: dims(1), Type: pb.DataType(tensor.Uint8), Slice: []*pb.TensorSliceProto{{Extent: []*pb.Extent{{}}}}})
	}
	if err := w.Add(nil, (&pb.SavedTensorSlices{Meta: meta}).Marshal()); err != nil {
		t.Fatal(err)
	}
	for _, m := range meta.Tensor {
		value := (&pb.SavedTensorSlices{Data: &pb.SavedSlice{Name: m.Name, Slice: m.Slice[0], Data: &pb.TensorProto{Dtype: m.Type, IntVal: []int32{7}}}}).Marshal()
		if err := w.Add(appendSliceKey(nil, m.Name, FullSlice(1)), value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	dir := vfs.MemDir()
	dir.WriteFile("old", b.Bytes())
	r, err := Open(ctx, dir, "old", nil)
	if err != nil {
		t.Fatal(err)
	}
	verify := allocated(func() { err = r.Verify(ctx, nil) })
	if err != nil {
		t.Error(err)
	}
	reqs := make([]ReadRequest, n)
	for i := range reqs {
		reqs[i].Name = meta.Tensor[n-1-i].Name // in another order than the file's
	}
	read := allocated(func() { err = r.ReadAll(ctx, reqs, nil) })
	if err != nil || reqs[17].Dst.Bytes()[0] != 7 {
		t.Errorf("%v", err)
	}
	t.Logf("%d bytes in the file; %d allocated to verify, %d to read", b.Len(), verify, read)
	if most := uint64(limit.Memory(int64(b.Len()))); verify > most || read > most {
		t.Errorf("%d and %d bytes are allocated for a file of %d", verify, read, b.Len())
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := r.Verify(ended, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}
