package savedmodel

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/internal/pb"
)

// strippedNode contains the fields of a node that a debug stripper changes.
type strippedNode struct {
	Op     string
	Inputs []string
	Attrs  []string // the names of those that ops define
}

// functionNodes returns the nodes of a model's functions by function and name, without
// the functions that differ between two saves of a model. An input that is the function's
// argument is no control input: nothing waits for it.
func functionNodes(t *testing.T, g *pb.GraphDef) map[string]map[string]strippedNode {
	t.Helper()
	out := map[string]map[string]strippedNode{}
	for i := range g.Library.Function {
		f, err := g.Library.Function[i].Get()
		if err != nil {
			t.Fatal(err)
		}
		name := f.Signature.Name
		if strings.Contains(name, "signature_wrapper") || strings.Contains(name, "traced_") {
			continue
		}
		out[name] = map[string]strippedNode{}
		for _, n := range f.NodeDef {
			s := strippedNode{Op: n.Op}
			for _, in := range n.Input {
				argument := slices.ContainsFunc(f.Signature.InputArg, func(a *pb.ArgDef) bool { return "^"+a.Name == in })
				if !argument && !(strings.HasPrefix(in, "^") && slices.Contains(s.Inputs, in)) {
					s.Inputs = append(s.Inputs, in)
				}
			}
			for _, a := range n.Attr {
				if !strings.HasPrefix(a.Key, "_") {
					s.Attrs = append(s.Attrs, a.Key)
				}
			}
			slices.Sort(s.Attrs)
			out[name][n.Name] = s
		}
	}
	return out
}

func TestDebugOpsAreStrippedAsByTensorFlow(t *testing.T) {
	read := func(name string) (*pb.GraphDef, []string) {
		b, err := os.ReadFile("testdata/stripped/debug_" + name + ".pb")
		if err != nil {
			t.Fatal(err)
		}
		var m pb.SavedModel
		if err := m.Unmarshal(b); err != nil {
			t.Fatal(err)
		}
		g, err := m.MetaGraphs[0].GraphDef.Get()
		if err != nil {
			t.Fatal(err)
		}
		var ops []string
		for _, o := range m.MetaGraphs[0].MetaInfoDef.StrippedOpList.Op {
			ops = append(ops, o.Name)
		}
		return g, ops
	}
	g, before := read("before")
	stripped, after := read("after")
	for _, op := range []string{"PrintV2", "CheckNumerics", "Print"} {
		if !slices.Contains(before, op) || slices.Contains(after, op) {
			t.Errorf("the fixture doesn't test %s", op)
		}
	}
	eachBody(t, g, stripDebugOps)
	got, want := functionNodes(t, g), functionNodes(t, stripped)
	if len(want) < 6 {
		t.Fatalf("there are %d functions", len(want))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-TensorFlow +Cairn:\n%s", d)
	}
}

func TestDefaultAttributesAreStrippedAsByTensorFlow(t *testing.T) {
	read := func(name string) *pb.GraphDef {
		b, err := os.ReadFile("testdata/stripped/defaults_" + name + ".pb")
		if err != nil {
			t.Fatal(err)
		}
		var m pb.MetaGraphDef
		if err := m.Unmarshal(b); err != nil {
			t.Fatal(err)
		}
		g, err := m.GraphDef.Get()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	// attributes lists the attributes of every node by graph, node and name.
	attributes := func(g *pb.GraphDef) map[string]string {
		out := map[string]string{}
		add := func(where string, nodes []*pb.NodeDef) {
			for _, n := range nodes {
				for _, a := range n.Attr {
					out[where+" "+n.Name+" "+n.Op+" "+a.Key] = string(pb.MarshalText(a.Value))
				}
			}
		}
		add("", g.Node)
		for i := range g.Library.Function {
			f, err := g.Library.Function[i].Get()
			if err != nil {
				t.Fatal(err)
			}
			add(f.Signature.Name, f.NodeDef)
		}
		return out
	}
	g, want := read("before"), attributes(read("after"))
	if before := len(attributes(g)); before < len(want)+30 {
		t.Errorf("the fixture has %d attributes, of which %d are left", before, len(want))
	}
	called := map[string]bool{}
	eachBody(t, g, func(_ []*pb.NodeDef, signature *pb.OpDef) {
		if signature != nil {
			called[signature.Name] = true
		}
	})
	eachBody(t, g, func(nodes []*pb.NodeDef, _ *pb.OpDef) {
		stripDefaults(nodes, func(op string) bool { return called[op] })
	})
	if d := cmp.Diff(want, attributes(g)); d != "" {
		t.Errorf("-TensorFlow +Cairn:\n%s", d)
	}
}

// eachBody calls f with the nodes of the graph, then with the body and the signature of
// each function, which f may change.
func eachBody(t *testing.T, g *pb.GraphDef, f func(nodes []*pb.NodeDef, signature *pb.OpDef)) {
	t.Helper()
	f(g.Node, nil)
	for i := range g.Library.Function {
		def, err := g.Library.Function[i].Get()
		if err != nil {
			t.Fatal(err)
		}
		f(def.NodeDef, def.Signature)
		g.Library.Function[i] = pb.LazyOf(def)
	}
}
