package savedmodel

import (
	"slices"

	"github.com/cairnml/cairn/checkpoint"
)

// attributeKey is a value of an object besides a variable's: its name, and the key that
// the checkpoint's graph has for it.
type attributeKey struct{ name, key string }

// attributeKeys walks the model's objects and the checkpoint's side by side, as
// matchCheckpoint does, and returns the attributes of each object.
func (g *MetaGraph) attributeKeys(view *checkpoint.View) map[*Object][]attributeKey {
	out, parts := map[*Object][]attributeKey{}, newViewParts(view)
	g.walkCheckpoint(view, func(o *Object, id int) {
		if keys := parts.attributesOf(id).all; len(keys) >= keptParts {
			out[o] = keys // which no other call changes
		} else if len(keys) > 0 {
			out[o] = slices.Clone(keys)
		}
	})
	return out
}

// walkCheckpoint calls visit for each object to which edges of the model and of the checkpoint lead
// alike, with its number in the checkpoint: breadth-first, each object once. view isn't empty. Restore
// finds attributes and the values of registered savers by it. matchCheckpoint in stored.go follows slot
// variables too.
func (g *MetaGraph) walkCheckpoint(view *checkpoint.View, visit func(o *Object, id int)) {
	type pair struct {
		o  *Object
		id int
	}
	parts := newViewParts(view)
	seen := map[*Object]bool{g.Objects[0]: true}
	for queue := []pair{{g.Objects[0], 0}}; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		visit(p.o, p.id)
		if len(p.o.Children) == 0 {
			continue
		}
		at := parts.childrenOf(p.id)
		for _, e := range p.o.Children {
			if id, ok := at[e.Name]; ok && !seen[e.Object] {
				seen[e.Object] = true
				queue = append(queue, pair{e.Object, id})
			}
		}
	}
}
