package bundle

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// The fixtures are written by testdata/tf2.21/gen_bundle.py.
const fixtures = "testdata/tf2.21"

// bundles are the fixtures that are bundles; a case's prefix is its directory
// and "ckpt".
var bundles = []string{"every_dtype", "slices", "keys", "many", "long_names", "strings", "variants", "shards", "empty_shards", "merge_one", "objects"}

func fixturePrefix(name string) string {
	if name == "objects" {
		return name + "/ckpt-1"
	}
	return name + "/ckpt"
}

func openFixture(t testing.TB, name string) *Reader {
	t.Helper()
	r, err := Open(context.Background(), os.DirFS(fixtures), fixturePrefix(name), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fixtureFiles maps the names of a bundle's files, without its directory, to
// their bytes.
func fixtureFiles(t testing.TB, fsys fs.FS, prefix string) map[string][]byte {
	t.Helper()
	entries, err := fs.ReadDir(fsys, path.Dir(prefix))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), path.Base(prefix)+".") {
			continue
		}
		b, err := fs.ReadFile(fsys, path.Join(path.Dir(prefix), e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = b
	}
	return files
}

// same compares the files of two bundles; a different index is shown as dumps.
func same(t *testing.T, want, got map[string][]byte) {
	t.Helper()
	for name, w := range want {
		g, ok := got[name]
		if !ok {
			t.Errorf("%s is missing", name)
			continue
		}
		if bytes.Equal(w, g) {
			continue
		}
		if strings.HasSuffix(name, indexSuffix) {
			t.Errorf("%s differs:\n%s", name, cmp.Diff(dumpBytes(w), dumpBytes(g)))
			continue
		}
		t.Errorf("%s differs: %d bytes, want %d", name, len(g), len(w))
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s should not be there", name)
		}
	}
}

func dumpBytes(index []byte) string {
	dir := vfs.MemDir()
	dir.WriteFile("x.index", index)
	var b strings.Builder
	if err := Dump(context.Background(), &b, dir, "x"); err != nil {
		fmt.Fprintln(&b, err)
	}
	return b.String()
}

// TestReadsWhatTensorFlowWrote checks the values read from TensorFlow's files.
func TestReadsWhatTensorFlowWrote(t *testing.T) {
	ctx := context.Background()
	for _, name := range bundles {
		t.Run(name, func(t *testing.T) {
			r := openFixture(t, name)
			if err := r.Verify(ctx, nil); err != nil {
				t.Fatal(err)
			}
			if name != "objects" {
				want := fixtureValues(t)[name]
				more := 0
				if name == "slices" {
					more = 1 // "far", of which only two rows are there
				}
				if r.Len() != len(want)+more {
					t.Errorf("%d tensors, want %d", r.Len(), len(want)+more)
				}
				for n, w := range want {
					got, err := r.Read(ctx, n)
					if err != nil {
						t.Error(err)
					} else if !got.Equal(w) {
						t.Errorf("%.100q is %v%v, not the %v%v that was saved", n, got.DType(), got.Shape(), w.DType(), w.Shape())
					}
				}
			}
		})
	}
}

