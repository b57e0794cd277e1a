package convert

import (
	"testing"

	"github.com/cairnml/cairn/internal/pb"
)

// A table's and an iterator's attributes name no tensor, but the stem of some.
func TestTablesAndIteratorsFollowTheirTensors(t *testing.T) {
	const keys, values, state = "t/.ATTRIBUTES/table-keys", "t/.ATTRIBUTES/table-values", "it/.ATTRIBUTES/ITERATOR_STATE"
	for _, c := range []struct {
		name             string
		edits            map[string]string
		tableKey, edge   string
		iterKey, iterLbl string
	}{
		{"moved", map[string]string{keys: "table/.ATTRIBUTES/table-keys", values: "table/.ATTRIBUTES/table-values", state: "iter/.ATTRIBUTES/ITERATOR_STATE"},
			"table/.ATTRIBUTES/table", "table", "iter/.ATTRIBUTES/ITERATOR", "iter"},
		{"dropped", map[string]string{keys: "", values: "", state: state}, "", "t", "it/.ATTRIBUTES/ITERATOR", "it"},
		{"parted", map[string]string{keys: "a/.ATTRIBUTES/table-keys", values: values, state: state}, "t/.ATTRIBUTES/table", "t", "it/.ATTRIBUTES/ITERATOR", "it"},
		{"half dropped", map[string]string{keys: "", values: values, state: state}, "t/.ATTRIBUTES/table", "t", "it/.ATTRIBUTES/ITERATOR", "it"},
	} {
		g := &pb.TrackableObjectGraph{Nodes: []*pb.TrackableObject{
			{Children: []*pb.ObjectReference{{NodeId: 1, LocalName: "t"}, {NodeId: 2, LocalName: "it"}}},
			{Attributes: []*pb.SerializedTensor{{Name: "table", CheckpointKey: "t/.ATTRIBUTES/table"}}},
			{Attributes: []*pb.SerializedTensor{{Name: "ITERATOR", CheckpointKey: "it/.ATTRIBUTES/ITERATOR"}}},
		}}
		e := graphEdit{g: g, names: c.edits}
		e.run()
		key := func(n int) string {
			if len(g.Nodes[n].Attributes) == 0 {
				return ""
			}
			return g.Nodes[n].Attributes[0].CheckpointKey
		}
		edges := g.Nodes[0].Children
		if key(1) != c.tableKey || edges[0].LocalName != c.edge || key(2) != c.iterKey || edges[1].LocalName != c.iterLbl {
			t.Errorf("%s: %q by %q, %q by %q", c.name, key(1), edges[0].LocalName, key(2), edges[1].LocalName)
		}
	}
}
