package graph_test

import (
	"bytes"
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
		g, err := graphInternals.FromProto(def, &graph.Options{Only: c.only, From: c.from})
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

// TestNodesAreReadFromTheirBytes: a node whose fields come in pieces and in another order
// is that of the whole message, and values that are kept as the file has them stay their
// own while others are read.
func TestNodesAreReadFromTheirBytes(t *testing.T) {
	odd := func(s string) *pb.AttrValue {
		return &pb.AttrValue{Which: pb.AttrValueS, S: []byte(s), Unknown: []byte{15 << 3, 1}}
	}
	first := &pb.NodeDef{Attr: []*pb.AttrValueEntry{{Key: "_a", Value: odd("first")}, {Key: "_b", Value: odd("replaced")}}, Input: []string{"p"}, Name: "replaced"}
	second := &pb.NodeDef{Name: "n", Op: "Identity", Device: "/cpu", Unknown: []byte{14<<3 | 5, 1, 2, 3, 4}, ExperimentalDebugInfo: &pb.ExperimentalDebugInfo{OriginalNodeNames: []string{"o"}},
		Attr: []*pb.AttrValueEntry{{Key: "_b", Value: odd("last")}, {Key: "T", Value: &pb.AttrValue{Which: pb.AttrValueType, Type: pb.DataTypeFloat}}}, Input: []string{"^c"}}
	node := func(n ...*pb.NodeDef) (b []byte) {
		for _, p := range n {
			b = p.AppendTo(b)
		}
		return append([]byte{1<<3 | 2, byte(len(b)&0x7f | 0x80), byte(len(b) >> 7)}, b...)
	}
	b := node(first, second)
	b = append(b, node(&pb.NodeDef{Name: "c", Op: "NoOp"})...)
	b = append(b, node(&pb.NodeDef{Name: "p", Op: "Placeholder", Attr: []*pb.AttrValueEntry{{Key: "dtype", Value: &pb.AttrValue{Which: pb.AttrValueType, Type: pb.DataTypeFloat}}}})...)
	g, err := graph.Unmarshal(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := g.Nodes()[0]
	if n.Name != "n" || n.Device != "/cpu" || len(n.In) != 1 || n.In[0].Node.Name != "p" || len(n.Control) != 1 || n.Attrs.String("_a", "") != "first" || n.Attrs.String("_b", "") != "last" {
		t.Errorf("%v", n)
	}
	p, err := graphInternals.GraphProto(g, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &pb.NodeDef{Name: "n", Op: "Identity", Device: "/cpu", Input: []string{"p", "^c"}, Unknown: second.Unknown, ExperimentalDebugInfo: second.ExperimentalDebugInfo,
		Attr: []*pb.AttrValueEntry{{Key: "T", Value: second.Attr[1].Value}, {Key: "_a", Value: odd("first")}, {Key: "_b", Value: odd("last")}}}
	if !bytes.Equal(p.Node[0].Marshal(), want.Marshal()) {
		t.Errorf("written as %+v, want %+v", p.Node[0], want)
	}
	for end := range b {
		if _, err := graph.Unmarshal(b[:end], nil); err == nil && end != 0 {
			t.Errorf("the first %d bytes of %d are a graph", end, len(b))
		}
	}
}
