package checkpoint

import (
	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/trackable"
)

// slotNames returns the full names that a name-based checkpoint may have for a
// slot. Such a checkpoint is TensorFlow 1's, without an object graph: its keys are
// the variables' full names. The names are the owner's if it is a
// [trackable.SlotNamer]. Otherwise there is one, which a walk would assign.
func slotNames(g *trackable.Graph, owner int, variable, slot string) []string {
	if n, ok := g.Nodes[owner].Object.(trackable.SlotNamer); ok {
		return n.SlotFullNames(variable, slot)
	}
	name := variable + "/" + slot
	if scope := g.Scope(owner); scope != "" {
		name = scope + "/" + name
	}
	return []string{name}
}

// storedName returns the first of the names that the file has and that no
// variable has taken yet.
func (l *load) storedName(names []string) string {
	for _, name := range names {
		if _, ok := l.src.reader.Entry(name); ok && !l.usedNames[name] {
			return name
		}
	}
	return ""
}

// slotAliases finds the slots of g whose full name isn't in the file, but another
// of their names is. It maps the slot's node to that name.
func (l *load) slotAliases(g *trackable.Graph) map[int]string {
	var out map[int]string
	for id := range g.Nodes {
		for _, s := range g.Nodes[id].Slots {
			if _, ok := l.src.reader.Entry(g.Nodes[s.ID].FullName); ok {
				continue
			}
			if name := l.storedName(slotNames(g, id, g.Nodes[s.Variable].FullName, s.Name)); name != "" {
				if out == nil {
					out = make(map[int]string)
				}
				out[s.ID] = name
			}
		}
	}
	return out
}

// matchNewSlots plans the slots that the file has and that the optimizers of g
// haven't made yet. Otherwise, the first step would make them with initial values.
// taken maps names of the file to the paths of the objects that have them in this
// match.
func (m *match) matchNewSlots(g *trackable.Graph, taken map[string]string) {
	l := m.l
	for id := range g.Nodes {
		owner, ok := g.Nodes[id].Object.(trackable.SlotOwner)
		if !ok {
			continue
		}
		names := owner.SlotNames()
		for at := range g.Nodes {
			n := &g.Nodes[at]
			v := n.Variable()
			if v == nil || n.IsSlot || n.FullName == "" {
				continue
			}
			for _, slot := range names {
				if owner.Slot(v, slot) != nil {
					continue
				}
				key := l.storedName(slotNames(g, id, n.FullName, slot))
				if _, dup := taken[key]; key == "" || dup {
					continue
				}
				path := g.Human(at) + ", slot " + slot + " of " + g.Human(id)
				taken[key] = path
				e, _ := l.src.reader.Entry(key)
				if err := v.Accepts(e.DType, e.Shape); err != nil {
					m.mismatched = append(m.mismatched, Item{Path: path, Attribute: trackable.VariableValue, Key: key,
						DType: e.DType, Shape: e.Shape, Why: mismatchWords(v, e)})
					continue
				}
				m.noteReceived(path, key)
				m.newSlots = append(m.newSlots, newSlot{owner: owner, v: v, name: slot, node: noNode, key: key})
			}
		}
	}
}

// noteNames records a match: the variables that receive values (l.objects), the
// counters that go on from names (l.counted), and the names that are used
// (l.usedNames). So a later match skips these variables and gives no name twice.
// The load's lock is held.
func (l *load) noteNames(m *match) {
	m.values.each(func(v *trackable.Variable, _ int32, _ bundle.Handle) { l.objects.add(v) })
	for _, c := range m.counts {
		l.counted.add(c.at)
	}
	for _, d := range m.restored {
		l.usedNames[l.src.reader.Request(d.tensor).Name] = true
	}
}
