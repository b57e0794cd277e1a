package ops_test

import (
	"context"
	"slices"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestHandlesOfOneNameAreOfOneResource checks that a write through one handle of a table
// comes before a read through another, in calls and branches too. A table of another name
// waits for neither.
func TestHandlesOfOneNameAreOfOneResource(t *testing.T) {
	s, trace := ops.NewTrace(context.Background(), "f")
	handle := func(s *ops.Scope, name string) *ops.Value {
		return s.Emit1("MutableHashTableV2", graph.Attrs{graph.String("shared_name", name), graph.Type("key_dtype", tensor.Int64), graph.Type("value_dtype", tensor.Float32)})
	}
	find := func(s *ops.Scope, name string) *ops.Value {
		return s.Emit1("LookupTableFindV2", nil, handle(s, name), ops.ConstOf(s, tensor.Int64, 1), ops.Const(s, float32(0)))
	}
	insert := func(s *ops.Scope, name string) {
		s.Emit0("LookupTableInsertV2", nil, handle(s, name), ops.ConstOf(s, tensor.Int64, 1), ops.Const(s, float32(2)))
	}
	insert(s, "a")
	there := find(s, "a")
	other := find(s, "b")
	branch := ops.If(s, ops.Greater(s, there, float32(1)),
		func(s *ops.Scope) *ops.Value { insert(s, "a"); return ops.Const(s, float32(1)) },
		func(s *ops.Scope) *ops.Value { return ops.Const(s, float32(0)) })
	after := find(s, "a")
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	c, err := trace.Finish([]*ops.Value{there, other, branch, after}, nil)
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]*graph.Node{}
	for _, n := range c.Function.Graph.Nodes() {
		nodes[n.Name] = n
	}
	waits := func(n, before string) bool { return slices.Contains(nodes[n].Control, nodes[before]) }
	for _, w := range [][2]string{{"LookupTableFindV2", "LookupTableInsertV2"}, {"If", "LookupTableFindV2"}, {"LookupTableFindV2_2", "If"}} {
		if !waits(w[0], w[1]) {
			t.Errorf("%s doesn't wait for %s\n%v", w[0], w[1], c)
		}
	}
	for _, before := range []string{"LookupTableInsertV2", "If"} {
		if waits("LookupTableFindV2_1", before) {
			t.Errorf("the other table waits for %s\n%v", before, c)
		}
	}
}

// TestAHandlesIdentityIsOfItsResource checks that a write through an Identity of a
// handle comes between the reads before and after.
func TestAHandlesIdentityIsOfItsResource(t *testing.T) {
	v := trackable.NewVariable(tensor.Scalar[float32](1))
	f := function.New(func(s *ops.Scope, x *ops.Value) []*ops.Value {
		before := ops.Add(s, v, x)
		s.Emit0("AssignVariableOp", nil, s.Emit1("Identity", nil, ops.Handle(s, v)), ops.Const(s, float32(5)))
		return []*ops.Value{before, ops.Add(s, v, x)}
	}, &function.Options{Mode: function.Traced})
	got, err := f.Call(context.Background(), ops.ValueOf(tensor.Scalar[float32](10)))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float32{11, 15} {
		if x, err := ops.Item[float32](got[i]); err != nil || x != want {
			t.Errorf("result %d is %v (%v), want %v", i, x, err, want)
		}
	}
}

// TestAReductionTouchesWhatItsDatasetCaptures checks that a map's function writes to a
// variable when the elements are drawn, so between the writes and reads before and after.
func TestAReductionTouchesWhatItsDatasetCaptures(t *testing.T) {
	v := trackable.NewVariable(tensor.Scalar[int64](1))
	ints := graph.Attrs{graph.Types("output_types", tensor.Int64), graph.Shapes("output_shapes", graph.ShapeOf())}
	inner := func(s *ops.Scope, name string, args int, body func(s *ops.Scope, args []*ops.Value) *ops.Value) *graph.Function {
		s, trace := s.NewBranch(name)
		var list []*ops.Value
		for range args {
			x, err := trace.Arg("", graph.Fact{DType: tensor.Int64, Shape: graph.ShapeOf()})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, x)
		}
		c, err := trace.Finish([]*ops.Value{body(s, list)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.Function
	}
	f := function.New(func(s *ops.Scope, n *ops.Value) []*ops.Value {
		ops.Assign(s, v, n)
		before := ops.Add(s, v, int64(0))
		each := inner(s, "each", 1, func(s *ops.Scope, x []*ops.Value) *ops.Value {
			ops.AssignAdd(s, v, x[0])
			return ops.Add(s, v, int64(0))
		})
		sum := inner(s, "sum", 2, func(s *ops.Scope, x []*ops.Value) *ops.Value { return ops.Add(s, x[0], x[1]) })
		d := s.Emit1("RangeDataset", ints, ops.Const(s, int64(0)), ops.Const(s, int64(4)), ops.Const(s, int64(1)))
		d = s.Emit1("MapDataset", append(graph.Attrs{graph.Func("f", each), graph.Types("Targuments", tensor.Resource)}, ints...), d, ops.Handle(s, v))
		total := s.Emit1("ReduceDataset", append(graph.Attrs{graph.Func("f", sum), graph.Types("Tstate", tensor.Int64), graph.Types("Targuments")}, ints...), d, ops.Const(s, int64(0)))
		return []*ops.Value{before, total, ops.Add(s, v, int64(0))}
	}, &function.Options{Mode: function.Traced})
	got, err := f.Call(context.Background(), ops.ValueOf(tensor.Scalar[int64](10)))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{10, 10 + 11 + 13 + 16, 16} {
		if x, err := ops.Item[int64](got[i]); err != nil || x != want {
			t.Errorf("result %d is %v (%v), want %v", i, x, err, want)
		}
	}
}
