package savedmodel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/trackable"
)

// Stored returns where the checkpoint holds each variable of the graph of
// objects: its key, type, shape and size. No value is read. Variables without a
// value in the checkpoint are left out; without a checkpoint the map is empty.
func (g *MetaGraph) Stored(ctx context.Context) (map[*Object]bundle.Entry, error) {
	out := map[*Object]bundle.Entry{}
	if len(g.Objects) == 0 {
		return out, nil
	}
	view, err := checkpoint.OpenFS(ctx, g.model.fsys, VariablesPrefix, &bundle.ReaderOptions{MaxMemory: g.model.opts.maxMemory()})
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("savedmodel: %w", err)
	}
	defer view.Close()
	keys, _ := g.matchCheckpoint(view.Nodes())
	for o, key := range keys {
		if e, ok := view.Reader().Entry(key); ok {
			out[o] = e
		}
	}
	return out, nil
}

// matchCheckpoint walks the model's objects and the checkpoint's side by side. It
// returns the keys of the variables' values, and the objects whose values only
// their own ops can restore.
func (g *MetaGraph) matchCheckpoint(nodes []checkpoint.ViewNode) (keys map[*Object]string, byOp map[*Object]bool) {
	keys, byOp = map[*Object]string{}, map[*Object]bool{}
	if len(nodes) == 0 || len(g.Objects) == 0 {
		return keys, byOp
	}
	found := map[*Object]int{}
	match := func(o *Object, id int) bool {
		if _, seen := found[o]; seen || id < 0 || id >= len(nodes) {
			return false
		}
		found[o] = id
		for _, a := range nodes[id].Attributes {
			if o.Kind == VariableObject && a.Name == trackable.VariableValue {
				keys[o] = a.Key
			} else {
				byOp[o] = true
			}
		}
		return true
	}
	match(g.Objects[0], 0)
	for queue := []*Object{g.Objects[0]}; len(queue) > 0; queue = queue[1:] {
		at := map[string]int{}
		for _, c := range nodes[found[queue[0]]].Children {
			at[c.Name] = c.ID
		}
		for _, e := range queue[0].Children {
			if id, ok := at[e.Name]; ok && match(e.Object, id) {
				queue = append(queue, e.Object)
			}
		}
	}
	for _, o := range g.Objects {
		id, ok := found[o]
		if !ok {
			continue
		}
		for _, s := range o.Slots {
			original, ok := found[s.Original]
			for _, c := range nodes[id].Slots {
				if ok && c.Name == s.Name && c.Variable == original {
					match(s.Slot, c.ID)
				}
			}
		}
	}
	return keys, byOp
}
