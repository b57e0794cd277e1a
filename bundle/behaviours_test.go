package bundle

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// These are the behaviours that TensorFlow's own tests of bundles check, in their order. The table
// names the tests that are in other files:
//
//	SwapBytes                  TestSwapBytes
//	Basic                      TestUnsortedKeysAreFoundSorted, TestEveryTypeRoundTripsInBothByteOrders
//	Endianness                 TestOtherByteOrderIsRead, TestEveryTypeRoundTripsInBothByteOrders
//	PartitionedVariables       TestPartitionedTensor
//	EquivalentSliceTest        TestEquivalentSliceSpellings
//	NonStandardShapes          TestEveryTypeRoundTripsInBothByteOrders
//	StringTensors(OldFormat)   TestStringLayout, TestStringsAbove4GiB
//	VariantTensors             TestVariantLayout, TestVariantsKeepTheirBytes
//	DirectoryStructure         TestDirectoryStructure, TestMergeEqualsTensorFlows
//	SortForSequentialAccess    TestNamesByPlace
//	Error                      TestWriterErrors, TestMissingBundleIsNotFound
//	Checksum                   TestEveryFlippedBitIsDetected
//	TruncatedTensorContents    TestEveryTruncationIsDetected
//	HeaderEntry                TestHeader
//	VersionTest                TestDamagedCheckpointsAreRefused (version_…)
//	LargeVariableLoadingTest   TestLargeTensorIsReadInChunks
//	BundleCache                TestConcurrentReaders, TestDataFileThatFailsToOpenIsTriedAgain
//	AlignmentTest              TestAlignment

func TestSwapBytes(t *testing.T) {
	for width, want := range map[int][]byte{
		1: {1, 2, 3, 4, 5, 6, 7, 8},
		2: {2, 1, 4, 3, 6, 5, 8, 7},
		4: {4, 3, 2, 1, 8, 7, 6, 5}, // a complex64 swaps each half so
		8: {8, 7, 6, 5, 4, 3, 2, 1},
	} {
		b := []byte{1, 2, 3, 4, 5, 6, 7, 8}
		swapBytes(b, width)
		if !slices.Equal(b, want) {
			t.Errorf("width %d: %v, want %v", width, b, want)
		}
	}
}

func TestUnsortedKeysAreFoundSorted(t *testing.T) {
	ctx, dir := context.Background(), vfs.MemDir()
	names := []string{"foo_003", "foo_000", "foo_002", "foo_001"}
	write(t, dir, "foo", nil, func(w *Writer) {
		for i, n := range names {
			if err := w.Add(ctx, n, tensor.Scalar(int32(i))); err != nil {
				t.Fatal(err)
			}
		}
	})
	r := mustOpen(t, dir, "foo")
	sorted := slices.Sorted(slices.Values(names))
	if got := r.Names(); !slices.Equal(got, sorted) {
		t.Errorf("names %q", got)
	}
	var seen []string
	for e := range r.Entries() {
		seen = append(seen, e.Name)
		if e.Offset != 4*int64(slices.Index(names, e.Name)) {
			t.Errorf("%s lies at %d, not in the order of writing", e.Name, e.Offset)
		}
	}
	if !slices.Equal(seen, sorted) {
		t.Errorf("entries %q", seen)
	}
	if e, ok := r.Entry("foo_002"); !ok || e.DType != tensor.Int32 || e.Shape.String() != "[]" || e.Size != 4 {
		t.Errorf("foo_002 is %+v, %v", e, ok)
	}
	if _, ok := r.Entry("foo_00"); ok {
		t.Error("a prefix of a name is found")
	}
	if err := r.ReadInto(ctx, "foo_000", tensor.Scalar(int64(0))); !isMismatch(err) {
		t.Errorf("another type: %v", err)
	}
	if err := r.ReadInto(ctx, "foo_000", tensor.Vector(int32(0))); !isMismatch(err) {
		t.Errorf("another shape: %v", err)
	}
	if err := r.ReadInto(ctx, "foo_000", nil); err == nil {
		t.Error("a nil destination is taken")
	}
	var missing *NotFoundError
	if _, err := r.Read(ctx, "fo_002"); !errors.As(err, &missing) || missing.Nearest[0] != "foo_002" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing name: %v", err)
	}
}