// TestEntriesEqualTheOracles compares the index with the messages that
// TensorFlow decoded.
func TestEntriesEqualTheOracles(t *testing.T) {
	for _, name := range bundles {
		b, err := os.ReadFile(path.Join(fixtures, name, "oracle.txt"))
		if err != nil {
			continue // too large to be kept: the bytes are compared
		}
		t.Run(name, func(t *testing.T) {
			r := openFixture(t, name)
			var got strings.Builder
			fmt.Fprintf(&got, "header shards=%d endianness=0 producer=%d\n", r.Header().NumShards, r.Header().Producer)
			for i := range r.index.n {
				rec := r.record(i)
				var dims, parts []string
				for _, d := range rec.Shape {
					dims = append(dims, strconv.Itoa(d))
				}
				crc := crc32c.Mask(rec.CRC)
				if len(rec.Slices) > 0 {
					crc = 0
					rec.Size = 0
				}
				for _, s := range rec.Slices {
					var ext []string
					for _, e := range s.Extents {
						length := e.Length
						if e.Full {
							length = -1
						}
						ext = append(ext, fmt.Sprintf("(%d, %d)", e.Start, length))
					}
					parts = append(parts, "["+strings.Join(ext, ", ")+"]")
				}
				fmt.Fprintf(&got, "%x dtype=%d shape=[%s] shard=%d offset=%d size=%d crc=%08x slices=[%s]\n",
					rec.Name, rec.DType, strings.Join(dims, ", "), rec.Shard, rec.Offset, rec.Size, crc, strings.Join(parts, ", "))
			}
			want := string(b)
			if name == "shards" {
				// A sliced tensor's own entry has the shard of the source that
				// named it first; this Reader shows none.
				want = strings.Replace(want, "76 dtype=1 shape=[6, 2] shard=1", "76 dtype=1 shape=[6, 2] shard=0", 1)
			}
			if d := cmp.Diff(want, got.String()); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestRewritesTensorFlowsBytes checks that copying entries reproduces
// TensorFlow's bytes.
func TestRewritesTensorFlowsBytes(t *testing.T) {
	ctx := context.Background()
	for _, name := range bundles {
		t.Run(name, func(t *testing.T) {
			r := openFixture(t, name)
			dir := vfs.MemDir()
			write(t, dir, fixturePrefix(name), &WriterOptions{Like: r}, func(w *Writer) {
				if err := w.CopyAll(ctx, r, nil); err != nil {
					t.Fatal(err)
				}
			})
			same(t, fixtureFiles(t, os.DirFS(fixtures), fixturePrefix(name)), fixtureFiles(t, dir, fixturePrefix(name)))
		})
	}
}

// TestWritesTensorFlowsBytes checks that writing the values reproduces
// TensorFlow's bytes.
func TestWritesTensorFlowsBytes(t *testing.T) {
	ctx := context.Background()
	for _, name := range bundles {
		t.Run(name, func(t *testing.T) {
			r := openFixture(t, name)
			dir := vfs.MemDir()
			write(t, dir, fixturePrefix(name), nil, func(w *Writer) {
				shard := 0
				for _, i := range r.index.order {
					rec := r.record(int(i))
					for ; shard < rec.Shard; shard++ {
						if err := w.NextShard(); err != nil {
							t.Fatal(err)
						}
					}
					if rec.slice == nil {
						v, err := r.Read(ctx, rec.Name)
						if err != nil {
							t.Fatal(err)
						}
						if err := w.Add(ctx, rec.Name, v); err != nil {
							t.Fatal(err)
						}
						continue
					}
					whole, _ := r.Entry(r.ownerOf(rec))
					v, err := r.ReadSlice(ctx, whole.Name, *rec.slice)
					if err != nil {
						t.Fatal(err)
					}
					if err := w.AddSlice(ctx, whole.Name, whole.Shape, *rec.slice, v); err != nil {
						t.Fatal(err)
					}
				}
			})
			same(t, fixtureFiles(t, os.DirFS(fixtures), fixturePrefix(name)), fixtureFiles(t, dir, fixturePrefix(name)))
		})
	}
}

func TestMergeEqualsTensorFlows(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name string
		opts MergeOptions
	}{{"renamed", MergeOptions{}}, {"copied", MergeOptions{KeepSources: true}}} {
		t.Run(c.name, func(t *testing.T) {
			dir := vfs.MemDir()
			src := os.DirFS(path.Join(fixtures, "shards", "sources"))
			entries, _ := fs.ReadDir(src, ".")
			for _, e := range entries {
				b, _ := fs.ReadFile(src, e.Name())
				dir.WriteFile(e.Name(), b)
			}
			if err := Merge(ctx, dir, "out/ckpt", []string{"ckpt-a", "ckpt-b", "ckpt-c"}, &c.opts); err != nil {
				t.Fatal(err)
			}
			same(t, fixtureFiles(t, os.DirFS(fixtures), "shards/ckpt"), fixtureFiles(t, dir, "out/ckpt"))
			left := 0
			if c.opts.KeepSources {
				left = len(entries)
			}
			if n := len(dir.Names()) - 4; n != left {
				t.Errorf("%d files of the sources are left, want %d: %q", n, left, dir.Names())
			}
		})
	}
}

func TestObjectGraphMessageIsRewrittenExactly(t *testing.T) {
	r := openFixture(t, "objects")
	v, err := r.Read(context.Background(), "_CHECKPOINTABLE_OBJECT_GRAPH")
	if err != nil {
		t.Fatal(err)
	}
	raw := []byte(v.Strings()[0])
	var g pb.TrackableObjectGraph
	if err := g.Unmarshal(raw); err != nil {
		t.Fatal(err)
	}
	if got := g.Marshal(); !bytes.Equal(raw, got) {
		t.Errorf("the graph is written as\n% x, was\n% x", got, raw)
	}
	if len(g.Nodes) < 5 || g.Nodes[0].Children[0].LocalName != "net" || !g.Nodes[0].HasCheckpointValues.Value {
		t.Errorf("the graph is read as %+v", g.Nodes[0])
	}
}

// pattern returns the same tensor as the generator's of_dtype.
func pattern(t testing.TB, d tensor.DType, dims ...int) *tensor.Tensor {
	t.Helper()
	v := sample(t, d, dims...)
	if hostBig && d.Fixed() {
		swapBytes(v.Bytes(), d.Swap()) // the generator's bytes are little-endian
	}
	return v
}

// fixtureValues computes the tensors that the generator saved, by case and
// name.
func fixtureValues(t testing.TB) map[string]map[string]*tensor.Tensor {
	t.Helper()
	must := func(v *tensor.Tensor, err error) *tensor.Tensor {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	out := make(map[string]map[string]*tensor.Tensor)
	for _, name := range bundles {
		out[name] = make(map[string]*tensor.Tensor)
	}
	for _, d := range tensor.DTypes() {
		if d == tensor.Resource || d == tensor.Variant {
			continue
		}
		for _, s := range [][]int{{}, {0}, {3}, {2, 0, 1}, {5, 7}} {
			out["every_dtype"][d.String()+fmt.Sprint(s)] = pattern(t, d, s...)
		}
	}

	full := pattern(t, tensor.Float32, 10, 5)
	grid := must(tensor.Zeros(tensor.Int64, 4, 6, 8))
	for i := range tensor.Values[int64](grid) {
		tensor.Values[int64](grid)[i] = int64(i)
	}
	out["slices"] = map[string]*tensor.Tensor{"part": full, "whole": full, "degenerate": full, "grid": grid}

	for i, n := range keyNames() {
		out["keys"][n] = tensor.Scalar(int32(i))
	}
	for i := range 6000 {
		kind := "bias"
		if i%2 == 1 {
			kind = "kernel"
		}
		out["many"][fmt.Sprintf("layer_%05d/%s/.ATTRIBUTES/VARIABLE_VALUE", i/2, kind)] = tensor.Scalar(uint8(i))
	}
	for i, n := range longNames() {
		out["long_names"][n] = tensor.Scalar(int16(i))
	}

	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	vals := []string{"", "a", "\x00", strings.Repeat("\xff", 300), string(all), "✓ text", strings.Repeat("x", 20000)}
	out["strings"] = map[string]*tensor.Tensor{
		"scalar":       tensor.Scalar("one"),
		"empty_scalar": tensor.Scalar(""),
		"vector":       must(tensor.New(vals, 7)),
		"matrix":       must(tensor.New(vals[:6], 2, 3)),
		"none":         must(tensor.Zeros(tensor.String, 0)),
		"among":        tensor.Vector("after"),
		"floats":       tensor.Vector[float32](0, 1, 2),
	}

	// Variants are TensorFlow's own encoding; that they hold the lists' values
	// is looked at in TestVariantsKeepTheirBytes.
	v := openFixture(t, "variants")
	for n := range v.Entries() {
		out["variants"][n.Name] = must(v.Read(context.Background(), n.Name))
	}

	twelve := must(tensor.Zeros(tensor.Float32, 6, 2))
	for i := range tensor.Values[float32](twelve) {
		tensor.Values[float32](twelve)[i] = float32(i)
	}
	out["shards"] = map[string]*tensor.Tensor{
		"a": tensor.Scalar(2.0), "b": tensor.Scalar[float32](1), "c": tensor.Scalar[int8](3),
		"v": twelve, "words": tensor.Vector("s", ""),
	}
	out["empty_shards"] = map[string]*tensor.Tensor{
		"a": tensor.Scalar[float32](1), "c": tensor.Scalar[int8](3), "s": tensor.Vector[string](),
		"z": must(tensor.Zeros(tensor.Float32, 0, 3)), "x": must(tensor.Zeros(tensor.Int64, 2, 0)), "y": tensor.Vector[float64](),
	}
	out["merge_one"] = map[string]*tensor.Tensor{"x": tensor.Scalar[float32](1), "y": tensor.Scalar[float32](2)}
	return out
}

func keyNames() []string {
	const stem = "a/very/long/prefix/that/all/names/share/"
	var names []string
	for i := range 40 {
		names = append(names, stem+strings.Repeat("x", i), fmt.Sprintf("%sy%02d", stem, i))
	}
	slices.Sort(names)
	return append(names, "\xff", "\xff\xff", "\xff\xff\x00", "a\xff", "a\xff\xff", "b\x00", "b", "\x00plain", strings.Repeat("z", 2000))
}

func longNames() []string {
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("k%07d", i)+strings.Repeat("p", 9000))
	}
	return append(names, strings.Repeat("q", 300000), "s")
}

func TestVariantsKeepTheirBytes(t *testing.T) {
	r := openFixture(t, "variants")
	v, err := r.Read(context.Background(), "both")
	if err != nil {
		t.Fatal(err)
	}
	var m pb.VariantTensorDataProto
	if err := m.Unmarshal([]byte(v.Strings()[0])); err != nil {
		t.Fatal(err)
	}
	if m.TypeName != "tensorflow::TensorList" || len(m.Tensors) != 3 {
		t.Errorf("the variant is a %q of %d tensors", m.TypeName, len(m.Tensors))
	}
	if !bytes.Equal(m.Marshal(), []byte(v.Strings()[0])) {
		t.Error("the variant's message is not rewritten exactly")
	}
}
