package bundle

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// wholeRead is a read of all of a tensor.
type wholeRead struct {
	Handle Handle
	Dst    *tensor.Tensor
}

// readWhole reads whole tensors together with requests.
func readWhole(t *testing.T, r *Reader, reqs []ReadRequest, reads []wholeRead, o ReadAllOptions) error {
	for _, w := range reads {
		o.Whole = append(o.Whole, w.Handle)
	}
	o.Into = func(numbers []int32, fill func([]*tensor.Tensor) error) error {
		var dst []*tensor.Tensor
		for _, n := range numbers {
			dst = append(dst, reads[n].Dst)
		}
		return fill(dst)
	}
	return r.ReadAll(t.Context(), reqs, &o)
}

// wholeReads asks for all tensors, each into new storage.
func wholeReads(t *testing.T, r *Reader) []wholeRead {
	t.Helper()
	var reads []wholeRead
	for e := range r.Entries() {
		h, ok := r.Find(e.Name)
		if !ok {
			t.Fatalf("%s isn't found", e.Name)
		}
		reads = append(reads, wholeRead{h, tensor.Must(tensor.Zeros(e.DType, e.Shape...))})
	}
	return reads
}

// TestWholeReadsReadWhatRequestsDo checks tensors of all kinds and sizes, in any
// order, together with requests whose destinations are allocated.
func TestWholeReadsReadWhatRequestsDo(t *testing.T) {
	dir := vfs.MemDir()
	parts := []V1Part{}
	write(t, dir, "p", &WriterOptions{Alignment: 8}, func(w *Writer) {
		add := func(name string, x *tensor.Tensor) {
			if err := w.Add(t.Context(), name, x); err != nil {
				t.Fatal(err)
			}
			parts = append(parts, V1Part{Name: name, Tensor: x})
		}
		for i := range 3 * planBatch {
			add(fmt.Sprint("v", i), tensor.Vector(int32(i), int32(-i), int32(3*i)))
		}
		for i, x := range []*tensor.Tensor{
			tensor.Vector("text", ""), tensor.Vector(true, false), tensor.Scalar(2.5), tensor.Must(tensor.Zeros(tensor.Float32, 0, 3)),
			tensor.Must(tensor.Zeros(tensor.Int8, small)), tensor.Must(tensor.Zeros(tensor.Int8, small+1)), tensor.Must(tensor.Zeros(tensor.Int8, 2*chunk+3)),
		} {
			for k := range x.Bytes() {
				if x.DType() == tensor.Int8 {
					x.Bytes()[k] = byte(k * 7)
				}
			}
			add(fmt.Sprint("x", i), x)
		}
		full := tensor.Must(tensor.New([]int64{1, 2, 3, 4, 5, 6}, 6))
		for _, s := range []string{"0,2", "2,4"} {
			piece := mustSlice(t, s)
			if err := w.AddSlice(t.Context(), "sliced", full.Shape(), piece, cutOut(t, full, piece)); err != nil {
				t.Fatal(err)
			}
		}
	})
	if err := WriteV1(t.Context(), dir, "old", parts[:50]); err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"p", "old"} {
		r, err := Open(t.Context(), dir, prefix, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, shuffled := range []bool{false, true} {
			reads := wholeReads(t, r)
			if shuffled {
				rand.New(rand.NewPCG(1, 2)).Shuffle(len(reads), func(i, j int) { reads[i], reads[j] = reads[j], reads[i] })
			}
			given := slices.Clone(reads)
			reqs := []ReadRequest{{Name: "v7"}}
			done, total := int64(0), int64(0)
			if err := readWhole(t, r, reqs, reads, ReadAllOptions{Progress: func(d, all int64) { done, total = d, all }}); err != nil {
				t.Fatal(err)
			}
			if prefix == "p" && (done != total || total == 0) {
				t.Errorf("%s: %d of %d bytes are reported", prefix, done, total)
			}
			if !slices.Equal(given, reads) {
				t.Errorf("%s: the reads were put into another order", prefix)
			}
			if want := parts[7].Tensor; reqs[0].Dst == nil || !want.Equal(reqs[0].Dst) {
				t.Errorf("%s: a request beside gives %v, want %v", prefix, reqs[0].Dst, want)
			}
			for _, w := range reads {
				name := r.Request(w.Handle).Name
				if want, err := r.Read(t.Context(), name); err != nil || !want.Equal(w.Dst) {
					t.Fatalf("%s: %s is %v, want %v (%v)", prefix, name, w.Dst, want, err)
				}
			}
		}
	}
}

