package ops_test

import (
	"context"
	"slices"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestHandlesOfOneNameAreOfOneResource: what is written through one handle of a table
// comes before what is read through another, in calls and branches too; a table of another
// name waits for neither.
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
