package checkpoint

import (
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

// slotKey identifies a slot of one variable or of one owner.
type slotKey struct {
	name string
	of   any // the identity of the owner or of the variable; the node in the later file if the owner isn't bound
}

// slotSets returns a function that lists the slots of a node of the later file as a set. It makes each set once, since
// a node may have millions of slots.
func slotSets(slots map[int32][]pendingSlot, of func(x pendingSlot) any) func(node int32) map[slotKey]bool {
	sets := map[int32]map[slotKey]bool{}
	return func(node int32) map[slotKey]bool {
		set, ok := sets[node]
		if !ok {
			set = make(map[slotKey]bool, len(slots[node]))
			for _, x := range slots[node] {
				set[slotKey{x.name, of(x)}] = true
			}
			sets[node] = set
		}
		return set
	}
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
	later := slotSets(c.later.slotsOf, func(x pendingSlot) any {
		if obj, ok := c.later.bound.get(x.owner); ok {
			return trackable.Identity(obj)
		}
		return x.owner
	})
	for variable, slots := range c.old.slotsOf {
		in, ok := c.same[variable]
		if !ok {
			continue // its own edge is pending in the old restore alone, or none is
		}
		for _, w := range slots {
			owner, ok := c.owner(w.owner)
			if !ok || !later(in)[slotKey{w.name, owner}] {
				return false
			}
		}
	}
	return true
}

// hasSlots reports whether the later restore has the slots that wait for their owners.
func (c *comparison) hasSlots(left map[int32][]pendingSlot) bool {
	later := slotSets(c.later.slotsLeft, func(x pendingSlot) any { return trackable.Identity(x.variable) })
	for owner, slots := range left {
		in, ok := c.same[owner]
		if !ok {
			return false
		}
		for _, w := range slots {
			if !later(in)[slotKey{w.name, trackable.Identity(w.variable)}] {
				return false
			}
		}
	}
	return true
}

// owner returns the object to which a node of the old file is bound, or the node of the later file that will be the
// same object; ok reports whether there is either.
func (c *comparison) owner(old int32) (of any, ok bool) {
	if obj, bound := c.old.bound.get(old); bound {
		return trackable.Identity(obj), true
	}
	node, ok := c.same[old]
	return node, ok
}