func isMismatch(err error) bool {
	var m *MismatchError
	return errors.As(err, &m)
}

func TestOtherByteOrderIsRead(t *testing.T) {
	// The bytes are written out by hand.
	ctx, dir := context.Background(), vfs.MemDir()
	write(t, dir, "big", &WriterOptions{BigEndian: true}, func(w *Writer) {
		for name, v := range map[string]*tensor.Tensor{"i": tensor.Vector[int32](1, -2), "c": tensor.Scalar[complex64](1 + 2i)} {
			if err := w.Add(ctx, name, v); err != nil {
				t.Fatal(err)
			}
		}
	})
	b, _ := dir.ReadFile("big.data-00000-of-00001")
	i, c := []byte{0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe}, []byte{0x3f, 0x80, 0, 0, 0x40, 0, 0, 0}
	if !slices.Equal(b, slices.Concat(i, c)) && !slices.Equal(b, slices.Concat(c, i)) {
		t.Errorf("the data file is % x", b)
	}
	index, _ := dir.ReadFile("big.index")
	if !strings.Contains(string(index), "\x08\x01\x10\x01\x1a\x02\x08\x01") {
		t.Error("the header doesn't say that the file is big-endian")
	}
	r := mustOpen(t, dir, "big")
	v, err := r.Read(ctx, "i")
	if err != nil || !v.Equal(tensor.Vector[int32](1, -2)) {
		t.Errorf("i is %v, %v", v, err)
	}
	// Copying to another byte order converts, to the same one it doesn't.
	write(t, dir, "little", nil, func(w *Writer) { w.CopyAll(ctx, r, nil) })
	if v, err := mustOpen(t, dir, "little").Read(ctx, "c"); err != nil || !v.Equal(tensor.Scalar[complex64](1+2i)) {
		t.Errorf("c is %v, %v", v, err)
	}
	write(t, dir, "same", &WriterOptions{Like: r}, func(w *Writer) { w.CopyAll(ctx, r, nil) })
	if again, _ := dir.ReadFile("same.data-00000-of-00001"); !slices.Equal(again, b) {
		t.Errorf("the copied data file is % x", again)
	}
}

