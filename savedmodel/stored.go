package savedmodel

import (
	"context"
	"errors"
	"io/fs"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
)

// Stored returns the checkpoint's entry for each variable of the object graph:
// its key, type, shape and size. No value is read. Variables without a value in
// the checkpoint are left out; without a checkpoint the map is empty.
func (g *MetaGraph) Stored(ctx context.Context) (map[*Object]bundle.Entry, error) {
	out := map[*Object]bundle.Entry{}
	if len(g.Objects) == 0 {
		return out, nil
	}
	view, err := g.model.OpenVariables(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	defer view.Close()
	keys, _ := g.matchCheckpoint(view)
	for o, key := range keys {
		if e, ok := view.Reader().Entry(key); ok {
			out[o] = e
		}
	}
	return out, nil
}

// matchCheckpoint walks the model's objects and the checkpoint's side by side, breadth-first by the names
// of edges, then slot variables. It returns the keys of the variables' values, and the objects whose
// values only ops of the graph can restore: tables and other objects with attributes. The first match of
// an object counts. Package savedmodel/run and Restore load models by it.
func (g *MetaGraph) matchCheckpoint(view *checkpoint.View) (keys map[*Object]string, byOp map[*Object]bool) {
	keys, byOp = map[*Object]string{}, map[*Object]bool{}
	if view.Len() == 0 || len(g.Objects) == 0 {
		return keys, byOp
	}
	parts := newViewParts(view)
	found := make([]int, len(g.Objects)) // the checkpoint's numbers of the objects
	for i := range found {
		found[i] = -1
	}
	match := func(o *Object, id int) bool {
		if found[o.ID] >= 0 {
			return false
		}
		found[o.ID] = id
		a := parts.attributesOf(id)
		isVariable := o.Kind == VariableObject
		if isVariable && a.hasValue {
			keys[o] = a.value
		}
		if a.others || a.hasValue && !isVariable {
			byOp[o] = true
		}
		return true
	}
	match(g.Objects[0], 0)
	queue := append(make([]*Object, 0, len(g.Objects)), g.Objects[0])
	for i := 0; i < len(queue); i++ {
		if len(queue[i].Children) == 0 {
			continue
		}
		at := parts.childrenOf(found[queue[i].ID])
		if len(at) == 0 {
			continue
		}
		for _, e := range queue[i].Children {
			if id, ok := at[e.Name]; ok && match(e.Object, id) {
				queue = append(queue, e.Object)
			}
		}
	}
	for _, o := range g.Objects {
		if found[o.ID] < 0 || len(o.Slots) == 0 {
			continue
		}
		slots := parts.slotsOf(found[o.ID])
		for _, s := range o.Slots {
			if id, ok := slots[slotName{found[s.Original.ID], s.Name}]; ok {
				match(s.Slot, id)
			}
		}
	}
	return keys, byOp
}
