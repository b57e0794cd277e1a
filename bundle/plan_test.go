package bundle

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// TestRequestsWithEntriesReadTheSame as those without, in as many batches as there
// are, and need no search.
func TestRequestsWithEntriesReadTheSame(t *testing.T) {
	dir := vfs.MemDir()
	w, err := NewWriter(dir, "p", nil)
	if err != nil {
		t.Fatal(err)
	}
	const n = 3 * planBatch
	for i := range n {
		if err := w.Add(t.Context(), fmt.Sprint("v", i), tensor.Vector(int32(i), int32(-i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), dir, "p", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range []bool{false, true} {
		reqs := make([]ReadRequest, n)
		entries := make([]Entry, n)
		for i := range reqs {
			reqs[i].Name = fmt.Sprint("v", i)
			if entries[i], _ = r.Entry(reqs[i].Name); known {
				reqs[i].Entry = &entries[i]
			}
		}
		before := r.index.searches.Load()
		if err := r.ReadAll(t.Context(), reqs, &ReadAllOptions{Workers: 3}); err != nil {
			t.Fatal(err)
		}
		for i := range reqs {
			if got := tensor.Values[int32](reqs[i].Dst); got[0] != int32(i) || got[1] != int32(-i) {
				t.Fatalf("v%d is %v", i, got)
			}
		}
		if got := r.index.searches.Load() - before; got > 3 || known && got > 0 {
			t.Errorf("%d searches", got)
		}
		reqs[n/2].Name, reqs[n-1].Name = "no", "nor" // the first one is told
		var missing *NotFoundError
		if err := r.ReadAll(t.Context(), reqs, &ReadAllOptions{Workers: 3}); !known && (!errors.As(err, &missing) || missing.Name != "no") || err == nil {
			t.Errorf("%v", err)
		}
	}
}

// TestRequestsWithFalseEntriesAreRefused before anything is read or allocated for
// them.
func TestRequestsWithFalseEntriesAreRefused(t *testing.T) {
	dir := vfs.MemDir()
	write(t, dir, "p", nil, func(w *Writer) { w.Add(t.Context(), "a", tensor.Vector(int32(1), 2)) })
	r, err := Open(t.Context(), dir, "p", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(e *Entry){
		"another name":     func(e *Entry) { e.Name = "b" },
		"another file":     func(e *Entry) { e.Shard = 1 },
		"no file":          func(e *Entry) { e.Shard = -1 },
		"before the file":  func(e *Entry) { e.Offset = -1 },
		"behind the file":  func(e *Entry) { e.Offset = 1 },
		"beyond all files": func(e *Entry) { e.Offset = 1<<63 - 1 },
		"more bytes":       func(e *Entry) { e.Size = 12 },
		"more elements":    func(e *Entry) { e.Shape = tensor.Shape{3} },
		"below nothing":    func(e *Entry) { e.Shape = tensor.Shape{-1, -2} },
		"huge":             func(e *Entry) { e.Shape, e.Size = tensor.Shape{1 << 28}, 1<<30 },
		"a resource":       func(e *Entry) { e.DType = tensor.Resource },
		"no type":          func(e *Entry) { e.DType = tensor.Invalid },
		"another checksum": func(e *Entry) { e.CRC++ },
	} {
		e, _ := r.Entry("a")
		if err := r.ReadAll(t.Context(), []ReadRequest{{Name: "a", Entry: &e}}, nil); err != nil {
			t.Fatal(err)
		}
		spoil(&e)
		if err := r.ReadAll(t.Context(), []ReadRequest{{Name: "a", Entry: &e}}, nil); err == nil {
			t.Errorf("%s: it was read", name)
		}
	}
}
