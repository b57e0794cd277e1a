package function_test

import (
	"errors"
	"testing"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// Shards that SaveV2 wrote, slices among them, become one checkpoint, which
// RestoreV2 reads back whole and in part.
func TestMergeV2CheckpointsJoinsShards(t *testing.T) {
	dir := vfs.MemDir()
	s := function.Eager(t.Context(), &function.Options{Files: &engine.Files{Write: dir}})
	upper := ops.ValueOf(tensor.Must(tensor.New([]int32{1, 2, 3, 4}, 2, 2)))
	lower := ops.ValueOf(tensor.Must(tensor.New([]int32{5, 6}, 1, 2)))
	name := ops.ValueOf(tensor.Scalar("cairn"))
	ops.SaveV2(s, "part-0", []ops.Slice{{Name: "w", Value: upper, Spec: "3 2 0,2:-"}, {Name: "name", Value: name}})
	ops.SaveV2(s, "part-1", []ops.Slice{{Name: "w", Value: lower, Spec: "3 2 2,1:-"}})
	ops.MergeV2Checkpoints(s, tensor.Vector("part-0", "part-1"), "all")
	got := ops.RestoreV2(s, "all", []ops.Slice{{Name: "w", Value: upper}, {Name: "name", Value: name}, {Name: "w", Value: upper, Spec: "3 2 1,2:0,1"}})
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []*tensor.Tensor{
		tensor.Must(tensor.New([]int32{1, 2, 3, 4, 5, 6}, 3, 2)), tensor.Scalar("cairn"), tensor.Must(tensor.New([]int32{3, 5}, 2, 1)),
	} {
		if g, err := got[i].Tensor(); err != nil || !g.Equal(want) {
			t.Errorf("value %d is %v (%v), want %v", i, g, err, want)
		}
	}
	for _, part := range []string{"part-0", "part-1"} {
		if _, err := bundle.Open(t.Context(), dir, part, nil); !errors.Is(err, bundle.ErrNotFound) {
			t.Errorf("%s is still there: %v", part, err)
		}
	}
}

// TestRestoreV2ReadsMoreThan65536Values reads one value often.
func TestRestoreV2ReadsMoreThan65536Values(t *testing.T) {
	s := function.Eager(t.Context(), &function.Options{Files: &engine.Files{Write: vfs.MemDir()}})
	list := make([]ops.Slice, 65537)
	for i := range list {
		list[i] = ops.Slice{Name: "x", Value: ops.ValueOf(tensor.Scalar[int32](1))}
	}
	ops.SaveV2(s, "p", list[:1])
	got := ops.RestoreV2(s, "p", list)
	if err := s.Err(); err != nil || len(got) != 65537 {
		t.Errorf("%d values, want 65537 (%v)", len(got), err)
	}
}

func TestFileOpsNeedAGrant(t *testing.T) {
	for name, op := range map[string]func(*ops.Scope){
		"SaveV2": func(s *ops.Scope) {
			ops.SaveV2(s, "p", []ops.Slice{{Name: "x", Value: ops.ValueOf(tensor.Scalar[int32](1))}})
		},
		"RestoreV2": func(s *ops.Scope) {
			ops.RestoreV2(s, "p", []ops.Slice{{Name: "x", Value: ops.ValueOf(tensor.Scalar[int32](1))}})
		},
		"MergeV2Checkpoints": func(s *ops.Scope) { ops.MergeV2Checkpoints(s, tensor.Vector("p"), "q") },
	} {
		s := function.Eager(t.Context())
		op(s)
		if err := s.Err(); !errors.Is(err, engine.ErrNotGranted) {
			t.Errorf("%s: error %v, want ErrNotGranted", name, err)
		}
	}
	s := function.Eager(t.Context())
	if ops.RestoreV2(s, "p", []ops.Slice{{Name: "x"}}); s.Err() == nil {
		t.Error("RestoreV2 of a slice without a Value: no error")
	}
}
