package checkpoint

import (
	"iter"

	"github.com/cairnml/cairn/trackable"
)

// Len returns the number of objects; 0 of a name-based checkpoint.
func (v *View) Len() int {
	if v.graph == nil {
		return 0
	}
	return len(v.graph.nodes)
}

// Children yields the edges of the object with number id, from 0 up to [View.Len], in order.
// Unlike [View.Nodes], it decodes nothing else.
func (v *View) Children(id int) iter.Seq[trackable.Ref] {
	return func(yield func(trackable.Ref) bool) {
		for c := range v.graph.children(int32(id)) {
			if !yield(trackable.Ref{Name: c.name, ID: int(c.node)}) {
				return
			}
		}
	}
}

// Attributes yields the names and the keys of the values of the object with number id,
// as [View.Children] does edges.
func (v *View) Attributes(id int) iter.Seq2[string, string] {
	return func(yield func(name, key string) bool) {
		for a := range v.graph.attributes(int32(id)) {
			if !yield(a.name, a.key) {
				return
			}
		}
	}
}

// Slots yields the slot variables that the object with number id owns, as
// [View.Children] does edges.
func (v *View) Slots(id int) iter.Seq[trackable.SlotRef] {
	return func(yield func(trackable.SlotRef) bool) {
		for s := range v.graph.slots(int32(id)) {
			if !yield(trackable.SlotRef{Name: s.name, Variable: int(s.variable), ID: int(s.slot)}) {
				return
			}
		}
	}
}

// Saver returns the registered saver that saved the object with number id, "package.name",
// and the object's name with it; "" for an object that no saver saved.
func (v *View) Saver(id int) (name, object string) {
	n := v.graph.node(int32(id))
	return n.saver.name, n.saver.object
}
