package lookup_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestTextFiles reads tables from files and compares them with those of
// TensorFlow 2.21.
func TestTextFiles(t *testing.T) {
	words, none := tensor.Vector("a", "b", "c c"), tensor.Scalar(int64(-1))
	for _, x := range []struct {
		name, content string
		attrs         graph.Attrs
		keys, missing *tensor.Tensor
		want          *tensor.Tensor // nil: an error
	}{
		{"line numbers of lines", "a\nb\nc c\n", graph.Attrs{graph.Int("key_index", -2), graph.Int("value_index", -1)}, words, none, tensor.Vector[int64](0, 1, 2)},
		{"carriage returns, an offset", "a\r\nb\nc c", graph.Attrs{graph.Int("key_index", -2), graph.Int("value_index", -1), graph.Int("offset", 10)}, words, none, tensor.Vector[int64](10, 11, 12)},
		{"the first lines", "a\nb\nc c\n", graph.Attrs{graph.Int("key_index", -2), graph.Int("value_index", -1), graph.Int("vocab_size", 2)}, words, none, tensor.Vector[int64](0, 1, -1)},
		{"too few lines", "a\nb\n", graph.Attrs{graph.Int("key_index", -2), graph.Int("value_index", -1), graph.Int("vocab_size", 3)}, words, none, nil},
		{"an empty line", "a\n\nb\n", graph.Attrs{graph.Int("key_index", -2), graph.Int("value_index", -1)}, words, none, nil},
		{"a line twice", "a\na\n", graph.Attrs{graph.Int("key_index", -2), graph.Int("value_index", -1)}, words, none, nil},
		{"columns", "a\t5\nb\t6\n", graph.Attrs{graph.Int("key_index", 0), graph.Int("value_index", 1)}, words, none, tensor.Vector[int64](5, 6, -1)},
		{"columns between commas", "5,a,x\n 6 ,b,x\n", graph.Attrs{graph.Int("key_index", 1), graph.Int("value_index", 0), graph.String("delimiter", ",")}, words, none, tensor.Vector[int64](5, 6, -1)},
		{"a column is missing", "5,a\n6\n", graph.Attrs{graph.Int("key_index", 1), graph.Int("value_index", 0), graph.String("delimiter", ",")}, words, none, nil},
		{"no number", "x,a\n", graph.Attrs{graph.Int("key_index", 1), graph.Int("value_index", 0), graph.String("delimiter", ",")}, words, none, nil},
		{"lines of line numbers", "x\ny\n", graph.Attrs{graph.Int("key_index", -1), graph.Int("value_index", -2), graph.Int("offset", 3)}, tensor.Vector[int64](0, 1, 3, 4), tensor.Scalar("?"), tensor.Vector("?", "?", "x", "y")},
		{"floats", "a 1.5\nb inf\n", graph.Attrs{graph.Int("key_index", 0), graph.Int("value_index", 1), graph.String("delimiter", " ")}, words, tensor.Scalar[float32](-1), tensor.Vector(1.5, float32(math.Inf(1)), -1)},
		{"line numbers of another type", "x\n", graph.Attrs{graph.Int("key_index", -2), graph.Int("value_index", -1)}, words, tensor.Scalar[int32](1), nil},
		{"lines to themselves", "a\nb", graph.Attrs{graph.Int("key_index", -2), graph.Int("value_index", -2)}, words, tensor.Scalar(""), tensor.Vector("a", "b", "")},
	} {
		t.Run(x.name, func(t *testing.T) {
			files := &engine.Files{Read: fstest.MapFS{"assets/words.txt": {Data: []byte(x.content)}}}
			s := function.Eager(context.Background(), &function.Options{Files: files})
			table := s.Emit("AnonymousHashTable", graph.Attrs{graph.Type("key_dtype", x.keys.DType()), graph.Type("value_dtype", x.missing.DType())})[0]
			s.Emit("InitializeTableFromTextFileV2", x.attrs, table, tensor.Scalar("assets/words.txt"))
			if s.Err() != nil || x.want == nil {
				if (s.Err() != nil) != (x.want == nil) {
					t.Errorf("error %v, want one: %v", s.Err(), x.want == nil)
				}
				return
			}
			got, err := s.Emit("LookupTableFindV2", nil, table, x.keys, x.missing)[0].Tensor()
			if err != nil || !got.Equal(x.want) {
				t.Errorf("%v %v, want %v", got, err, x.want)
			}
		})
	}
}

func TestTextFilesNeedAGrant(t *testing.T) {
	s := function.Eager(context.Background())
	table := stringTable(s, "AnonymousHashTable")
	s.Emit("InitializeTableFromTextFileV2", graph.Attrs{graph.Int("key_index", -2), graph.Int("value_index", -1)}, table, tensor.Scalar("/etc/passwd"))
	if s.Err() == nil {
		t.Error("a file was read without a grant")
	}
}

