package function_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// Part is a distinct type of variable: one node of the object graph.
type Part struct{ trackable.Variable }

// Stack holds parts whose values are saved together, as one tensor.
type Stack struct {
	trackable.Base
	Parts []*Part
}

// Value returns the parts' values, stacked.
func (st *Stack) Value(s *ops.Scope) *ops.Value { return ops.Stack(s, st.Parts) }

// Stacks saves stacks with their parts. It is written in ops, so that it runs
// eagerly here and can be traced into a graph.
var Stacks = function.Saver{
	Name: "stacks",
	Matches: func(o trackable.Trackable) bool {
		switch o.(type) {
		case *Stack, *Part:
			return true
		}
		return false
	},
	Save: func(s *ops.Scope, objs checkpoint.Objects, prefix *ops.Value) *ops.Value {
		return ops.SaveV2(s, prefix, slices(s, objs)) // yields the shard's prefix
	},
	Restore: func(s *ops.Scope, objs checkpoint.Objects, prefix *ops.Value) {
		values, i := ops.RestoreV2(s, prefix, slices(s, objs)), 0
		for _, st := range checkpoint.Only[*Stack](objs) {
			for j, part := range ops.Unstack(s, values[i], len(st.Parts)) {
				ops.Assign(s, st.Parts[j], part)
			}
			i++
		}
	},
}

func slices(s *ops.Scope, objs checkpoint.Objects) (out []ops.Slice) {
	for prefix, st := range checkpoint.Only[*Stack](objs) { // ordered: same state, same bytes
		out = append(out, ops.Slice{Name: prefix + "/value", Value: st.Value(s)})
	}
	return out
}

// Model is the saved object.
type Model struct {
	Stack *Stack
	Step  *trackable.Scalar[int64]
}

func newModel(step int64, values ...[]int32) *Model {
	m := &Model{Stack: new(Stack), Step: trackable.NewScalar(step)}
	for _, v := range values {
		p := new(Part)
		p.Init(tensor.Vector(v...))
		m.Stack.Parts = append(m.Stack.Parts, p)
	}
	return m
}

func ExampleSaver() {
	ctx := context.Background()
	savers := new(checkpoint.Savers)
	if err := savers.Register("Custom", Stacks); err != nil {
		fmt.Println(err)
		return
	}
	dir := vfs.MemDir()

	ckpt, err := checkpoint.New(newModel(7, []int32{1, 2}, []int32{3, 4}, []int32{5, 6}), &checkpoint.Options{Savers: savers})
	if err != nil {
		fmt.Println(err)
		return
	}
	path, err := ckpt.SaveTo(ctx, dir, "ckpt")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(path)

	fresh := newModel(0, []int32{0, 0}, []int32{0, 0}, []int32{0, 0})
	again, err := checkpoint.New(fresh, &checkpoint.Options{Savers: savers})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := again.RestoreFS(ctx, dir, path, nil); err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range fresh.Stack.Parts {
		fmt.Println(tensor.Values[int32](p.Load()))
	}
	// Output:
	// ckpt-1
	// [1 2]
	// [3 4]
	// [5 6]
}

func TestStackedPartsEqualTensorFlowsFiles(t *testing.T) {
	ctx := context.Background()
	savers := new(checkpoint.Savers)
	if err := savers.Register("Custom", Stacks); err != nil {
		t.Fatal(err)
	}
	dir := vfs.MemDir()
	ckpt, err := checkpoint.New(newModel(7, []int32{1, 2}, []int32{3, 4}, []int32{5, 6}), &checkpoint.Options{Savers: savers})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ckpt.SaveTo(ctx, dir, "ckpt"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ckpt-1.index", "ckpt-1.data-00000-of-00002", "ckpt-1.data-00001-of-00002"} {
		want, err := os.ReadFile("testdata/tf2.21/stacks/" + name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := dir.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from TensorFlow's:\n got %q\nwant %q", name, got, want)
		}
	}
}

func TestStackedPartsFromTensorFlowAreRestored(t *testing.T) {
	savers := new(checkpoint.Savers)
	if err := savers.Register("Custom", Stacks); err != nil {
		t.Fatal(err)
	}
	m := newModel(0, []int32{0, 0}, []int32{0, 0}, []int32{0, 0})
	ckpt, err := checkpoint.New(m, &checkpoint.Options{Savers: savers})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ckpt.Restore(context.Background(), "testdata/tf2.21/stacks/ckpt-1", nil); err != nil {
		t.Fatal(err)
	}
	for i, p := range m.Stack.Parts {
		v := tensor.Values[int32](p.Load())
		if v[0] != int32(2*i+1) || v[1] != int32(2*i+2) {
			t.Errorf("part %d is %v", i, v)
		}
	}
	if m.Step.Get() != 7 {
		t.Errorf("step is %d", m.Step.Get())
	}
}
