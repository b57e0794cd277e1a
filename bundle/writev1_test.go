package bundle

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/table"
	"github.com/cairnml/cairn/internal/tensorproto"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// TestVersion1IsWrittenAsTensorFlowDoes writes the tensors of TensorFlow's tables
// again, in the order in which they were saved, and compares the bytes.
func TestVersion1IsWrittenAsTensorFlowDoes(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"v1/ckpt", "v1_slices/ckpt", "v1_sharded/ckpt-00000-of-00002", "v1_sharded/ckpt-00001-of-00002"} {
		t.Run(name, func(t *testing.T) {
			want, err := fs.ReadFile(os.DirFS(fixtures), name)
			if err != nil {
				t.Fatal(err)
			}
			dir := vfs.MemDir()
			if err := WriteV1(ctx, dir, name, partsOf(t, name, want)); err != nil {
				t.Fatal(err)
			}
			got, err := fs.ReadFile(dir, name)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, want %d (%v): the tables differ", len(got), len(want), err)
			}
			if names := dir.Names(); len(names) != 1 {
				t.Errorf("the directory has %v", names)
			}
		})
	}
}

// partsOf returns the parts of a table, in the order of its list.
func partsOf(t *testing.T, name string, content []byte) []V1Part {
	t.Helper()
	tab, err := table.Open(bytes.NewReader(content), int64(len(content)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	value, _, err := tab.Get(nil)
	if err != nil {
		t.Fatal(err)
	}
	var m pb.SavedTensorSlices
	if err := m.Unmarshal(value); err != nil {
		t.Fatal(err)
	}
	var parts []V1Part
	for _, tm := range m.Meta.Tensor {
		full, _, err := parseShape(tm.Shape)
		if err != nil {
			t.Fatal(err)
		}
		for _, sm := range tm.Slice {
			s, err := v1Slice(sm, full)
			if err != nil {
				t.Fatal(err)
			}
			row, _, err := tab.Get(appendSliceKey(nil, tm.Name, s))
			if err != nil {
				t.Fatal(err)
			}
			var held pb.SavedTensorSlices
			if err := held.Unmarshal(row); err != nil {
				t.Fatal(err)
			}
			shape, err := s.Shape(full)
			if err != nil {
				t.Fatal(err)
			}
			x, err := tensorproto.Exact(held.Data.Data, tensor.DType(tm.Type), shape)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, V1Part{Name: tm.Name, Full: full, Slice: &s, Tensor: x})
		}
	}
	return parts
}

func TestVersion1RefusesWhatItCantHold(t *testing.T) {
	ctx := context.Background()
	x := tensor.Vector[float32](1, 2)
	half := Slice{Extents: []Extent{{Start: 1, Length: 2}}}
	for name, parts := range map[string][]V1Part{
		"no name":                   {{Tensor: x}},
		"a type of later versions":  {{Name: "a", Tensor: tensor.Vector[uint32](1)}},
		"one name twice":            {{Name: "a", Tensor: x}, {Name: "a", Tensor: x}},
		"parts of different shapes": {{Name: "a", Full: tensor.Shape{4}, Slice: &half, Tensor: x}, {Name: "a", Tensor: x}},
		"parts of different types":  {{Name: "a", Tensor: x}, {Name: "a", Tensor: tensor.Vector[int32](1, 2)}},
		"a part beyond the tensor":  {{Name: "a", Full: tensor.Shape{2}, Slice: &half, Tensor: x}},
		"another part":              {{Name: "a", Full: tensor.Shape{4}, Slice: &half, Tensor: tensor.Vector[float32](1)}},
	} {
		dir := vfs.MemDir()
		if err := WriteV1(ctx, dir, "ckpt", parts); err == nil {
			t.Errorf("%s was written", name)
		}
		if names := dir.Names(); len(names) != 0 {
			t.Errorf("%s left %v", name, names)
		}
	}
	if err := WriteV1(ctx, vfs.MemDir(), "../ckpt", []V1Part{{Name: "a", Tensor: x}}); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a name outside of the directory: %v", err)
	}
}

// TestVersion1ReplacesAWholeFile holds that a table that can't be written leaves the one
// before.
func TestVersion1ReplacesAWholeFile(t *testing.T) {
	ctx, dir := context.Background(), vfs.MemDir()
	for _, v := range []float32{1, 2} {
		if err := WriteV1(ctx, dir, "ckpt", []V1Part{{Name: "a", Tensor: tensor.Scalar(v)}}); err != nil {
			t.Fatal(err)
		}
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if err := WriteV1(stopped, dir, "ckpt", []V1Part{{Name: "a", Tensor: tensor.Scalar[float32](3)}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was given up: %v", err)
	}
	r, err := Open(ctx, dir, "ckpt", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if x, err := r.Read(ctx, "a"); err != nil || !x.Equal(tensor.Scalar[float32](2)) || r.Version() != 1 || len(dir.Names()) != 1 {
		t.Errorf("%v (%v) of version %d in %v", x, err, r.Version(), dir.Names())
	}
}