func stringTable(s *ops.Scope, op string) *ops.Value {
	attrs := graph.Attrs{graph.Type("key_dtype", tensor.String), graph.Type("value_dtype", tensor.Int64)}
	if op == "MutableHashTableV2" {
		attrs = append(attrs, graph.String("shared_name", "of many goroutines"))
	}
	return s.Emit(op, attrs)[0]
}

// TestTablesAreSafeForConcurrentUse changes and reads a table from many
// goroutines, for the race detector.
func TestTablesAreSafeForConcurrentUse(t *testing.T) {
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			s := function.Eager(context.Background())
			v := stringTable(s, "MutableHashTableV2")
			key := tensor.Vector(string(rune('a' + g)))
			for i := range 50 {
				s.Emit("LookupTableInsertV2", nil, v, key, tensor.Vector(int64(i)))
				got, err := s.Emit("LookupTableFindV2", nil, v, key, tensor.Scalar(int64(-1)))[0].Tensor()
				if err != nil || tensor.Values[int64](got)[0] != int64(i) {
					t.Errorf("%v %v, want %d", got, err, i)
				}
				s.Emit("LookupTableExportV2", graph.Attrs{graph.Type("Tkeys", tensor.String), graph.Type("Tvalues", tensor.Int64)}, v)
				s.Emit("LookupTableRemoveV2", nil, v, key)
			}
		})
	}
	wg.Wait()
}

// TestDenseTablesExportTheirBuckets compares with TensorFlow 2.21's LookupTableExportV2 of
// the same dense tables.
func TestDenseTablesExportTheirBuckets(t *testing.T) {
	matrix := func(values any, shape ...int) *tensor.Tensor {
		x, err := values.(*tensor.Tensor).Reshape(shape...)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, x := range []struct {
		name                         string
		empty, deleted, keys         *tensor.Tensor
		values, wantKeys, wantValues *tensor.Tensor
	}{
		{"numbers", tensor.Scalar[int64](-1), tensor.Scalar[int64](-2), tensor.Vector[int64](3, 7, 4), tensor.Vector[float32](1, 2, 3),
			matrix(tensor.Vector[int64](7, 4, -1, 3), 4, 1), matrix(tensor.Vector[float32](2, 3, 0, 1), 4, 1)},
		{"pairs of numbers", tensor.Vector[int64](-1, -1), tensor.Vector[int64](-2, -2), matrix(tensor.Vector[int64](3, 4, 5, 6), 2, 2), tensor.Vector[float32](1, 2),
			matrix(tensor.Vector[int64](5, 6, -1, -1, -1, -1, 3, 4), 4, 2), matrix(tensor.Vector[float32](2, 0, 0, 1), 4, 1)},
		{"strings", tensor.Scalar(""), tensor.Scalar("\x00"), tensor.Vector("a", "bb", "a word of many letters"), tensor.Vector[float32](1, 2, 3),
			matrix(tensor.Vector("a", "bb", "a word of many letters", ""), 4, 1), matrix(tensor.Vector[float32](1, 2, 3, 0), 4, 1)},
	} {
		s := function.Eager(context.Background())
		table := s.Emit("AnonymousMutableDenseHashTable", graph.Attrs{graph.Type("key_dtype", x.keys.DType()), graph.Type("value_dtype", tensor.Float32), graph.Int("initial_num_buckets", 4)}, x.empty, x.deleted)[0]
		s.Emit0("LookupTableInsertV2", nil, table, x.keys, x.values)
		out := s.EmitN(2, "LookupTableExportV2", graph.Attrs{graph.Type("Tkeys", x.keys.DType()), graph.Type("Tvalues", tensor.Float32)}, table)
		other := s.Emit("AnonymousMutableDenseHashTable", graph.Attrs{graph.Type("key_dtype", x.keys.DType()), graph.Type("value_dtype", tensor.Float32)}, x.empty, x.deleted)[0]
		s.Emit0("LookupTableImportV2", nil, other, out[0], out[1])
		values := s.Emit1("LookupTableFindV2", nil, other, x.keys, tensor.Scalar[float32](-1))
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		for i, want := range []*tensor.Tensor{x.wantKeys, x.wantValues} {
			if got, err := out[i].Tensor(); err != nil || !got.Equal(want) {
				t.Errorf("%s: %v %v, want %v", x.name, got, err, want)
			}
		}
		if got, err := values.Tensor(); err != nil || !got.Equal(x.values) {
			t.Errorf("%s: imported, the table has %v %v, want %v", x.name, got, err, x.values)
		}
	}
}
