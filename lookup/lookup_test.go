package lookup_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/lookup"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// words is a model with all kinds of tables.
type words struct {
	trackable.Base
	KV     *lookup.StaticHashTable
	File   *lookup.StaticHashTable
	Vocab  *lookup.StaticVocabularyTable
	Counts *lookup.MutableHashTable
	Dense  *lookup.DenseHashTable
	Find   *function.Func[*ops.Value, found]
	Learn  *function.Func[pair, *ops.Value]
}

type pair struct{ Keys, Values *ops.Value }

type found struct{ KV, File, Vocab, Counts, Dense, Size *ops.Value }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func newWords(asset *savedmodel.TrackableAsset) *words {
	w := &words{}
	w.KV = must(lookup.NewStaticHashTable(lookup.KeyValueTensorInitializer{Keys: []string{"x", "y"}, Values: []int64{1, 2}}, -1, nil))
	w.File = must(lookup.NewStaticHashTable(lookup.TextFileInitializer{File: asset, KeyIndex: lookup.WholeLine, ValueIndex: lookup.LineNumber}, -1, nil))
	w.Vocab = must(lookup.NewStaticVocabularyTable(lookup.KeyValueTensorInitializer{Keys: []string{"x", "y"}, Values: []int64{0, 1}}, 2, nil))
	w.Counts = must(lookup.NewMutableHashTable(tensor.String, -1, &lookup.MutableOptions{Name: "counts"}))
	w.Dense = must(lookup.NewDenseHashTable("", "\x00", []float32{0, 0}, &lookup.MutableOptions{Name: "dense", InitialNumBuckets: 8}))
	w.Find = function.New(func(s *ops.Scope, x *ops.Value) found {
		return found{w.KV.Lookup(s, x), w.File.Lookup(s, x), w.Vocab.Lookup(s, x), w.Counts.Lookup(s, x), w.Dense.Lookup(s, x), w.Counts.Size(s)}
	})
	w.Learn = function.New(func(s *ops.Scope, in pair) *ops.Value {
		w.Counts.Insert(s, in.Keys, in.Values)
		w.Dense.Insert(s, in.Keys, ops.Stack(s, []ops.Input{ops.Cast(s, in.Values, tensor.Float32), ops.Cast(s, in.Values, tensor.Float32)}, 1))
		return w.Counts.Size(s)
	})
	return w
}

var query = []string{"x", "b", "q", "none"}

func (w *words) find(t *testing.T) map[string]any {
	t.Helper()
	out, err := w.Find.Call(t.Context(), ops.ValueOf(tensor.Vector(query...)))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"kv": ints(out.KV), "file": ints(out.File), "vocab": ints(out.Vocab), "counts": ints(out.Counts), "dense": floats(out.Dense), "size": ints(out.Size)}
}

func ints(v *ops.Value) []int64     { return tensor.Values[int64](must(v.Tensor())) }
func floats(v *ops.Value) []float32 { return tensor.Values[float32](must(v.Tensor())) }

// want are the results of TensorFlow 2.21 for the same tables.
var want = map[string]any{
	"kv": []int64{1, -1, -1, -1}, "file": []int64{-1, 1, -1, -1}, "vocab": []int64{0, 2, 3, 2},
	"counts": []int64{-1, -1, 7, -1}, "dense": []float32{0, 0, 0, 0, 7, 7, 0, 0}, "size": []int64{1},
}

func check(t *testing.T, where string, got map[string]any) {
	t.Helper()
	for name, w := range want {
		equal := false
		switch w := w.(type) {
		case []int64:
			g, _ := got[name].([]int64)
			equal = slices.Equal(g, w)
		case []float32:
			g, _ := got[name].([]float32)
			equal = slices.Equal(g, w)
		}
		if !equal {
			t.Errorf("%s: %s is %v, want %v", where, name, got[name], w)
		}
	}
}

