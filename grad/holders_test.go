package grad

import (
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// TestListsAreFollowedThroughAllTheirUsers asks whether a list in a function has elements
// without a gradient. The functions call themselves, or a list has very many ways
// through them.
func TestListsAreFollowedThroughAllTheirUsers(t *testing.T) {
	variant := graph.Fact{DType: tensor.Variant}
	add := func(f *graph.Function, op string, attrs graph.Attrs, in ...graph.Output) graph.Output {
		t.Helper()
		n := &graph.Node{Op: op, Def: graph.LookupOp(op), Attrs: attrs, In: in, Out: []graph.Fact{variant}}
		if err := f.Graph.Add(n); err != nil {
			t.Fatal(err)
		}
		return n.Output(0)
	}
	lists := graph.Attrs{graph.Type("element_dtype", tensor.Variant)}
	strings := graph.Attrs{graph.Type("element_dtype", tensor.String)}
	for _, c := range []struct {
		name  string
		build func(f *graph.Function, list graph.Output)
		want  bool
	}{
		{"a function that calls itself", func(f *graph.Function, list graph.Output) {
			add(f, "PartitionedCall", graph.Attrs{graph.Func("f", f)}, list)
		}, false},
		{"a function that calls itself, and takes strings", func(f *graph.Function, list graph.Output) {
			add(f, "TensorListLength", strings, add(f, "Identity", nil, list))
			add(f, "PartitionedCall", graph.Attrs{graph.Func("f", f)}, list)
		}, true},
		{"a function that calls itself with attributes", func(f *graph.Function, list graph.Output) {
			o := add(f, "PartitionedCall", graph.Attrs{graph.Call("f", graph.Callee{Function: f, Attrs: graph.Attrs{graph.Int("x", 1)}})}, list)
			f.AddResult("", o)
		}, true},
		{"lists of lists", func(f *graph.Function, list graph.Output) {
			for range 64 {
				list = add(f, "TensorListPushBack", lists, add(f, "Identity", nil, list), add(f, "Identity", nil, list))
			}
		}, false},
		{"lists of lists of strings", func(f *graph.Function, list graph.Output) {
			for range 64 {
				list = add(f, "TensorListPushBack", lists, add(f, "Identity", nil, list), add(f, "Identity", nil, list))
			}
			add(f, "TensorListLength", strings, list)
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := graph.NewFunction("f")
			list, err := f.AddArg("list", variant)
			if err != nil {
				t.Fatal(err)
			}
			c.build(f, list)
			if got := holdsOthers(f, 0); got != c.want {
				t.Errorf("it has elements without a gradient: %v, want %v", got, c.want)
			}
		})
	}
}
