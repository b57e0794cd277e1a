package graph

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/testkit/packed"
)

// tfGraph is a GraphDef that TensorFlow made, with the definitions of the ops
// that it adds.
type tfGraph struct {
	name string
	def  *pb.GraphDef
	opts *Options
}

// tfGraphs returns the graphs of the fixtures here and in internal/pb.
func tfGraphs(t testing.TB) []tfGraph {
	var out []tfGraph
	for _, dir := range []string{"testdata/tf2.21", "../internal/pb/testdata/tf2.21"} {
		files, err := filepath.Glob(filepath.Join(dir, "tensorflow.*.pb.gz"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			name := strings.TrimSuffix(filepath.Base(f), ".pb.gz")
			meta := func(m *pb.MetaGraphDef) {
				if m.GraphDef == nil {
					return
				}
				opts := &Options{}
				if m.MetaInfoDef != nil && m.MetaInfoDef.StrippedOpList != nil {
					for _, op := range m.MetaInfoDef.StrippedOpList.Op {
						d, err := opDefFromProto(op)
						if err != nil {
							t.Fatal(err)
						}
						opts.Ops = append(opts.Ops, d)
					}
				}
				out = append(out, tfGraph{name, get(t, m.GraphDef), opts})
			}
			switch strings.Split(name, ".")[1] {
			case "GraphDef":
				var g pb.GraphDef
				read(t, f, &g)
				out = append(out, tfGraph{name, &g, nil})
			case "MetaGraphDef":
				var m pb.MetaGraphDef
				read(t, f, &m)
				meta(&m)
			case "SavedModel":
				var m pb.SavedModel
				read(t, f, &m)
				for _, g := range m.MetaGraphs {
					meta(g)
				}
			}
		}
	}
	if len(out) == 0 {
		t.Fatal("no fixtures")
	}
	return out
}

func read(t testing.TB, file string, m pb.Message) {
	t.Helper()
	if err := m.Unmarshal(packed.Read(t, file)); err != nil {
		t.Fatal(err)
	}
}

func TestTensorFlowsGraphsAreWrittenAsTheyWereRead(t *testing.T) {
	for _, c := range tfGraphs(t) {
		t.Run(c.name, func(t *testing.T) {
			g, err := fromProto(c.def, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			p, err := g.proto(nil)
			if err != nil {
				t.Fatal(err)
			}
			sortMaps(c.def)
			if diff := diffGraphs(p, c.def); diff != "" {
				t.Fatal(diff)
			}
			if !bytes.Equal(p.Marshal(), c.def.Marshal()) {
				t.Error("the graph differs besides its nodes and functions")
			}
		})
	}
}

func diffGraphs(got, want *pb.GraphDef) string {
	if d := diffNodes(got.Node, want.Node); d != "" {
		return d
	}
	if got.Library == nil || want.Library == nil {
		return ""
	}
	for i := range want.Library.Function {
		f, _ := want.Library.Function[i].Get()
		if i >= len(got.Library.Function) {
			return "function " + f.Signature.Name + " is missing"
		}
		g, _ := got.Library.Function[i].Get()
		if d := diffNodes(g.NodeDef, f.NodeDef); d != "" {
			return "function " + f.Signature.Name + ": " + d
		}
		if !bytes.Equal(g.Signature.Marshal(), f.Signature.Marshal()) {
			return "signature of " + f.Signature.Name + " differs"
		}
		if !bytes.Equal(g.Marshal(), f.Marshal()) {
			return "function " + f.Signature.Name + " differs"
		}
	}
	return ""
}

func diffNodes(got, want []*pb.NodeDef) string {
	for i, n := range want {
		if i >= len(got) {
			return "node " + n.Name + " is missing"
		}
		if !bytes.Equal(got[i].Marshal(), n.Marshal()) {
			var b strings.Builder
			for j, a := range n.Attr {
				if j < len(got[i].Attr) && !bytes.Equal(got[i].Attr[j].Marshal(), a.Marshal()) {
					b.WriteString(" " + a.Key)
				}
			}
			return "node " + n.Name + " (" + n.Op + ") is written as " + got[i].Name + ", attributes that differ:" + b.String()
		}
	}
	return ""
}

// sortMaps sorts every map that a graph writes sorted.
func sortMaps(g *pb.GraphDef) {
	for _, n := range g.Node {
		sortAttrs(n.Attr)
	}
	if g.Library == nil {
		return
	}
	for i := range g.Library.Function {
		f, err := g.Library.Function[i].Get()
		if err != nil {
			panic(err)
		}
		g.Library.Function[i] = pb.LazyOf(f)
		sortAttrs(f.Attr)
		pb.SortEntries(f.Ret)
		pb.SortEntries(f.ControlRet)
		pb.SortEntries(f.ArgAttr)
		pb.SortEntries(f.ResourceArgUniqueId)
		for _, a := range f.ArgAttr {
			sortAttrs(a.Value.Attr)
		}
		for _, n := range f.NodeDef {
			sortAttrs(n.Attr)
		}
	}
}

func sortAttrs(as []*pb.AttrValueEntry) {
	pb.SortEntries(as)
	for _, a := range as {
		if a.Value.Func != nil {
			sortAttrs(a.Value.Func.Attr)
		}
		if a.Value.List != nil {
			for _, f := range a.Value.List.Func {
				sortAttrs(f.Attr)
			}
		}
	}
}