func learned(t *testing.T) *words {
	t.Helper()
	w := newWords(savedmodel.NewAssetFS(fstest.MapFS{"vocab.txt": {Data: []byte("a\nb\nc\n")}}, "vocab.txt"))
	if _, err := w.Learn.Call(t.Context(), pair{ops.ValueOf(tensor.Vector("q")), ops.ValueOf(tensor.Vector[int64](7))}); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestTablesAreLookedUpEagerlyAndTraced(t *testing.T) {
	w := learned(t)
	check(t, "eager", w.find(t))
	if _, err := w.Find.Trace(ops.Spec(tensor.String, -1)); err != nil {
		t.Fatal(err)
	}
	check(t, "traced", w.find(t))
	if _, err := w.Learn.Trace(pair{ops.Spec(tensor.String, -1), ops.Spec(tensor.Int64, -1)}); err != nil {
		t.Fatal(err)
	}
	n, err := w.Learn.Call(t.Context(), pair{ops.ValueOf(tensor.Vector("q", "r")), ops.ValueOf(tensor.Vector[int64](8, 9))})
	if err != nil || ints(n)[0] != 2 {
		t.Fatalf("after a traced insertion the table has %v keys, %v", n, err)
	}
}

func TestCheckpointsSaveMutableTables(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	w := learned(t)
	prefix, err := must(checkpoint.New(w, nil)).Save(ctx, filepath.Join(dir, "ck"))
	if err != nil {
		t.Fatal(err)
	}
	fresh := newWords(savedmodel.NewAssetFS(fstest.MapFS{"vocab.txt": {Data: []byte("a\nb\nc\n")}}, "vocab.txt"))
	r, err := must(checkpoint.New(fresh, nil)).Restore(ctx, prefix, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.AssertConsumed(); err != nil {
		t.Fatal(err)
	}
	check(t, "restored", fresh.find(t))
}

func TestSavedModelsHaveTables(t *testing.T) {
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "m")
	w := learned(t)
	c, err := w.Find.Trace(ops.Spec(tensor.String, -1))
	if err != nil {
		t.Fatal(err)
	}
	if err := savedmodel.Save(ctx, w, dir, &savedmodel.SaveOptions{Signatures: map[string]*function.Concrete{"serving_default": c}}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "assets", "vocab.txt")); err != nil || string(b) != "a\nb\nc\n" {
		t.Errorf("the asset is %q, %v", b, err)
	}

	moved := dir + "-moved" // assets are found relative to the graph's file
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	dir = moved
	m, err := run.Load(ctx, os.DirFS(dir), &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	sig, err := m.Signature("serving_default")
	if err != nil {
		t.Fatal(err)
	}
	out, err := sig.Call(ctx, map[string]*tensor.Tensor{"inputs": tensor.Vector(query...)})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for name, v := range out {
		if v.DType() == tensor.Int64 {
			got[name] = tensor.Values[int64](v)
		} else {
			got[name] = tensor.Values[float32](v)
		}
	}
	check(t, "loaded", got)

	// Restored objects keep the tables, whose functions make them when they are captured.
	r, err := savedmodel.Restore(ctx, os.DirFS(dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	root := r.Root.(*savedmodel.TrackableObject)
	find := root.Child("find").(*savedmodel.TrackableFunction).Traces()[0]
	applied := function.New(func(s *ops.Scope, x *ops.Value) []*ops.Value { return function.Apply(s, find, x) })
	for _, mode := range []string{"applied eagerly", "applied in a trace"} {
		if mode != "applied eagerly" {
			if _, err := applied.Trace(ops.Spec(tensor.String, -1)); err != nil {
				t.Fatal(err)
			}
		}
		res, err := applied.Call(ctx, ops.ValueOf(tensor.Vector(query...)))
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		got := map[string]any{}
		for i, name := range []string{"kv", "file", "vocab", "counts", "dense", "size"} {
			v := must(res[i].Tensor())
			if v.DType() == tensor.Int64 {
				got[name] = tensor.Values[int64](v)
			} else {
				got[name] = tensor.Values[float32](v)
			}
		}
		check(t, mode, got)
	}

	// A change of a restored table is saved with it.
	table := root.Child("counts").(*savedmodel.TrackableResource)
	s := function.Eager(ctx)
	s.Emit0("LookupTableInsertV2", nil, table, tensor.Vector("none"), tensor.Vector[int64](4))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "again")
	if err := savedmodel.Save(ctx, root, again, nil); err != nil {
		t.Fatal(err)
	}
	m, err = run.Load(ctx, os.DirFS(again), &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	sig, err = m.Signature("serving_default")
	if err != nil {
		t.Fatal(err)
	}
	out, err = sig.Call(ctx, map[string]*tensor.Tensor{"inputs": tensor.Vector(query...)})
	if err != nil {
		t.Fatal(err)
	}
	if got := tensor.Values[int64](out["counts"]); !slices.Equal(got, []int64{-1, -1, 7, 4}) {
		t.Errorf("the changed table has %v", got)
	}
}

func TestEqualTablesAreSavedAlike(t *testing.T) {
	var files [][]byte
	for range 2 {
		dir := filepath.Join(t.TempDir(), "m")
		w := learned(t)
		c := must(w.Find.Trace(ops.Spec(tensor.String, -1)))
		if err := savedmodel.Save(t.Context(), w, dir, &savedmodel.SaveOptions{Signatures: map[string]*function.Concrete{"serving_default": c}}); err != nil {
			t.Fatal(err)
		}
		files = append(files, must(os.ReadFile(filepath.Join(dir, "saved_model.pb"))))
	}
	if string(files[0]) != string(files[1]) {
		t.Error("two saves of equal models differ")
	}
}

func TestMistakesWithTables(t *testing.T) {
	kv := lookup.KeyValueTensorInitializer{Keys: []string{"x"}, Values: []int64{1}}
	file := savedmodel.NewAssetFS(fstest.MapFS{"v": {Data: []byte("a\n")}}, "v")
	for _, c := range []struct {
		name string
		make func() error
		want string
	}{
		{"sizes differ", func() error {
			_, err := lookup.NewStaticHashTable(lookup.KeyValueTensorInitializer{Keys: []string{"x"}, Values: []int64{1, 2}}, -1, nil)
			return err
		}, "must be vectors of one size"},
		{"two values of one key", func() error {
			tb, err := lookup.NewStaticHashTable(lookup.KeyValueTensorInitializer{Keys: []string{"x", "x"}, Values: []int64{1, 2}}, -1, nil)
			if err != nil {
				return err
			}
			s := function.Eager(context.Background())
			tb.Lookup(s, "x")
			return s.Close()
		}, "is a *lookup.StaticHashTable that can't be made"},
		{"the default's type", func() error { _, err := lookup.NewStaticHashTable(kv, "none", nil); return err }, "the default value does not fit the values (got string"},
		{"no initializer", func() error { _, err := lookup.NewStaticHashTable(nil, -1, nil); return err }, "there is no initializer"},
		{"no file", func() error {
			_, err := lookup.NewStaticHashTable(lookup.TextFileInitializer{KeyIndex: lookup.WholeLine, ValueIndex: lookup.LineNumber}, -1, nil)
			return err
		}, "there is no file"},
		{"a column without a type", func() error {
			_, err := lookup.NewStaticHashTable(lookup.TextFileInitializer{File: file, ValueIndex: lookup.LineNumber}, -1, nil)
			return err
		}, "its type is needed"},
		{"no buckets", func() error { _, err := lookup.NewStaticVocabularyTable(kv, 0, nil); return err }, "want 1 or more"},
		{"equal reserved keys", func() error {
			tb, err := lookup.NewDenseHashTable("", "", float32(0), nil)
			if err != nil {
				return err
			}
			s := function.Eager(context.Background())
			tb.Size(s)
			return s.Close()
		}, "the empty and the deleted key are the same"},
		{"keys of another type", func() error {
			tb := must(lookup.NewStaticHashTable(kv, -1, nil))
			s := function.Eager(context.Background())
			tb.Lookup(s, []float32{1})
			return s.Close()
		}, "the keys have the wrong type (got float32, want string)"},
		{"a table that the root does not reach", func() error {
			tb := must(lookup.NewStaticHashTable(kv, -1, nil))
			m := &struct {
				trackable.Base
				F *function.Func[*ops.Value, *ops.Value]
			}{F: function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return tb.Lookup(s, x) })}
			c := must(m.F.Trace(ops.Spec(tensor.String, -1)))
			return savedmodel.Save(context.Background(), m, filepath.Join(t.TempDir(), "m"), &savedmodel.SaveOptions{Signatures: map[string]*function.Concrete{"serving_default": c}})
		}, "the resource *lookup.StaticHashTable"},
	} {
		if err := c.make(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestVocabulariesOfNumbersAcceptOtherIntegers(t *testing.T) {
	v := must(lookup.NewStaticVocabularyTable(lookup.KeyValueTensorInitializer{Keys: []int64{5, 7}, Values: []int64{0, 1}}, 3, &lookup.VocabularyOptions{KeyDType: tensor.Int32}))
	s := function.Eager(t.Context())
	ids, size := v.Lookup(s, []int32{5, 7, 9, -3}), v.Size(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := ints(ids); !slices.Equal(got, []int64{0, 1, 4, 2}) || ints(size)[0] != 5 { // TensorFlow's
		t.Errorf("ids %v of %v", got, ints(size))
	}
}
