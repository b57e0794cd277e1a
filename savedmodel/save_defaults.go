package savedmodel

import (
	"bytes"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
)

// stripDefaults removes the attributes of nodes that have their op's default value, as
// TensorFlow's exporter does. So a release that doesn't know a newer attribute can still load
// the graph. calls reports whether an op is the name of a function, which has no defaults.
func stripDefaults(nodes []*pb.NodeDef, calls func(op string) bool) {
	for _, n := range nodes {
		if d := graph.LookupOp(n.Op); d != nil && !calls(n.Op) {
			n.Attr = slices.DeleteFunc(n.Attr, func(a *pb.AttrValueEntry) bool { return hasDefault(d, a) })
		}
	}
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
