package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// endsAfter is a context that ends at its most-th question.
type endsAfter struct {
	context.Context
	most, asked int
}

func (e *endsAfter) Err() error {
	if e.asked++; e.asked > e.most {
		return context.Canceled
	}
	return nil
}

// TestLongComparisonsOfSlicesEndWithTheContext: one tensor's slices may take 20 million comparisons.
func TestLongComparisonsOfSlicesEndWithTheContext(t *testing.T) {
	var parts [][]span
	const n = 2000
	for i := range int64(n) {
		parts = append(parts, []span{{i, 2 * n}, {2 * (n - i), 1}})
	}
	if _, err := covering(&endsAfter{t.Context(), n / 2, 0}, []span{{0, 4 * n}, {0, 4 * n}}, parts); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// The end of the context isn't a fault of the file.
	dir := vfs.MemDir()
	e := &pb.BundleEntryProto{Dtype: 1, Shape: dims(4)}
	rows := []row{{"", goodHeader.Marshal()}, {"t", nil}}
	for i := range int64(4) {
		e.Slices = append(e.Slices, extent(i, 1))
		s := Slice{Extents: []Extent{{Start: i, Length: 1}}}
		rows = append(rows, row{string(appendSliceKey(nil, "t", s)), (&pb.BundleEntryProto{Dtype: 1, Shape: dims(1), Size: 4, Offset: 4 * i}).Marshal()})
	}
	rows[1].value = e.Marshal()
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.key, b.key) })
	dir.WriteFile("p.index", tableOf(t, rows...))
	dir.WriteFile(DataName("p", 0, 1), make([]byte, 16))
	r, err := Open(t.Context(), dir, "p", nil)
	if err != nil {
		t.Fatal(err)
	}
	for most := range 6 {
		ctx := &endsAfter{t.Context(), most, 0}
		if _, err := r.Read(ctx, "t"); !errors.Is(err, context.Canceled) || errors.Is(err, ErrCorrupt) {
			t.Errorf("read: %v after %d questions", err, most)
		}
		ctx = &endsAfter{t.Context(), most, 0}
		if err := r.Verify(ctx, nil); !errors.Is(err, context.Canceled) || errors.Is(err, ErrCorrupt) {
			t.Errorf("verify: %v after %d questions", err, most)
		}
	}
}

// TestReadsOfOneLongTensorEndWithTheContext, also if it can only be read from its front.
func TestReadsOfOneLongTensorEndWithTheContext(t *testing.T) {
	dir := vfs.MemDir()
	long := strings.Repeat("a", 1<<20)
	s, err := tensor.FromStrings(tensor.String, []string{long, long, long, long}, 4)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "p", nil, func(w *Writer) {
		if err := errors.Join(w.Add(t.Context(), "strings", s), w.Add(t.Context(), "words", manyWords(t))); err != nil {
			t.Fatal(err)
		}
	})
	for _, name := range []string{"strings", "words", "everything"} {
		fsys := &hookedFS{dir, func([]byte) error { return nil }}
		r, err := Open(t.Context(), fsys, "p", nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		reads := 0
		fsys.hook = func([]byte) error {
			if reads++; reads == 2 {
				cancel()
			}
			return nil
		}
		if name == "everything" {
			err = r.Verify(ctx, &VerifyOptions{Workers: 1})
		} else {
			_, err = r.Read(ctx, name)
		}
		if !errors.Is(err, context.Canceled) || reads > 3 {
			t.Errorf("%s: %v after %d reads", name, err, reads)
		}
	}
}

