package savedmodel

import (
	"bytes"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
)

// stripDefaults removes the attributes of a graph's nodes, and of those of its
// functions, that have their op's default value. So a release that doesn't know
// a newer attribute can still load the graph.
func stripDefaults(g *pb.GraphDef) error {
	called := map[string]bool{} // names of functions, which nodes may have as their op
	var functions []pb.Lazy[pb.FunctionDef]
	if g.Library != nil {
		functions = g.Library.Function
	}
	bodies := make([]*pb.FunctionDef, len(functions))
	for i := range functions {
		f, err := functions[i].Get()
		if err != nil {
			return err
		}
		bodies[i] = f
		if f.Signature != nil {
			called[f.Signature.Name] = true
		}
	}
	strip := func(nodes []*pb.NodeDef) {
		for _, n := range nodes {
			if d := graph.LookupOp(n.Op); d != nil && !called[n.Op] {
				n.Attr = slices.DeleteFunc(n.Attr, func(a *pb.AttrValueEntry) bool { return hasDefault(d, a) })
			}
		}
	}
	strip(g.Node)
	for i, f := range bodies {
		strip(f.NodeDef)
		functions[i] = pb.LazyOf(f)
	}
	return nil
}

// hasDefault reports whether an attribute has the default value of an op's attribute.
func hasDefault(d *graph.OpDef, a *pb.AttrValueEntry) bool {
	if strings.HasPrefix(a.Key, "_") || a.Value == nil {
		return false
	}
	attr := d.Attr(a.Key)
	if attr == nil || !attr.HasDefault() {
		return false
	}
	x, y := a.Value, graphInternals.DefaultProto(attr)
	if x.Which != y.Which {
		return false
	}
	switch x.Which {
	case pb.AttrValueI:
		return x.I == y.I
	case pb.AttrValueB:
		return x.B == y.B
	case pb.AttrValueType:
		return x.Type == y.Type
	case pb.AttrValueS:
		return bytes.Equal(x.S, y.S)
	case pb.AttrValueF:
		return x.F == y.F
	}
	return bytes.Equal(x.Marshal(), y.Marshal())
}
