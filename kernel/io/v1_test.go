package io_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// TestVersion1IsSavedAndRestored writes tables as TensorFlow 1's graphs do, and
// reads them back, whole and in parts.
func TestVersion1IsSavedAndRestored(t *testing.T) {
	a := tensor.Must(tensor.Vector[float32](1, 2, 3, 4, 5, 6).Reshape(3, 2))
	b := tensor.Vector("x", "", "y\x00")
	top := tensor.Must(tensor.Vector[float32](1, 2).Reshape(1, 2))
	rest := tensor.Must(tensor.Vector[float32](3, 4, 5, 6).Reshape(2, 2))
	s := function.Eager(context.Background(), &function.Options{Files: &engine.Files{Write: vfs.MemDir()}})
	s.Emit("Save", nil, "dir/ckpt", tensor.Vector("a", "b"), a, b)
	s.Emit("SaveSlices", nil, "parts", tensor.Vector("a", "a", "b"), tensor.Vector("3 2 0,1:-", "3 2 1,2:-", ""), top, rest, b)
	s.Emit("Save", nil, "shards-00000-of-00002", tensor.Vector("a"), a)
	s.Emit("Save", nil, "shards-00001-of-00002", tensor.Vector("b"), b)
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	for _, x := range []struct {
		file, name, part string
		want             *tensor.Tensor
	}{
		{"dir/ckpt", "a", "", a}, {"dir/ckpt", "b", "", b}, {"dir/ckpt", "a", "3 2 1,2:-", rest},
		{"parts", "a", "", a}, {"parts", "a", "3 2 1,1:0,1", tensor.Must(tensor.Vector[float32](3).Reshape(1, 1))}, {"parts", "b", "", b},
		{"shards-?????-of-00002", "a", "", a}, {"shards-?????-of-00002", "b", "", b},
	} {
		dt := graph.Attrs{graph.Type("dt", x.want.DType())}
		got, err := s.Emit1("RestoreSlice", dt, x.file, x.name, x.part).Tensor()
		if err != nil || !got.Equal(x.want) {
			t.Errorf("RestoreSlice %q of %s in %s: %v (%v), want %v", x.part, x.name, x.file, got, err, x.want)
		}
		if x.part != "" {
			continue
		}
		if got, err = s.Emit1("Restore", dt, x.file, x.name).Tensor(); err != nil || !got.Equal(x.want) {
			t.Errorf("Restore %s of %s: %v (%v), want %v", x.name, x.file, got, err, x.want)
		}
	}
}

func TestVersion1RefusesWrongCalls(t *testing.T) {
	x, names := tensor.Vector[float32](1, 2), tensor.Vector("a")
	f32 := graph.Attrs{graph.Type("dt", tensor.Float32)}
	for _, c := range []struct {
		what, op string
		attrs    graph.Attrs
		in       []ops.Input
	}{
		{"names too few", "Save", nil, []ops.Input{"f", tensor.Vector[string](), x}},
		{"a slice that is none", "SaveSlices", nil, []ops.Input{"f", names, tensor.Vector("2 x"), x}},
		{"a slice of another shape", "SaveSlices", nil, []ops.Input{"f", names, tensor.Vector("4 0,3"), x}},
		{"a name outside", "Save", nil, []ops.Input{"../f", names, x}},
		{"no such file", "Restore", f32, []ops.Input{"g", "a"}},
		{"no such tensor", "Restore", f32, []ops.Input{"f", "b"}},
		{"another type", "Restore", graph.Attrs{graph.Type("dt", tensor.Int32)}, []ops.Input{"f", "a"}},
		{"another shape", "RestoreSlice", f32, []ops.Input{"f", "a", "3 0,1"}},
	} {
		dir := vfs.MemDir()
		s := function.Eager(context.Background(), &function.Options{Files: &engine.Files{Write: dir}})
		s.Emit("Save", nil, "f", names, x)
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		if s.Emit(c.op, c.attrs, c.in...); s.Err() == nil {
			t.Errorf("%s: no error", c.what)
		}
	}
	for _, op := range []string{"Save", "Restore"} {
		s := function.Eager(context.Background())
		if op == "Save" {
			s.Emit(op, nil, "f", names, x)
		} else {
			s.Emit(op, f32, "f", "a")
		}
		if !errors.Is(s.Err(), engine.ErrNotGranted) {
			t.Errorf("%s without a grant: %v", op, s.Err())
		}
	}
}
