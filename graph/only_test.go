package graph_test

import (
	"slices"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
)

// TestOnlyWhatNodesNeedIsRead: functions to which some nodes lead, through inputs, control
// inputs and other functions; the other nodes keep the names.
func TestOnlyWhatNodesNeedIsRead(t *testing.T) {
	call := func(name, f string, inputs ...string) *pb.NodeDef {
		return &pb.NodeDef{Name: name, Op: "StatefulPartitionedCall", Input: inputs, Attr: []*pb.AttrValueEntry{
			{Key: "Tin", Value: &pb.AttrValue{Which: pb.AttrValueList, List: &pb.AttrValueListValue{}}},
			{Key: "Tout", Value: &pb.AttrValue{Which: pb.AttrValueList, List: &pb.AttrValueListValue{}}},
			{Key: "f", Value: &pb.AttrValue{Which: pb.AttrValueFunc, Func: &pb.NameAttrList{Name: f}}}}}
	}
	function := func(name string, nodes ...*pb.NodeDef) pb.Lazy[pb.FunctionDef] {
		return pb.LazyOf(&pb.FunctionDef{Signature: &pb.OpDef{Name: name}, NodeDef: nodes})
	}
	def := &pb.GraphDef{
		Node: []*pb.NodeDef{call("a", "fa", "^b"), call("b", "fb"), call("c", "fc", "^a"), {Name: "d", Op: "fd"}},
		Library: &pb.FunctionDefLibrary{Function: []pb.Lazy[pb.FunctionDef]{
			function("inner"), function("fa"), function("fb", call("n", "inner")), function("fc"), function("fd"), function("fe")}},
	}
	for _, c := range []struct {
		only, from, want []string
	}{
		{nil, []string{"a"}, []string{"inner", "fa", "fb", "fc", "fd", "fe"}},
		{[]string{}, nil, []string{"inner", "fa", "fb", "fc", "fd"}},
		{[]string{}, []string{"a"}, []string{"inner", "fa", "fb"}},
		{[]string{"fe"}, []string{"d", "nowhere"}, []string{"fd", "fe"}},
		{[]string{}, []string{}, nil},
	} {
		g, err := graph.FromProto(def, &graph.Options{Only: c.only, From: c.from})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range g.Library.Functions() {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("only %q from %q: %q, want %q", c.only, c.from, got, c.want)
		}
		if f, ok := g.Lookup("c").Attrs.Func("f"); !ok || f.FuncName() != "fc" || g.Len() != 4 || (f.Function != nil) != slices.Contains(c.want, "fc") {
			t.Errorf("only %q from %q: c calls %v", c.only, c.from, f)
		}
	}
}
