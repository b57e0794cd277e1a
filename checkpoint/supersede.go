package checkpoint

import (
	"slices"

	"github.com/cairnml/cairn/trackable"
)

// Restores of one Checkpoint overlap if a later one has values pending for the same edge
// as an earlier one. As in TensorFlow, the child gets the later one's values, and the
// earlier one's if the later file lacks the object. So an earlier restore stays alive
// until a later one has all of its pending values. Therefore a program that restores again
// and again doesn't accumulate the graphs of all its files.

// dropSuperseded drops the pending values that a later restore has too.
func (l *load) dropSuperseded(later *load) {
	later.mu.Lock()
	defer later.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.graph == nil || later.graph == nil {
		for key, w := range l.pending {
			if later.pending[key] != nil {
				w.superseded, w.replaced = true, true
			}
		}
		if l.graph == nil && later.graph == nil {
			for e := range l.src.reader.Entries() {
				if _, ok := later.src.reader.Entry(e.Name); ok {
					l.usedNames[e.Name] = true
				}
			}
		}
		return
	}
	c := &comparison{old: l, later: later, same: map[int32]int32{}}
	for key, w := range l.pending {
		if x := later.pending[key]; x != nil {
			w.superseded = true
			w.replaced = c.covers(w.node, x.node)
		}
	}
	// Slots connect nodes below several edges, so they come when all nodes are known.
	l.slotsReplaced = c.hasSlots(l.slotsLeft)
	if !l.slotsReplaced || !c.hasSlotsOf() {
		for _, w := range l.pending {
			w.replaced = false
		}
	}
}

// comparison compares the pending values of two restores. The caller holds the
// locks of both.
type comparison struct {
	old, later *load
	same       map[int32]int32 // nodes of the old file → of the later one
}

// covers reports whether the later file has a value for every value that the old one has
// at or below a node.
func (c *comparison) covers(node, in int32) bool {
	type pair struct{ old, later int32 }
	all := true
	for todo := []pair{{node, in}}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if c.old.bound.has(p.old) {
			continue // it has been delivered
		}
		if known, ok := c.same[p.old]; ok {
			all = all && known == p.later
			continue
		}
		c.same[p.old] = p.later
		all = all && c.hasAttributes(p.old, p.later) && !c.later.bound.has(p.later)
		children := map[string]int32{}
		for x := range c.later.graph.children(p.later) {
			children[x.name] = x.node
		}
		for x := range c.old.graph.children(p.old) {
			if to, ok := children[x.name]; ok {
				todo = append(todo, pair{x.node, to})
			} else if !c.old.bound.has(x.node) && c.old.graph.hasValue(x.node) {
				all = false
			}
		}
	}
	return all
}

// hasAttributes reports whether a node of the later file has the attributes of one of the
// old file.
func (c *comparison) hasAttributes(old, later int32) bool {
	a, b := c.old.graph.node(old), c.later.graph.node(later)
	if a.saver.name != b.saver.name {
		return false
	}
	if a.attributes == 0 {
		return true
	}
	has := map[string]bool{}
	for x := range c.later.graph.attributes(later) {
		has[x.name] = true
	}
	for x := range c.old.graph.attributes(old) {
		if !has[x.name] {
			return false
		}
	}
	return true
}

// hasSlotsOf reports whether the later restore has the slots of the variables that are
// pending in both.
func (c *comparison) hasSlotsOf() bool {
	for variable, slots := range c.old.slotsOf {
		in, ok := c.same[variable]
		if !ok {
			continue // its own edge is pending in the old restore alone, or none is
		}
		for _, w := range slots {
			if !slices.ContainsFunc(c.later.slotsOf[in], func(x pendingSlot) bool { return x.name == w.name && c.sameOwner(w.owner, x.owner) }) {
				return false
			}
		}
	}
	return true
}

// hasSlots reports whether the later restore has the slots that wait for their owners.
func (c *comparison) hasSlots(left map[int32][]pendingSlot) bool {
	for owner, slots := range left {
		in, ok := c.same[owner]
		if !ok {
			return false
		}
		for _, w := range slots {
			if !slices.ContainsFunc(c.later.slotsLeft[in], func(x pendingSlot) bool {
				return x.name == w.name && trackable.Identity(x.variable) == trackable.Identity(w.variable)
			}) {
				return false
			}
		}
	}
	return true
}

// sameOwner reports whether two nodes are one object, or will be.
func (c *comparison) sameOwner(old, later int32) bool {
	a, ok := c.old.bound.get(old)
	b, known := c.later.bound.get(later)
	if ok && known {
		return trackable.Identity(a) == trackable.Identity(b)
	}
	in, pending := c.same[old]
	return !ok && !known && pending && in == later
}
