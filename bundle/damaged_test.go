package bundle

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/table"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

var update = flag.Bool("update", false, "write testdata/damaged anew")

// damagedFolder holds a checkpoint with the prefix ckpt in each directory,
// named for its fault, and error.txt, the expected error.
const damagedFolder = "testdata/damaged"

// A damage makes the files of a damaged checkpoint, by name.
type damage func(t *testing.T) map[string][]byte

// row is a key and a message of a table, written as they are.
type row struct {
	key   string
	value []byte
}

func tableOf(t testing.TB, rows ...row) []byte {
	t.Helper()
	var b bytes.Buffer
	w := table.NewWriter(&b)
	for _, r := range rows {
		if err := w.Add([]byte(r.key), r.value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var (
	goodHeader = &pb.BundleHeaderProto{NumShards: 1, Version: &pb.VersionDef{Producer: 1}}
	goodData   = []byte{0, 0, 128, 63, 0, 0, 0, 64} // 1 and 2
)

func goodEntry() *pb.BundleEntryProto {
	return &pb.BundleEntryProto{Dtype: 1, Shape: dims(2), Size: 8, Crc32c: crc32c.Mask(crc32c.Value(goodData))}
}

func dims(sizes ...int64) *pb.TensorShapeProto {
	m := &pb.TensorShapeProto{}
	for _, n := range sizes {
		m.Dim = append(m.Dim, &pb.Dim{Size: n})
	}
	return m
}

func extent(startLength ...int64) *pb.TensorSliceProto {
	m := &pb.TensorSliceProto{}
	for i := 0; i < len(startLength); i += 2 {
		m.Extent = append(m.Extent, &pb.Extent{Start: startLength[i], Length: startLength[i+1], HasLength: true})
	}
	return m
}

// entry makes a bundle of one tensor, "t", whose entry change has spoiled.
func entry(change func(*pb.BundleEntryProto)) damage {
	return func(t *testing.T) map[string][]byte {
		e := goodEntry()
		change(e)
		return rows(goodHeader, goodData, row{"t", e.Marshal()})(t)
	}
}

func header(change func(*pb.BundleHeaderProto)) damage {
	return func(t *testing.T) map[string][]byte {
		h := &pb.BundleHeaderProto{NumShards: 1, Version: &pb.VersionDef{Producer: 1}}
		change(h)
		return rows(h, goodData, row{"t", goodEntry().Marshal()})(t)
	}
}

func rows(h *pb.BundleHeaderProto, data []byte, rows ...row) damage {
	return func(t *testing.T) map[string][]byte {
		return map[string][]byte{
			"ckpt.index":               tableOf(t, append([]row{{"", h.Marshal()}}, rows...)...),
			"ckpt.data-00000-of-00001": data,
		}
	}
}

// sliced makes a tensor of shape [4] that lists slices; each of those in parts
// has an entry.
func sliced(list []*pb.TensorSliceProto, parts ...row) damage {
	return func(t *testing.T) map[string][]byte {
		e := &pb.BundleEntryProto{Dtype: 1, Shape: dims(4), Slices: list}
		all := append(parts, row{"t", e.Marshal()})
		slices.SortFunc(all, func(a, b row) int { return strings.Compare(a.key, b.key) })
		return rows(goodHeader, append(goodData, goodData...), all...)(t)
	}
}

func part(start, length int64, change func(*pb.BundleEntryProto)) row {
	e := goodEntry()
	e.Offset = start * 4 % 16
	e.Shape = dims(length)
	if change != nil {
		change(e)
	}
	key := appendSliceKey(nil, "t", Slice{[]Extent{{Start: start, Length: length}}})
	return row{string(key), e.Marshal()}
}

// stringsOf makes a tensor of n strings whose bytes are data.
func stringsOf(n int64, data []byte) damage {
	e := &pb.BundleEntryProto{Dtype: pb.DataType(tensor.String), Shape: dims(n), Size: int64(len(data)), Crc32c: 1}
	return rows(goodHeader, data, row{"t", e.Marshal()})
}

// v1 makes a checkpoint of version 1 of one tensor, "t".
func v1(meta func(*pb.SavedSliceMeta), data func(*pb.SavedSlice)) damage {
	return func(t *testing.T) map[string][]byte {
		m := &pb.SavedSliceMeta{Name: "t", Type: 1, Shape: dims(2), Slice: []*pb.TensorSliceProto{{Extent: []*pb.Extent{{}}}}}
		if meta != nil {
			meta(m)
		}
		top := &pb.SavedTensorSlices{Meta: &pb.SavedTensorSliceMeta{Tensor: []*pb.SavedSliceMeta{m}, Versions: &pb.VersionDef{Producer: 1}}}
		list := []row{{"", top.Marshal()}}
		s := &pb.SavedSlice{Name: "t", Slice: &pb.TensorSliceProto{Extent: []*pb.Extent{{}}}, Data: &pb.TensorProto{FloatVal: []float32{1, 2}}}
		if data != nil {
			data(s)
		}
		if s.Name != "" {
			list = append(list, row{string(appendSliceKey(nil, "t", FullSlice(1))), (&pb.SavedTensorSlices{Data: s}).Marshal()})
		}
		return map[string][]byte{"ckpt": tableOf(t, list...)}
	}
}

// cut builds a sound bundle and calls change with its index.
func cut(change func(index []byte) []byte) damage {
	return func(t *testing.T) map[string][]byte {
		files := rows(goodHeader, goodData, row{"t", goodEntry().Marshal()})(t)
		files["ckpt.index"] = change(files["ckpt.index"])
		return files
	}
}

func lengthSum(lens ...uint64) []byte {
	var varints, nums []byte
	for _, n := range lens {
		varints = protowire.AppendVarint(varints, n)
		nums = appendLength(nums, n, false)
	}
	return appendUint32(varints, crc32c.Mask(crc32c.Value(nums)), false)
}

// damages lists the corpus. The kinds that TensorFlow's own fuzzing keeps are
// among them for both versions: missing tensor data, extent length, tensor type;
// an unsupported type; a negative dimension, extent start; overflow of an
// extent's end and of a tensor's size.
var damages = map[string]damage{
	"empty_index":     cut(func([]byte) []byte { return nil }),
	"half_an_index":   cut(func(b []byte) []byte { return b[:len(b)/2] }),
	"no_magic":        cut(func(b []byte) []byte { b[len(b)-1] ^= 1; return b }),
	"index_bit_flip":  cut(func(b []byte) []byte { b[12] ^= 1; return b }),
	"footer_bit_flip": cut(func(b []byte) []byte { b[len(b)-20] ^= 1; return b }),
	"no_index_block": cut(func(b []byte) []byte {
		return append(b[:len(b)-48], append(append([]byte{0, 8, 0x80, 0x80, 0x80, 0x80, 0x10, 100}, make([]byte, 32)...), b[len(b)-8:]...)...)
	}),
	"no_header": func(t *testing.T) map[string][]byte {
		return map[string][]byte{"ckpt.index": tableOf(t, row{"t", goodEntry().Marshal()}), "ckpt.data-00000-of-00001": goodData}
	},
	"empty_table": func(t *testing.T) map[string][]byte { return map[string][]byte{"ckpt.index": tableOf(t)} },
	"header_garbage": func(t *testing.T) map[string][]byte {
		return map[string][]byte{"ckpt.index": tableOf(t, row{"", []byte{0xff, 0xff}})}
	},
	"no_shards":           header(func(h *pb.BundleHeaderProto) { h.NumShards = 0 }),
	"negative_shards":     header(func(h *pb.BundleHeaderProto) { h.NumShards = -1 }),
	"unknown_byte_order":  header(func(h *pb.BundleHeaderProto) { h.Endianness = 2 }),
	"version_too_new":     header(func(h *pb.BundleHeaderProto) { h.Version = &pb.VersionDef{Producer: 5, MinConsumer: 4} }),
	"version_too_old":     header(func(h *pb.BundleHeaderProto) { h.Version = &pb.VersionDef{Producer: -1} }),
	"version_refuses_us":  header(func(h *pb.BundleHeaderProto) { h.Version = &pb.VersionDef{Producer: 5, BadConsumers: []int32{3, 1}} }),
	"missing_tensor_data": header(func(h *pb.BundleHeaderProto) { h.NumShards = 2 }),

	"entry_garbage":           rows(goodHeader, goodData, row{"t", []byte{0x12, 0x7f}}),
	"missing_tensor_type":     entry(func(e *pb.BundleEntryProto) { e.Dtype = 0 }),
	"unsupported_tensor_type": entry(func(e *pb.BundleEntryProto) { e.Dtype = 99 }),
	"negative_tensor_type":    entry(func(e *pb.BundleEntryProto) { e.Dtype = -1 }),
	"reference_type":          entry(func(e *pb.BundleEntryProto) { e.Dtype = 101 }),
	"resource":                entry(func(e *pb.BundleEntryProto) { e.Dtype = pb.DataType(tensor.Resource) }),
	"negative_dimension":      entry(func(e *pb.BundleEntryProto) { e.Shape = dims(-2) }),
	"unknown_rank":            entry(func(e *pb.BundleEntryProto) { e.Shape = &pb.TensorShapeProto{UnknownRank: true} }),
	"too_many_dimensions":     entry(func(e *pb.BundleEntryProto) { e.Shape = dims(make([]int64, 255)...) }),
	"tensor_size_overflow":    entry(func(e *pb.BundleEntryProto) { e.Shape = dims(1<<31-1, 1<<31-1, 1<<31-1) }),
	"tensor_bytes_overflow":   entry(func(e *pb.BundleEntryProto) { e.Shape = dims(1<<30, 1<<32) }),
	"size_lies":               entry(func(e *pb.BundleEntryProto) { e.Size = 4 }),
	"huge_tensor":             entry(func(e *pb.BundleEntryProto) { e.Shape, e.Size = dims(1<<30, 1<<10), 1<<42 }),
	"negative_offset":         entry(func(e *pb.BundleEntryProto) { e.Offset = -4 }),
	"negative_size":           entry(func(e *pb.BundleEntryProto) { e.Size = -8 }),
	"offset_overflow":         entry(func(e *pb.BundleEntryProto) { e.Offset = 1<<63 - 4 }),
	"offset_beyond_the_file":  entry(func(e *pb.BundleEntryProto) { e.Offset = 4 }),
	"negative_shard":          entry(func(e *pb.BundleEntryProto) { e.ShardId = -1 }),
	"shard_out_of_range":      entry(func(e *pb.BundleEntryProto) { e.ShardId = 1 }),
	"wrong_checksum":          entry(func(e *pb.BundleEntryProto) { e.Crc32c++ }),
	"bool_of_other_bits":      entry(func(e *pb.BundleEntryProto) { e.Dtype, e.Shape = pb.DataType(tensor.Bool), dims(8) }),
	"overlap": rows(goodHeader, append(goodData, 0, 0, 0, 0), row{"a", goodEntry().Marshal()},
		row{"b", (&pb.BundleEntryProto{Dtype: 1, Shape: dims(2), Offset: 4, Size: 8}).Marshal()}),
	"truncated_data": rows(goodHeader, goodData[:7], row{"t", goodEntry().Marshal()}),
	"data_bit_flip":  rows(goodHeader, append([]byte{1}, goodData[1:]...), row{"t", goodEntry().Marshal()}),

	"missing_extent_length": sliced([]*pb.TensorSliceProto{{Extent: []*pb.Extent{{Start: 1}}}}),
	"negative_extent_start": sliced([]*pb.TensorSliceProto{extent(-1, 2)}),
	"negative_extent_size":  sliced([]*pb.TensorSliceProto{extent(1, -2)}),
	"extent_end_overflow":   sliced([]*pb.TensorSliceProto{extent(1<<62, 1<<62)}),
	"extent_beyond_tensor":  sliced([]*pb.TensorSliceProto{extent(3, 2)}),
	"extents_of_other_rank": sliced([]*pb.TensorSliceProto{extent(0, 2, 0, 1)}),
	"missing_slice_entry":   sliced([]*pb.TensorSliceProto{extent(0, 2), extent(2, 2)}, part(0, 2, nil)),
	"slice_listed_twice":    sliced([]*pb.TensorSliceProto{extent(0, 2), extent(0, 2)}, part(0, 2, nil)),
	"overlapping_slices": sliced([]*pb.TensorSliceProto{extent(0, 2), extent(1, 2)}, part(0, 2, nil),
		part(1, 2, func(e *pb.BundleEntryProto) { e.Offset = 8 })),
	"slice_of_other_type":  sliced([]*pb.TensorSliceProto{extent(0, 2)}, part(0, 2, func(e *pb.BundleEntryProto) { e.Dtype = 3 })),
	"slice_of_other_shape": sliced([]*pb.TensorSliceProto{extent(0, 2)}, part(0, 2, func(e *pb.BundleEntryProto) { e.Shape = dims(2, 1) })),
	"slice_is_whole":       sliced([]*pb.TensorSliceProto{extent(0, 4)}),
	"cyclic_slices": sliced([]*pb.TensorSliceProto{extent(0, 2)}, part(0, 2, func(e *pb.BundleEntryProto) {
		e.Slices = []*pb.TensorSliceProto{extent(0, 1)}
	})),

	"string_count_lies":        stringsOf(1<<40, lengthSum(1)),
	"string_lengths_cut_off":   stringsOf(3, []byte{1, 1, 0x80}),
	"string_length_too_long":   stringsOf(1, slices.Concat(bytes.Repeat([]byte{0xff}, 10), []byte{1, 0, 0, 0, 0})),
	"string_lengths_checksum":  stringsOf(1, slices.Concat([]byte{3}, lengthSum(2)[1:], []byte("abc"))),
	"string_lengths_too_large": stringsOf(2, lengthSum(1<<40, 1<<40)),
	"string_lengths_overflow":  stringsOf(2, lengthSum(1<<63, 1<<63)),
	"string_bytes_left_over":   stringsOf(1, append(lengthSum(2), 'a', 'b', 'c')),
	"string_payload":           stringsOf(1, append(lengthSum(2), 'a', 'b')),
	"variant_length_lies": rows(goodHeader, []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 1}, row{"t",
		(&pb.BundleEntryProto{Dtype: pb.DataType(tensor.Variant), Shape: dims(1), Size: 6}).Marshal()}),

	"v1_no_list": func(t *testing.T) map[string][]byte { return map[string][]byte{"ckpt": tableOf(t, row{"a", nil})} },
	"v1_list_garbage": func(t *testing.T) map[string][]byte {
		return map[string][]byte{"ckpt": tableOf(t, row{"", []byte{0xff}})}
	},
	"v1_list_missing": func(t *testing.T) map[string][]byte { return map[string][]byte{"ckpt": tableOf(t, row{"", nil})} },
	"v1_no_table": func(t *testing.T) map[string][]byte {
		return map[string][]byte{"ckpt": bytes.Repeat([]byte("text\n"), 20)}
	},
	"v1_missing_tensor_data":     v1(nil, func(s *pb.SavedSlice) { s.Name = "" }),
	"v1_missing_values":          v1(nil, func(s *pb.SavedSlice) { s.Data = nil }),
	"v1_missing_extent_length":   v1(func(m *pb.SavedSliceMeta) { m.Slice[0].Extent[0].Start = 1 }, nil),
	"v1_missing_tensor_type":     v1(func(m *pb.SavedSliceMeta) { m.Type = 0 }, nil),
	"v1_unsupported_tensor_type": v1(func(m *pb.SavedSliceMeta) { m.Type = 99 }, nil),
	"v1_negative_dimension":      v1(func(m *pb.SavedSliceMeta) { m.Shape = dims(-2) }, nil),
	"v1_negative_extent_start":   v1(func(m *pb.SavedSliceMeta) { m.Slice[0] = extent(-1, 1) }, nil),
	"v1_extent_end_overflow":     v1(func(m *pb.SavedSliceMeta) { m.Slice[0] = extent(1<<62, 1<<62) }, nil),
	"v1_tensor_size_overflow":    v1(func(m *pb.SavedSliceMeta) { m.Shape = dims(1<<31-1, 1<<31-1, 1<<31-1) }, nil),
	"v1_huge_tensor":             v1(func(m *pb.SavedSliceMeta) { m.Shape = dims(1 << 40) }, nil),
	"v1_no_slices":               v1(func(m *pb.SavedSliceMeta) { m.Slice = nil }, nil),
	"v1_no_name":                 v1(func(m *pb.SavedSliceMeta) { m.Name = "" }, nil),
	"v1_too_few_values":          v1(nil, func(s *pb.SavedSlice) { s.Data.FloatVal = []float32{1} }),
	"v1_values_of_other_type":    v1(nil, func(s *pb.SavedSlice) { s.Data.Dtype = 3 }),
	"v1_value_out_of_range":      v1(func(m *pb.SavedSliceMeta) { m.Type = 4 }, func(s *pb.SavedSlice) { s.Data = &pb.TensorProto{IntVal: []int32{1, 256}} }),
	"v1_slice_of_another":        v1(nil, func(s *pb.SavedSlice) { s.Name = "u" }),
	"v1_another_slice":           v1(nil, func(s *pb.SavedSlice) { s.Slice = extent(0, 1) }),
	"v1_overlapping_slices": v1(func(m *pb.SavedSliceMeta) {
		m.Slice = []*pb.TensorSliceProto{extent(0, 2), extent(1, 1)}
	}, nil),
}

func TestDamagedCheckpointsAreRefused(t *testing.T) {
	if *update {
		os.RemoveAll(damagedFolder)
		for name, make := range damages {
			folder := filepath.Join(damagedFolder, name)
			if err := os.MkdirAll(folder, 0o777); err != nil {
				t.Fatal(err)
			}
			for file, b := range make(t) {
				if err := os.WriteFile(filepath.Join(folder, file), b, 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	folders, err := os.ReadDir(damagedFolder)
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) < len(damages) {
		t.Errorf("%d directories, %d kinds of damage: run the test with -update", len(folders), len(damages))
	}
	for _, f := range folders {
		t.Run(f.Name(), func(t *testing.T) {
			dir := filepath.Join(damagedFolder, f.Name())
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := consume(os.DirFS(dir), "ckpt")
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatal("the checkpoint was accepted")
			}
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) && !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("the error is of no kind that a damaged file gives: %v", err)
			}
			var c *CorruptError
			if errors.As(err, &c) && (!strings.HasPrefix(c.File, "ckpt") || c.What == "") {
				t.Errorf("the error doesn't name the file: %+v", c)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
				t.Errorf("%d bytes were allocated", n)
			}
			if strconv.IntSize == 32 {
				return // some sizes are refused there before their overflow is
			}
			golden := filepath.Join(dir, "error.txt")
			if *update {
				if err := os.WriteFile(golden, []byte(err.Error()+"\n"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, rerr := os.ReadFile(golden)
			if rerr != nil {
				t.Fatal(rerr)
			}
			if got := err.Error() + "\n"; got != string(want) {
				t.Errorf("error\n%swant\n%s", got, want)
			}
		})
	}
}

// TestUnsupportedTypeLeavesOthersReadable: a tensor of a type from a later
// TensorFlow doesn't keep the others from being read.
func TestUnsupportedTypeLeavesOthersReadable(t *testing.T) {
	dir := vfs.MemDir()
	later := goodEntry()
	later.Dtype, later.Offset = 99, 8
	for name, b := range rows(goodHeader, append(goodData, goodData...), row{"a", goodEntry().Marshal()}, row{"later", later.Marshal()})(t) {
		dir.WriteFile(name, b)
	}
	r := mustOpen(t, dir, "ckpt")
	if v, err := r.Read(context.Background(), "a"); err != nil || v.Len() != 2 {
		t.Errorf("a: %v, %v", v, err)
	}
	if _, err := r.Read(context.Background(), "later"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("later: %v", err)
	}
	if err := r.Verify(context.Background(), nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Verify: %v", err)
	}
}

// FuzzOpen opens arbitrary files.
func FuzzOpen(f *testing.F) {
	dir := vfs.MemDir()
	smallBundle(f, dir, "ckpt")
	index, _ := dir.ReadFile("ckpt.index")
	data, _ := dir.ReadFile("ckpt.data-00000-of-00002")
	f.Add(index, data)
	f.Fuzz(func(t *testing.T, index, data []byte) {
		accept(t, map[string][]byte{"ckpt.index": index, "ckpt.data-00000-of-00002": data, "ckpt.data-00001-of-00002": data, "ckpt.data-00000-of-00001": data})
	})
}

// FuzzEntry reads an arbitrary header, entry and data in a sound table.
func FuzzEntry(f *testing.F) {
	e := goodEntry()
	f.Add(goodHeader.Marshal(), "t", e.Marshal(), goodData)
	e.Dtype, e.Size = pb.DataType(tensor.String), 7
	f.Add(goodHeader.Marshal(), "t", e.Marshal(), []byte{1, 0, 1, 2, 3, 4, 5})
	e.Dtype = pb.DataType(tensor.Variant)
	f.Add((&pb.BundleHeaderProto{NumShards: 1, Endianness: 1}).Marshal(), string(appendSliceKey(nil, "t", Slice{[]Extent{{Start: 1, Length: 1}}})), e.Marshal(), []byte{1, 0, 1, 2, 3, 4, 5})
	f.Fuzz(func(t *testing.T, header []byte, key string, entry, data []byte) {
		rows := []row{{"", header}}
		if key != "" {
			rows = append(rows, row{key, entry})
		}
		accept(t, map[string][]byte{"ckpt.index": tableOf(t, rows...), "ckpt.data-00000-of-00001": data})
	})
}

// FuzzV1 reads an arbitrary list of tensors and slice in version 1.
func FuzzV1(f *testing.F) {
	full := FullSlice(1)
	meta := &pb.SavedTensorSlices{Meta: &pb.SavedTensorSliceMeta{Tensor: []*pb.SavedSliceMeta{{Name: "t", Type: 1, Shape: dims(2), Slice: []*pb.TensorSliceProto{sliceProto(full)}}}}}
	data := &pb.SavedTensorSlices{Data: &pb.SavedSlice{Name: "t", Slice: sliceProto(full), Data: &pb.TensorProto{FloatVal: []float32{1, 2}}}}
	f.Add(meta.Marshal(), string(appendSliceKey(nil, "t", full)), data.Marshal())
	f.Fuzz(func(t *testing.T, meta []byte, key string, value []byte) {
		rows := []row{{"", meta}}
		if key != "" {
			rows = append(rows, row{key, value})
		}
		accept(t, map[string][]byte{"ckpt": tableOf(t, rows...)})
	})
}

// accept reads a checkpoint from hostile files. Values that can be read must be
// written again and read the same.
func accept(t *testing.T, files map[string][]byte) {
	dir := vfs.MemDir()
	for name, b := range files {
		dir.WriteFile(name, b)
	}
	got, err := consume(dir, "ckpt")
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNotFound) {
			t.Fatalf("an error of no kind: %v", err)
		}
		return
	}
	write(t, dir, "again", nil, func(w *Writer) {
		for name, v := range got {
			if err := w.Add(context.Background(), name, v); err != nil {
				t.Fatal(err)
			}
		}
	})
	again, err := consume(dir, "again")
	if err != nil || len(again) != len(got) {
		t.Fatalf("%d tensors were written, %d read: %v", len(got), len(again), err)
	}
	for name, v := range got {
		if !again[name].Equal(v) {
			t.Fatalf("%q changed", name)
		}
	}
}