// grid returns a tensor of these dimensions that counts.
func grid(t testing.TB, dims ...int) *tensor.Tensor {
	v, err := tensor.Zeros(tensor.Int64, dims...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tensor.Values[int64](v) {
		tensor.Values[int64](v)[i] = int64(i)
	}
	return v
}

// cutOut takes a slice out of a tensor of int64, element by element.
func cutOut(t testing.TB, v *tensor.Tensor, s Slice) *tensor.Tensor {
	t.Helper()
	shape, err := s.Shape(v.Shape())
	if err != nil {
		t.Fatal(err)
	}
	out, err := tensor.Zeros(tensor.Int64, shape...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tensor.Values[int64](out) {
		rest, at, stride := i, 0, 1
		for d := len(shape) - 1; d >= 0; d-- {
			start := 0
			if !s.Extents[d].Full {
				start = int(s.Extents[d].Start)
			}
			at += (start + rest%shape[d]) * stride
			rest /= shape[d]
			stride *= v.Shape()[d]
		}
		tensor.Values[int64](out)[i] = tensor.Values[int64](v)[at]
	}
	return out
}

func mustSlice(t testing.TB, text string) Slice {
	t.Helper()
	s, err := ParseSlice(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPartitionedTensor(t *testing.T) {
	ctx, dir := context.Background(), vfs.MemDir()
	full := grid(t, 5, 10)
	write(t, dir, "p", nil, func(w *Writer) {
		for _, text := range []string{"-:0,4", "-:4,6"} {
			s := mustSlice(t, text)
			if err := w.AddSlice(ctx, "foo", full.Shape(), s, cutOut(t, full, s)); err != nil {
				t.Fatal(err)
			}
		}
	})
	r := mustOpen(t, dir, "p")
	if got := r.Names(); !slices.Equal(got, []string{"foo"}) {
		t.Errorf("names %q: the slices' own keys show", got)
	}
	e, _ := r.Entry("foo")
	if len(e.Slices) != 2 || e.Size != 400 || e.Slices[1].String() != "-:4,6" {
		t.Errorf("entry %+v", e)
	}
	for _, text := range []string{"-:-", "-:0,4", "-:4,6", "0,5:4,6", "-:3,3", "1,2:2,7", "-:1,2", "4,1:9,1"} {
		s := mustSlice(t, text)
		got, err := r.ReadSlice(ctx, "foo", s)
		if err != nil || !got.Equal(cutOut(t, full, s)) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if whole, err := r.Read(ctx, "foo"); err != nil || !whole.Equal(full) {
		t.Errorf("whole: %v", err)
	}
	for _, text := range []string{"-", "0,6:-", "-:-:-"} {
		if _, err := r.ReadSlice(ctx, "foo", mustSlice(t, text)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

func TestEquivalentSliceSpellings(t *testing.T) {
	ctx := context.Background()
	full := grid(t, 10)
	for _, stored := range []string{"-", "0,10"} {
		for _, asked := range []string{"-", "0,10"} {
			dir := vfs.MemDir()
			write(t, dir, "e", nil, func(w *Writer) {
				if err := w.AddSlice(ctx, "no_slice", full.Shape(), mustSlice(t, stored), full); err != nil {
					t.Fatal(err)
				}
			})
			got, err := mustOpen(t, dir, "e").ReadSlice(ctx, "no_slice", mustSlice(t, asked))
			if err != nil || !got.Equal(full) {
				t.Errorf("stored as %s, asked for as %s: %v", stored, asked, err)
			}
		}
	}
}

// TestAnyCutOfAnyPartition partitions tensors at random and reads random cuts.
func TestAnyCutOfAnyPartition(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		rank := rapid.IntRange(1, 4).Draw(rt, "rank")
		dims := make([]int, rank)
		cuts := make([][]Extent, rank)
		for d := range dims {
			dims[d] = rapid.IntRange(1, 6).Draw(rt, "dim")
			for at := 0; at < dims[d]; {
				n := rapid.IntRange(1, dims[d]-at).Draw(rt, "piece")
				cuts[d] = append(cuts[d], Extent{Start: int64(at), Length: int64(n)})
				at += n
			}
			if len(cuts[d]) == 1 {
				cuts[d][0] = Extent{Full: true}
			}
		}
		full := grid(t, dims...)
		dir := vfs.MemDir()
		write(t, dir, "x", nil, func(w *Writer) {
			var each func(s Slice)
			each = func(s Slice) {
				if d := len(s.Extents); d < rank {
					for _, e := range cuts[d] {
						each(Slice{append(slices.Clone(s.Extents), e)})
					}
					return
				}
				if err := w.AddSlice(ctx, "v", full.Shape(), s, cutOut(t, full, s)); err != nil {
					t.Fatal(err)
				}
			}
			each(Slice{})
		})
		var ask Slice
		for _, n := range dims {
			start := rapid.IntRange(0, n-1).Draw(rt, "start")
			ask.Extents = append(ask.Extents, Extent{Start: int64(start), Length: int64(rapid.IntRange(1, n-start).Draw(rt, "length"))})
		}
		got, err := mustOpen(t, dir, "x").ReadSlice(ctx, "v", ask)
		if err != nil || !got.Equal(cutOut(t, full, ask)) {
			rt.Fatalf("%v of %v cut into %v: %v", ask, dims, cuts, err)
		}
	})
}

func TestSlicesOfStringsAndMissingSlices(t *testing.T) {
	ctx, dir := context.Background(), vfs.MemDir()
	write(t, dir, "s", nil, func(w *Writer) {
		w.AddSlice(ctx, "words", tensor.Shape{4}, mustSlice(t, "0,3"), tensor.Vector("a", "b", "c"))
		w.AddSlice(ctx, "words", tensor.Shape{4}, mustSlice(t, "3,1"), tensor.Vector("d"))
		w.AddSlice(ctx, "half", tensor.Shape{4}, mustSlice(t, "0,2"), tensor.Vector("a", "b"))
		w.Add(ctx, "whole", tensor.Vector("a", "b", "c"))
	})
	r := mustOpen(t, dir, "s")
	for name, want := range map[string][]string{"words": {"c", "d"}, "whole": {"c"}} {
		n := len(want)
		got, err := r.ReadSlice(ctx, name, Slice{[]Extent{{Start: 2, Length: int64(n)}}})
		if err != nil || !slices.Equal(got.Strings(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.Read(ctx, "half"); !errors.Is(err, ErrIncomplete) {
		t.Errorf("a tensor of which half is there: %v", err)
	}
	if got, err := r.ReadSlice(ctx, "half", mustSlice(t, "1,1")); err != nil || got.Strings()[0] != "b" {
		t.Errorf("the half that is there: %v", err)
	}
	if err := r.Verify(ctx, nil); err != nil {
		t.Errorf("Verify: %v", err)
	}
}

func TestStringLayout(t *testing.T) {
	ctx, dir := context.Background(), vfs.MemDir()
	long := strings.Repeat("x", 300)
	write(t, dir, "s", nil, func(w *Writer) { w.Add(ctx, "v", tensor.Vector("ab", "", long)) })
	b, _ := dir.ReadFile("s.data-00000-of-00001")
	// 2, 0 and 300 as varints, four bytes of checksum, the bytes.
	if string(b[:4]) != "\x02\x00\xac\x02" || string(b[8:]) != "ab"+long {
		t.Errorf("the data file is % x …", b[:12])
	}
}

func TestVariantLayout(t *testing.T) {
	ctx, dir := context.Background(), vfs.MemDir()
	v := tensor.Must(tensor.FromStrings(tensor.Variant, []string{"proto", ""}, 2))
	write(t, dir, "s", nil, func(w *Writer) { w.Add(ctx, "v", v) })
	b, _ := dir.ReadFile("s.data-00000-of-00001")
	if len(b) != 1+5+4+1+4 || string(b[:6]) != "\x05proto" || b[10] != 0 {
		t.Errorf("the data file is % x", b)
	}
	if got, err := mustOpen(t, dir, "s").Read(ctx, "v"); err != nil || !got.Equal(v) {
		t.Errorf("%v, %v", got, err)
	}
	w, err := NewWriter(dir, "other", &WriterOptions{BigEndian: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.Add(ctx, "v", v); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("variants in big-endian order are written: %v", err)
	}

	// A big-endian machine's file can be verified and copied, not read.
	files := rows(&pb.BundleHeaderProto{NumShards: 1, Endianness: 1}, bigVariant(), row{"v", (&pb.BundleEntryProto{
		Dtype: pb.DataType(tensor.Variant), Shape: dims(1), Size: int64(len(bigVariant())), Crc32c: crc32c.Mask(bigVariantSum())}).Marshal()})(t)
	for name, b := range files {
		dir.WriteFile(name, b)
	}
	r := mustOpen(t, dir, "ckpt")
	if _, err := r.Read(ctx, "v"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("variants of a big-endian machine: %v", err)
	}
	if err := r.Verify(ctx, nil); err != nil {
		t.Errorf("Verify: %v", err)
	}
	write(t, dir, "copy", &WriterOptions{Like: r}, func(w *Writer) {
		if err := w.CopyAll(ctx, r, nil); err != nil {
			t.Error(err)
		}
	})
	if b, _ := dir.ReadFile("copy.data-00000-of-00001"); !slices.Equal(b, bigVariant()) {
		t.Errorf("the copy is % x", b)
	}
}

// bigVariant returns the variant "proto" as a big-endian machine stores it.
func bigVariant() []byte {
	return binary.BigEndian.AppendUint32([]byte("\x05proto"), crc32c.Mask(crc32c.Value([]byte("\x00\x00\x00\x00\x00\x00\x00\x05proto"))))
}

func bigVariantSum() uint32 {
	return crc32c.Value(append([]byte("\x00\x00\x00\x00\x00\x00\x00\x05proto"), bigVariant()[6:]...))
}

func TestDirectoryStructure(t *testing.T) {
	ctx, dir := context.Background(), vfs.MemDir()
	one := func(w *Writer) { w.Add(ctx, fmt.Sprint("t", len(dir.Names())), tensor.Scalar(true)) }
	write(t, dir, "first", nil, one)
	write(t, dir, "second", nil, one)
	check := func(want ...string) {
		t.Helper()
		if d := cmp.Diff(want, dir.Names()); d != "" {
			t.Error(d)
		}
	}
	check("first.data-00000-of-00001", "first.index", "second.data-00000-of-00001", "second.index")
	if err := Merge(ctx, dir, "renamed", []string{"first"}, nil); err != nil {
		t.Fatal(err)
	}
	check("renamed.data-00000-of-00001", "renamed.index", "second.data-00000-of-00001", "second.index")
	if err := Merge(ctx, dir, "merged", []string{"renamed", "second"}, nil); err != nil {
		t.Fatal(err)
	}
	check("merged.data-00000-of-00002", "merged.data-00001-of-00002", "merged.index")
}

func TestMergeRefuses(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name string
		b    *WriterOptions
		add  func(w *Writer)
		srcs []string
		want string
	}{
		{"the same tensor", nil, func(w *Writer) { w.Add(ctx, "x", tensor.Scalar(1.0)) }, []string{"a", "b"}, `tensor "x" is in "b" and in a source before it`},
		{"a slice of a whole tensor", nil, func(w *Writer) {
			w.AddSlice(ctx, "x", tensor.Shape{2}, Slice{[]Extent{{Start: 0, Length: 1}}}, tensor.Vector(1.0))
		}, []string{"a", "b"}, `tensor "x" is in "b"`},
		{"another byte order", &WriterOptions{BigEndian: true}, func(w *Writer) {}, []string{"a", "b"}, "another byte order"},
		{"a missing source", nil, func(w *Writer) {}, []string{"a", "c"}, "no checkpoint"},
		{"nothing", nil, func(w *Writer) {}, nil, "nothing to merge"},
		{"a source twice", nil, func(w *Writer) {}, []string{"a", "a"}, "given twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := vfs.MemDir()
			write(t, dir, "a", nil, func(w *Writer) { w.Add(ctx, "x", tensor.Scalar(2.0)) })
			write(t, dir, "b", c.b, c.add)
			before := dir.Names()
			err := Merge(ctx, dir, "out", c.srcs, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if d := cmp.Diff(before, dir.Names()); d != "" {
				t.Errorf("the files changed: %s", d)
			}
		})
	}
	dir := vfs.MemDir()
	write(t, dir, "a", nil, func(w *Writer) { w.Add(ctx, "x", tensor.Scalar(2.0)) })
	if err := Merge(ctx, dir, "out", []string{"a", "b"}, &MergeOptions{AllowMissing: true}); err != nil {
		t.Errorf("AllowMissing: %v", err)
	}
	if err := Merge(ctx, dir, "out", []string{"b"}, &MergeOptions{AllowMissing: true}); !errors.Is(err, ErrNotFound) {
		t.Errorf("all missing: %v", err)
	}
}

func TestNamesByPlace(t *testing.T) {
	ctx, dir := context.Background(), vfs.MemDir()
	write(t, dir, "o", nil, func(w *Writer) {
		w.Add(ctx, "z", tensor.Scalar(1.0))
		w.Add(ctx, "empty", tensor.Vector[float32]())
		w.AddSlice(ctx, "v", tensor.Shape{2}, mustSlice(t, "1,1"), tensor.Vector(1.0))
		w.Add(ctx, "a", tensor.Scalar(1.0))
		w.NextShard()
		w.AddSlice(ctx, "v", tensor.Shape{2}, mustSlice(t, "0,1"), tensor.Vector(1.0))
		w.Add(ctx, "b", tensor.Scalar(1.0))
	})
	if got, want := mustOpen(t, dir, "o").NamesByPlace(), []string{"z", "empty", "v", "a", "b"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWriterErrors(t *testing.T) {
	ctx := context.Background()
	others := vfs.MemDir()
	write(t, others, "o", nil, func(w *Writer) { w.Add(ctx, "y", tensor.Scalar(1.0)) })
	other := mustOpen(t, others, "o")
	for _, c := range []struct {
		name string
		add  func(w *Writer) error
		want string
	}{
		{"a name twice", func(w *Writer) error { w.Add(ctx, "x", tensor.Scalar(1.0)); return w.Add(ctx, "x", tensor.Scalar(1.0)) }, "added twice"},
		{"no name", func(w *Writer) error { return w.Add(ctx, "", tensor.Scalar(1.0)) }, "the name of a tensor is empty"},
		{"a resource", func(w *Writer) error {
			return w.Add(ctx, "x", tensor.Must(tensor.FromStrings(tensor.Resource, []string{""})))
		}, "can't be stored"},
		{"a slice of the wrong shape", func(w *Writer) error {
			return w.AddSlice(ctx, "x", tensor.Shape{3}, Slice{[]Extent{{Start: 0, Length: 2}}}, tensor.Vector(1.0))
		}, "float64[2]"},
		{"a slice of the wrong rank", func(w *Writer) error { return w.AddSlice(ctx, "x", tensor.Shape{3}, Slice{}, tensor.Vector(1.0)) }, "dimensions"},
		{"a slice of another type", func(w *Writer) error {
			w.AddSlice(ctx, "x", tensor.Shape{3}, Slice{[]Extent{{Start: 0, Length: 1}}}, tensor.Vector(1.0))
			return w.AddSlice(ctx, "x", tensor.Shape{3}, Slice{[]Extent{{Start: 1, Length: 1}}}, tensor.Vector[int32](1))
		}, "other slices are not"},
		{"whole and in slices", func(w *Writer) error {
			w.Add(ctx, "x", tensor.Vector(1.0, 2))
			return w.AddSlice(ctx, "x", tensor.Shape{2}, Slice{[]Extent{{Start: 0, Length: 1}}}, tensor.Vector(1.0))
		}, "whole and in slices"},
		{"cancelled", func(w *Writer) error {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return w.Add(ctx, "x", tensor.Scalar(1.0))
		}, "canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := vfs.MemDir()
			w, err := NewWriter(dir, "x", nil)
			if err != nil {
				t.Fatal(err)
			}
			err = c.add(w)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if again := w.Add(ctx, "other", tensor.Scalar(1.0)); again != err {
				t.Errorf("the error doesn't stick: %v", again)
			}
			if again := w.Finish(ctx); again != err {
				t.Errorf("Finish: %v", again)
			}
			if again := w.AddSlice(ctx, "other", tensor.Shape{1}, Slice{}, tensor.Scalar(1.0)); again != err {
				t.Errorf("AddSlice: %v", again)
			}
			if again := w.NextShard(); again != err {
				t.Errorf("NextShard: %v", again)
			}
			if again := w.CopyFrom(ctx, other, "y", "z"); again != err {
				t.Errorf("CopyFrom: %v", again)
			}
			if again := w.CopyAll(ctx, other, nil); again != err {
				t.Errorf("CopyAll: %v", again)
			}
			if err := w.Abort(); err != nil || len(dir.Names()) != 0 {
				t.Errorf("after Abort there are %q, %v", dir.Names(), err)
			}
		})
	}
	dir := vfs.MemDir()
	w, _ := NewWriter(dir, "x", nil)
	if err := w.Finish(ctx); err != nil {
		t.Fatal(err)
	}
	if w.Finish(ctx) == nil || w.Add(ctx, "x", tensor.Scalar(1.0)) == nil {
		t.Error("a finished writer goes on")
	}
	if d := cmp.Diff([]string{"x.data-00000-of-00001", "x.index"}, w.Files()); d != "" {
		t.Error(d)
	}
	for _, prefix := range []string{"", ".", "../x", "/x", "a//b"} {
		if _, err := NewWriter(dir, prefix, nil); err == nil {
			t.Errorf("prefix %q is taken", prefix)
		}
	}
	if _, err := NewWriter(dir, "y", &WriterOptions{Alignment: -1}); err == nil {
		t.Error("an alignment below 0 is taken")
	}
}

func TestMissingBundleIsNotFound(t *testing.T) {
	_, err := Open(context.Background(), vfs.MemDir(), "none", nil)
	if !errors.Is(err, ErrNotFound) || !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

func TestHeader(t *testing.T) {
	dir := vfs.MemDir()
	write(t, dir, "h", nil, func(w *Writer) {})
	r := mustOpen(t, dir, "h")
	want := Header{NumShards: 1, Producer: 1, Raw: []byte{0x08, 0x01, 0x1a, 0x02, 0x08, 0x01}}
	if d := cmp.Diff(want, r.Header()); d != "" || r.Version() != 2 {
		t.Error(d)
	}
}

func TestLargeTensorIsReadInChunks(t *testing.T) {
	ctx, dir := context.Background(), vfs.MemDir()
	n := 5*chunk/8 + 3
	v := grid(t, n)
	write(t, dir, "l", nil, func(w *Writer) { w.Add(ctx, "v", v) })
	r := mustOpen(t, dir, "l")
	var last, total int64
	dst := grid(t, n)
	clear(dst.Bytes())
	err := r.ReadAll(ctx, []ReadRequest{{Name: "v", Dst: dst}}, &ReadAllOptions{Workers: 4, Progress: func(done, all int64) {
		if done < last || done > all {
			t.Errorf("progress goes from %d to %d of %d", last, done, all)
		}
		last, total = done, all
	}})
	if err != nil || !dst.Equal(v) {
		t.Error(err)
	}
	if last != total || total != v.NumBytes() {
		t.Errorf("the progress ends at %d of %d", last, total)
	}
	s := Slice{[]Extent{{Start: int64(chunk/8 - 1), Length: int64(2*chunk/8 + 5)}}}
	if got, err := r.ReadSlice(ctx, "v", s); err != nil || !got.Equal(cutOut(t, v, s)) {
		t.Errorf("a slice across chunks: %v", err)
	}
}

func TestConcurrentReaders(t *testing.T) {
	ctx := context.Background()
	r := openFixture(t, "every_dtype")
	want := fixtureValues(t)["every_dtype"]
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for name, w := range want {
				got, err := r.Read(ctx, name)
				if err != nil || !got.Equal(w) {
					t.Errorf("%s: %v", name, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	if _, err := r.Read(ctx, "bool[3]"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a read after Close: %v", err)
	}
}

// flaky fails to open data files until it is mended.
type flaky struct {
	fs.FS
	broken bool
}

func (f *flaky) Open(name string) (fs.File, error) {
	if f.broken && strings.Contains(name, ".data-") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f.FS.Open(name)
}

func TestDataFileThatFailsToOpenIsTriedAgain(t *testing.T) {
	ctx, dir := context.Background(), vfs.MemDir()
	write(t, dir, "x", nil, func(w *Writer) { w.Add(ctx, "v", tensor.Scalar(1.0)) })
	fsys := &flaky{FS: dir, broken: true}
	r, err := Open(ctx, fsys, "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.Read(ctx, "v"); !errors.Is(err, fs.ErrPermission) || errors.Is(err, ErrCorrupt) {
			t.Errorf("%v", err)
		}
	}
	fsys.broken = false
	if _, err := r.Read(ctx, "v"); err != nil {
		t.Error(err)
	}
}

func TestAlignment(t *testing.T) {
	ctx := context.Background()
	for _, align := range []int{1, 8, 42, 4096, 5000} {
		dir := vfs.MemDir()
		write(t, dir, "a", &WriterOptions{Alignment: align}, func(w *Writer) {
			for i := range 5 {
				if err := w.Add(ctx, fmt.Sprint("v", i), sample(t, tensor.Int16, i)); err != nil {
					t.Fatal(err)
				}
			}
		})
		r := mustOpen(t, dir, "a")
		for e := range r.Entries() {
			if e.Offset%int64(align) != 0 {
				t.Errorf("alignment %d: %s lies at %d", align, e.Name, e.Offset)
			}
			if v, err := r.Read(ctx, e.Name); err != nil || !v.Equal(sample(t, tensor.Int16, e.Shape[0])) {
				t.Errorf("alignment %d: %s: %v", align, e.Name, err)
			}
		}
		if a, ok := r.Alignment(); ok != (align&(align-1) == 0) || ok && a != align {
			t.Errorf("alignment %d: found as %d, %v", align, a, ok)
		}
		if b, _ := dir.ReadFile("a.data-00000-of-00001"); len(b)%align != 0 {
			t.Errorf("alignment %d: the data file has %d bytes", align, len(b))
		}
	}
}
