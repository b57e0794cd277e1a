package run

import (
	"slices"
	"testing"

	"github.com/cairnml/cairn/savedmodel"
)

// TestSlotsAreChosenInAnyOrder checks that an optimizer's slot is loaded if its variable is,
// whichever of the two is named or reached first.
func TestSlotsAreChosenInAnyOrder(t *testing.T) {
	objects := make([]*savedmodel.Object, 7)
	for i := range objects {
		objects[i] = &savedmodel.Object{ID: i, Details: &savedmodel.Details{Traits: &savedmodel.Traits{}}}
	}
	root, layer, optimizer, x, y, slotX, slotY := objects[0], objects[1], objects[2], objects[3], objects[4], objects[5], objects[6]
	layer.Children = []savedmodel.Edge{{Name: "x", Object: x}}
	optimizer.Slots = []savedmodel.Slot{{Name: "m", Original: x, Slot: slotX}, {Name: "m", Original: y, Slot: slotY}}
	root.Children = []savedmodel.Edge{{Name: "layer", Object: layer}, {Name: "optimizer", Object: optimizer}}
	g := &savedmodel.MetaGraph{Objects: objects}
	for _, paths := range [][]string{{"layer", "optimizer"}, {"optimizer", "layer"}} {
		chosen, err := choose(g, paths)
		if err != nil {
			t.Fatal(err)
		}
		var ids []int
		for o := range chosen {
			ids = append(ids, o.ID)
		}
		slices.Sort(ids)
		if want := []int{1, 2, 3, 5}; !slices.Equal(ids, want) {
			t.Errorf("%v: objects %v, want %v", paths, ids, want)
		}
	}
}
