package checkpoint

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/cairnml/cairn/trackable"
)

// TestAWalkSeesWhatNodesTells: edges, values and slots of every object.
func TestAWalkSeesWhatNodesTells(t *testing.T) {
	for _, name := range []string{"guide", "containers"} {
		v, err := Open(ctx, filepath.Join(goldenDir, name, "ckpt-1"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		nodes := v.Nodes()
		if v.Len() != len(nodes) || len(nodes) < 3 {
			t.Fatalf("%s: %d objects, Nodes has %d", name, v.Len(), len(nodes))
		}
		for id, n := range nodes {
			var children []trackable.Ref
			for c := range v.Children(id) {
				children = append(children, c)
			}
			var attributes []ViewAttribute
			for name, key := range v.Attributes(id) {
				attributes = append(attributes, ViewAttribute{Name: name, Key: key})
			}
			for i := range n.Attributes {
				n.Attributes[i].FullName = ""
			}
			var slots []trackable.SlotRef
			for s := range v.Slots(id) {
				slots = append(slots, s)
			}
			if !slices.Equal(children, n.Children) || !slices.Equal(attributes, n.Attributes) || !slices.Equal(slots, n.Slots) {
				t.Errorf("%s, object %d: %v, %v, %v; Nodes has %+v", name, id, children, attributes, slots, n)
			}
		}
	}
}