// TestWholeReadsAreRefused checks that reads are refused before anything is
// read, and that errors name the damaged tensor.
func TestWholeReadsAreRefused(t *testing.T) {
	folder := t.TempDir()
	dir := vfs.OSDir(folder)
	write(t, dir, "p", nil, func(w *Writer) {
		for i := range 100 {
			w.Add(t.Context(), fmt.Sprint("v", i), tensor.Vector(int32(i), int32(i)))
		}
		w.Add(t.Context(), "vbool", tensor.Vector(true, false))
	})
	open := func() *Reader {
		r, err := Open(t.Context(), dir, "p", nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r, other := open(), open()
	foreign, _ := other.Find("v3")
	own, _ := r.Find("v3")
	for name, w := range map[string]wholeRead{
		"no handle":         {Dst: tensor.Vector(int32(0), 0)},
		"no destination":    {Handle: own},
		"another reader's":  {foreign, tensor.Vector(int32(0), 0)},
		"another type":      {own, tensor.Vector(float32(0), 0)},
		"another shape":     {own, tensor.Vector(int32(0))},
		"strings for bytes": {own, tensor.Vector("", "")},
	} {
		reads := append(wholeReads(t, r), w)
		if err := readWhole(t, r, nil, reads, ReadAllOptions{}); err == nil {
			t.Errorf("%s: no error", name)
		}
		if got := tensor.Values[int32](reads[5].Dst); got[0] != 0 || got[1] != 0 {
			t.Errorf("%s: something was read: %v", name, got)
		}
	}
	if err := readWhole(t, r, nil, []wholeRead{{own, tensor.Vector(float32(0), 0)}}, ReadAllOptions{}); !errors.As(err, new(*MismatchError)) {
		t.Errorf("another type: %v", err)
	}

	data := filepath.Join(folder, "p.data-00000-of-00001")
	b, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := r.Entry("v42")
	damage := func(change func(b []byte) []byte, want string) {
		t.Helper()
		if err := os.WriteFile(data, change(slices.Clone(b)), 0o666); err != nil {
			t.Fatal(err)
		}
		err := readWhole(t, r, nil, wholeReads(t, r), ReadAllOptions{})
		var c *CorruptError
		if !errors.As(err, &c) || !strings.HasPrefix(c.Name, want) {
			t.Errorf("error %v, want one about %s", err, want)
		}
		// The only one of a row.
		h, _ := r.Find(want)
		if want != "v" && readWhole(t, r, nil, []wholeRead{{h, tensor.Vector(int32(0), 0)}}, ReadAllOptions{}) == nil {
			t.Errorf("%s alone is read", want)
		}
	}
	damage(func(b []byte) []byte { b[e.Offset] ^= 1; return b }, "v42")
	damage(func(b []byte) []byte { return b[:len(b)-1] }, "v")
}

// TestPlacesAreAskedForOnce checks that destinations are requested for all large
// tensors and strings together, then for small ones group by group. An error ends the
// read.
func TestPlacesAreAskedForOnce(t *testing.T) {
	dir := vfs.MemDir()
	write(t, dir, "p", nil, func(w *Writer) {
		for i := range 200 {
			w.Add(t.Context(), fmt.Sprintf("v%03d", i), tensor.Must(tensor.Zeros(tensor.Int8, 8<<10)))
		}
		w.Add(t.Context(), "w", tensor.Must(tensor.Zeros(tensor.Int8, 3*small)))
		w.Add(t.Context(), "x", tensor.Vector("a", "b"))
	})
	r, err := Open(t.Context(), dir, "p", nil)
	if err != nil {
		t.Fatal(err)
	}
	o := ReadAllOptions{Workers: 1}
	var kinds []Entry
	for e := range r.Entries() {
		h, _ := r.Find(e.Name)
		o.Whole, kinds = append(o.Whole, h), append(kinds, e)
	}
	var groups [][]int32
	broken, refused := errors.New("broken"), int32(-1)
	o.Into = func(reads []int32, fill func([]*tensor.Tensor) error) error {
		groups = append(groups, slices.Clone(reads))
		if slices.Contains(reads, refused) {
			return broken
		}
		var dst []*tensor.Tensor
		for _, n := range reads {
			dst = append(dst, tensor.Must(tensor.Zeros(kinds[n].DType, kinds[n].Shape...)))
		}
		return fill(dst)
	}
	if err := r.ReadAll(t.Context(), nil, &o); err != nil {
		t.Fatal(err)
	}
	if len(groups) != 1+(200*8<<10+rowBytes-1)/rowBytes || !slices.Equal(groups[0], []int32{200, 201}) {
		t.Errorf("%d groups, the first is %v", len(groups), groups[0])
	}
	all := slices.Concat(groups...)
	slices.Sort(all)
	for i, n := range all {
		if int(n) != i || len(all) != len(kinds) {
			t.Fatalf("%d reads of %d, number %d is %d", len(all), len(kinds), i, n)
		}
	}
	for _, refused = range []int32{0, 100, 201} {
		if err := r.ReadAll(t.Context(), nil, &o); err != broken {
			t.Errorf("tensor %d has no place: %v", refused, err)
		}
	}
}