// manyWords returns a tensor of a million bytes in short strings.
func manyWords(t *testing.T) *tensor.Tensor {
	words := make([]string, 100_000)
	for i := range words {
		words[i] = fmt.Sprintf("word%06d", i)
	}
	x, err := tensor.FromStrings(tensor.String, words, len(words))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestVersion1SlicesTakeNoMoreTogetherThanTheFileAllows: each slice alone may be in the file, all of them can't.
func TestVersion1SlicesTakeNoMoreTogetherThanTheFileAllows(t *testing.T) {
	const parts, size = 100, 1 << 20
	m := &pb.SavedSliceMeta{Name: "t", Shape: dims(parts * size), Type: pb.DataType(tensor.Float32)}
	for i := range int64(parts) {
		m.Slice = append(m.Slice, extent(i*size, size))
	}
	first := Slice{Extents: []Extent{{Start: 0, Length: size}}}
	data := &pb.SavedTensorSlices{Data: &pb.SavedSlice{Name: "t", Slice: m.Slice[0], Data: &pb.TensorProto{Dtype: m.Type, FloatVal: make([]float32, size/64)}}}
	dir := vfs.MemDir()
	dir.WriteFile("old", tableOf(t,
		row{"", (&pb.SavedTensorSlices{Meta: &pb.SavedTensorSliceMeta{Versions: &pb.VersionDef{Producer: 1}, Tensor: []*pb.SavedSliceMeta{m}}}).Marshal()},
		row{string(appendSliceKey(nil, "t", first)), data.Marshal()}))
	for _, opts := range []*ReaderOptions{nil, {MaxRead: 1 << 20}} {
		r, err := Open(t.Context(), dir, "old", opts)
		if err != nil {
			t.Fatal(err)
		}
		n := allocated(func() { _, err = r.Read(t.Context(), "t") })
		if !errors.Is(err, errors.ErrUnsupported) || n > 8<<20 {
			t.Errorf("%v, %d bytes are allocated", err, n)
		}
	}
}

// TestVerifyFindsWhatIsReadableInADamagedRow: a part of the disk that can't be read is reported for the tensors in it alone,
// and equal texts count once.
func TestVerifyFindsWhatIsReadableInADamagedRow(t *testing.T) {
	dir := vfs.MemDir()
	write(t, dir, "p", nil, func(w *Writer) {
		for i := range 5 {
			if err := w.Add(t.Context(), fmt.Sprint("v", i), tensor.Vector(int32(i), 9)); err != nil {
				t.Fatal(err)
			}
		}
	})
	fsys := &hookedFS{dir, func([]byte) error { return nil }}
	r, err := Open(t.Context(), fsys, "p", nil)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk is broken")
	bad := [][]byte{{1, 0, 0, 0, 9}, {3, 0, 0, 0, 9}}
	fsys.hook = func(b []byte) error {
		for _, p := range bad {
			if bytes.Contains(b, p) {
				return broken
			}
		}
		return nil
	}
	var names []string
	br := newBlobReader(r, 1, nil)
	br.keepGoing = true
	if err := br.verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, e := range br.errs {
		names = append(names, e.name)
	}
	if got := strings.Join(names, " "); got != "v1 v3" {
		t.Errorf("faults in %s", got)
	}
	same := &blobReader{}
	for i := range 9 {
		same.fail(fmt.Sprint("v", i), errors.New([]string{"missing", "wrong"}[i/8]))
	}
	for limit, want := range map[int]string{1: "missing\nbundle: 1 more faults", 2: "missing\nwrong"} {
		if err := same.faults(limit); err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

// TestAFileThatIsCalledIndexIsNoCheckpoint: a checkpoint's prefix has a name.
func TestAFileThatIsCalledIndexIsNoCheckpoint(t *testing.T) {
	fsys := fstest.MapFS{".index": {Data: []byte("x")}, "dir/.index": {Data: []byte("x")}, "model/saved_model.cpb": {}}
	var none *PathError
	for _, name := range []string{".index", "dir/.index"} {
		if f, err := FindPrefix(fsys, name); !errors.As(err, &none) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	if _, err := Open(t.Context(), fsys, "model", nil); !errors.As(err, &none) || none.Found != "a SavedModel's directory" {
		t.Errorf("a SavedModel without variables: %v", err)
	}
}
