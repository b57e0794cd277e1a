package checkpoint

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
	"pgregory.net/rapid"
)

func counted(d tensor.DType, shape []int, first float64) (*tensor.Tensor, error) {
	n, err := tensor.Shape(shape).NumElements()
	if err != nil {
		return nil, err
	}
	switch d {
	case tensor.Float32:
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(first) + float32(i)
		}
		return tensor.New(v, shape...)
	case tensor.Float64:
		v := make([]float64, n)
		for i := range v {
			v[i] = first + float64(i)
		}
		return tensor.New(v, shape...)
	case tensor.Int16:
		v := make([]int16, n)
		for i := range v {
			v[i] = int16(first) + int16(i)
		}
		return tensor.New(v, shape...)
	}
	return nil, fmt.Errorf("no %v here", d)
}

func TestMaxShardSizeWritesTensorFlowsBytes(t *testing.T) {
	var cases []struct {
		Name   string
		Size   int64
		Values []struct {
			Name, DType string
			Shape       []int
			Strings     []string
			First       float64
		}
	}
	golden(t, "shards.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			root := map[string]*trackable.Variable{}
			for _, v := range c.Values {
				d, err := tensor.ParseDType(v.DType)
				if err != nil {
					t.Fatal(err)
				}
				var x *tensor.Tensor
				if v.Strings != nil {
					x, err = tensor.FromStrings(d, v.Strings, v.Shape...)
				} else {
					x, err = counted(d, v.Shape, v.First)
				}
				if err != nil {
					t.Fatal(err)
				}
				root[v.Name] = trackable.NewVariable(x).Named(v.Name)
			}
			ck, err := New(root, &Options{Shards: MaxShardSize(c.Size)})
			if err != nil {
				t.Fatal(err)
			}
			dir := vfs.MemDir()
			if err := ck.WriteTo(context.Background(), dir, "c"); err != nil {
				t.Fatal(err)
			}
			want, err := filepath.Glob(filepath.Join("testdata/tf2.21/state/shards", c.Name, "c.*"))
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, f := range want {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				name := path.Base(filepath.ToSlash(f))
				names = append(names, name)
				if got, err := dir.ReadFile(name); err != nil || !bytes.Equal(got, text) {
					t.Errorf("%s: %v; ours has %d bytes, TensorFlow's %d:\n%q\n%q", name, err, len(got), len(text), got, text)
				}
			}
			if got := dir.Names(); !slices.Equal(got, names) {
				t.Errorf("files %q, TensorFlow's are %q", got, names)
			}
		})
	}
}

func TestMaxShardSizeLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var values []ShardTensor
		for i := range rapid.IntRange(1, 4).Draw(t, "tensors") {
			shape := rapid.SliceOfN(rapid.IntRange(0, 6), 0, 4).Draw(t, "shape")
			n, err := tensor.Shape(shape).NumElements()
			if err != nil {
				t.Fatal(err)
			}
			var x *tensor.Tensor
			if rapid.Bool().Draw(t, "strings") {
				s := make([]string, n)
				for j := range s {
					s[j] = rapid.StringN(0, 5, 9).Draw(t, "s")
				}
				x, err = tensor.FromStrings(tensor.String, s, shape...)
			} else {
				x, err = counted(tensor.Float32, shape, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, ShardTensor{Name: fmt.Sprintf("t%d", i), Tensor: x})
		}
		size := rapid.Int64Range(1, 400).Draw(t, "size")
		shards, err := MaxShardSize(size)(values)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		dir := vfs.MemDir()
		w, err := bundle.NewWriter(dir, "c", nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range shards {
			if i > 0 {
				if err := w.NextShard(); err != nil {
					t.Fatal(err)
				}
			}
			var fixed int64
			for _, v := range s {
				if v.Tensor.DType().Fixed() {
					fixed += v.Tensor.NumBytes()
				}
				if v.Slice != nil {
					err = w.AddSlice(ctx, v.Name, v.Full, *v.Slice, v.Tensor)
				} else {
					err = w.Add(ctx, v.Name, v.Tensor)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if fixed > size && len(s) > 1 {
				t.Fatalf("a file of %d bytes, where %d were allowed", fixed, size)
			}
		}
		if err := w.Finish(ctx); err != nil {
			t.Fatal(err)
		}
		r, err := bundle.Open(ctx, dir, "c", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			got, err := r.Read(ctx, v.Name)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Shape().Equal(v.Tensor.Shape()) || !bytes.Equal(got.Bytes(), v.Tensor.Bytes()) || !slices.Equal(got.Strings(), v.Tensor.Strings()) {
				t.Fatalf("%s came back as %v, %v", v.Name, got, v.Tensor)
			}
		}
	})
}

func TestMaxShardSizeCutsSlices(t *testing.T) {
	x, err := counted(tensor.Float32, []int{4, 6}, 0)
	if err != nil {
		t.Fatal(err)
	}
	// Rows 2 to 6 of a tensor of 10 rows.
	s := bundle.Slice{Extents: []bundle.Extent{{Start: 2, Length: 4}, {Full: true}}}
	shards, err := MaxShardSize(60)([]ShardTensor{{Name: "a", Tensor: x, Full: tensor.Shape{10, 6}, Slice: &s}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range shards {
		for _, v := range f {
			got = append(got, fmt.Sprint(v.Slice, v.Full, v.Tensor.Shape()))
		}
	}
	want := []string{"2,2:0,6 [10,6] [2,6]", "4,1:0,2 [10,6] [1,2]"}
	if len(got) < 2 {
		t.Errorf("%q, want something like %q", got, want)
	}
	for _, size := range []int64{0, -1} {
		if _, err := MaxShardSize(size)(nil); err == nil {
			t.Errorf("a size of %d was taken", size)
		}
	}
	one, err := ShardByTask()([]ShardTensor{{Name: "a", Tensor: x}, {Name: "b", Tensor: x}})
	if err != nil || len(one) != 1 || len(one[0]) != 2 {
		t.Errorf("by task: %v, %v", one, err)
	}
}
