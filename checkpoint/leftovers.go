package checkpoint

import (
	"context"
	"slices"

	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/internal/restoring"
	"github.com/cairnml/cairn/trackable"
)

// leftovers lists the values and objects that a match leaves unmatched, on both
// sides.
type leftovers struct {
	missing  []Item // objects without a value in the file
	deferred []Item // values that are pending
	unused   []Item // values that nothing can take
}

// checkEvery is after how many nodes or attributes a loop looks at its context.
const checkEvery = 1024

// findLeftovers compares a load's bindings with the live graph. g is nil if all its
// objects are known to be bound.
func (l *load) findLeftovers(ctx context.Context, g *trackable.Graph) (leftovers, error) {
	var j leftovers
	var err error
	if l.graph == nil {
		l.deferNames(g)
	}
	if g != nil {
		if j.missing, err = l.unmatched(g); err != nil {
			return j, err
		}
	}
	j.deferred, j.unused = l.left(ctx)
	if err := ctx.Err(); err != nil {
		return j, err
	}
	suggest(j.missing, append(slices.Clone(j.unused), j.deferred...))
	suggest(j.unused, j.missing)
	return j, nil
}

// suggest puts the nearest paths of candidates into items.
func suggest(items, candidates []Item) {
	if len(items) == 0 || len(candidates) == 0 {
		return
	}
	names := make([]string, len(candidates))
	for i, c := range candidates {
		names[i] = c.Path
	}
	for i := range items {
		if i == maxListed {
			break // more aren't shown
		}
		items[i].Nearest = nearest.Names(items[i].Path, names, 3)
	}
}

// unmatched lists the live objects with values that no node is bound to.
func (l *load) unmatched(g *trackable.Graph) ([]Item, error) {
	l.mu.Lock()
	clashing := map[any]bool{}
	for _, c := range l.clashes {
		clashing[trackable.Identity(c.obj)] = true
	}
	var open []int
	for id := range g.Nodes {
		if !l.objects.has(g.Nodes[id].Object) {
			open = append(open, id)
		}
	}
	l.mu.Unlock()
	if len(open) == 0 {
		return nil, nil
	}
	var items []Item
	counters := l.ck.counters(g)
	for _, id := range open {
		n := &g.Nodes[id]
		if n.IsSlot && l.opts.SkipSlots || isCounter(counters, n.Object) {
			continue
		}
		names, err := attributesOf(n.Object)
		if err != nil {
			return nil, err
		}
		if l.graph != nil {
			list, _ := internals.Declare(n.Object, func(string) bool { return false })
			for _, v := range list {
				items = append(items, declaredItem(below(g.Human(id), v.Edge), n.Object))
			}
		}
		if len(names) == 0 || l.opts.SkipIterators && iteratorAttribute(names[0]) {
			continue
		}
		it := Item{Path: g.Human(id), Attribute: names[0], Why: "the checkpoint has no value for this object"}
		if clashing[trackable.Identity(n.Object)] {
			it.Why = "the checkpoint has one object where the program has two; its value went to the first"
		}
		if v := n.Variable(); v != nil {
			it.DType, it.Shape = v.DType(), v.Shape()
		}
		items = append(items, it)
	}
	return items, nil
}

// counters returns the counters of saves of ck and of the Checkpoints that are parts of
// g. They aren't objects of the program, so a restore may lack their values.
func (ck *Checkpoint) counters(g *trackable.Graph) map[any]bool {
	all := map[any]bool{}
	add := func(ck *Checkpoint) {
		ck.mu.Lock()
		defer ck.mu.Unlock()
		if ck.counter != nil {
			all[ck.counter] = true
		}
	}
	add(ck)
	for id := range g.Nodes {
		if part, ok := g.Nodes[id].Object.(*Checkpoint); ok {
			add(part)
		}
	}
	return all
}

// isCounter reports whether obj is one of some counters.
func isCounter(counters map[any]bool, obj any) bool {
	c, ok := obj.(*trackable.Scalar[int64])
	return ok && counters[c]
}

// left lists the values of the file that no object has: those after an edge that
// can still appear, and the others. If ctx ends the lists are incomplete.
func (l *load) left(ctx context.Context) (deferred, unused []Item) {
	if l.graph == nil {
		return l.leftByName()
	}
	g := l.graph
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bound.len() == len(g.nodes) && len(l.unused) == 0 {
		return nil, nil
	}

	pending, silent := l.pendingNodes()
	skip := l.pendSlots(pending)
	for id := range g.nodes {
		node := int32(id)
		if id%checkEvery == 0 && ctx.Err() != nil {
			break
		}
		bound := l.bound.has(node)
		if bound && len(l.unused[node]) == 0 || silent[node] || skip[node] {
			continue
		}
		n := g.node(node)
		if l.opts.SkipIterators && isIterator(&n) {
			continue
		}
		isUnused := setOf(l.unused[node])
		path := ""
		i := -1
		for a := range g.attributes(node) {
			i++
			if bound && !isUnused[a.name] {
				continue
			}
			if i%checkEvery == checkEvery-1 && ctx.Err() != nil {
				break
			}
			if path == "" {
				path = g.human(node)
			}
			keys := l.src.keysOf(a.key)
			if len(keys) == 0 {
				continue // the object wrote nothing under its name
			}
			entry, _ := l.src.reader.Entry(keys[0])
			it := Item{Path: path, Attribute: a.name, Key: keys[0], DType: entry.DType, Shape: entry.Shape}
			switch {
			case bound:
				it.Why = "the object has no such attribute"
				unused = append(unused, it)
			case pending[id]:
				deferred = append(deferred, it)
			default:
				it.Why = "no object can take this value"
				unused = append(unused, it)
			}
		}
		if r := n.saver; r.name != "" && !bound {
			it := Item{Path: g.human(node), Attribute: r.name, Key: r.object}
			if pending[id] {
				deferred = append(deferred, it)
			} else {
				it.Why = "no object can take this value"
				unused = append(unused, it)
			}
		}
	}
	return deferred, unused
}

// pendingNodes reports for each node whether an edge that can still appear leads to it.
// It also returns the nodes that left doesn't list: the save_counter of a Read, or of a
// Checkpoint that is a part. The caller holds l.mu.
func (l *load) pendingNodes() (pending []bool, silent map[int32]bool) {
	g := l.graph
	pending = make([]bool, len(g.nodes))
	var queue []int32
	mark := func(node int32) {
		if !l.bound.has(node) && !pending[node] {
			pending[node] = true
			queue = append(queue, node)
		}
	}
	silent = map[int32]bool{}
	for _, w := range l.pending {
		if w.superseded {
			continue
		}
		if w.accepts == restoring.AcceptYes || w.accepts == restoring.AcceptMaybe && !l.opts.Partial {
			mark(w.node)
		}
		if _, part := w.parent.(*Checkpoint); w.edge == counterEdge && (part || trackable.Identity(w.parent) == trackable.Identity(l.ck.root)) {
			silent[w.node] = true
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for c := range g.children(queue[0]) {
			mark(c.node)
		}
	}
	return pending, silent
}

// pendSlots marks the slots that can be created when their variable and optimizer
// appear. It returns the slots that the options skip. The caller holds l.mu.
func (l *load) pendSlots(pending []bool) (skip map[int32]bool) {
	g := l.graph
	skip = map[int32]bool{}
	for _, id := range g.owners {
		for s := range g.slots(id) {
			if l.opts.SkipSlots {
				skip[s.slot] = true
				continue
			}
			owner, ownerBound := l.bound.get(id)
			varBound := l.bound.has(s.variable)
			if ownerBound {
				o, ok := owner.(trackable.SlotOwner)
				if !ok || !slices.Contains(o.SlotNames(), s.name) {
					continue
				}
			}
			if (ownerBound || pending[id]) && (varBound || pending[s.variable]) && !(ownerBound && varBound) {
				if !l.bound.has(s.slot) {
					pending[s.slot] = true
				}
			}
		}
	}
	return skip
}

// setOf returns a set of names. It is a map because a file may list very many
// attributes for one object.
func setOf(names []string) map[string]bool {
	if len(names) == 0 {
		return nil
	}
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// items converts a list of restored values into a report's entries. attrs are the attributes that
// they refer to; in a name-based restore, the objects' paths.
func (l *load) items(list []done, attrs []string) []Item {
	items := make([]Item, len(list))
	attr := func(d *done) string {
		if d.attr == 0 {
			return trackable.VariableValue
		}
		return attrs[d.attr-1]
	}
	if l.graph == nil {
		for i, d := range list {
			e := l.src.reader.EntryOf(d.tensor)
			items[i] = Item{Path: attr(&d), Attribute: trackable.VariableValue, Key: e.Name, DType: e.DType, Shape: e.Shape}
		}
		return items
	}
	paths := siblings{g: l.graph}
	for i := range list {
		d := &list[i]
		it := Item{Path: paths.human(d.node), Attribute: attr(d)}
		if d.tensor.Valid() {
			it.Key = l.src.reader.Request(d.tensor).Name
			it.DType, it.Shape = l.src.reader.KindOf(d.tensor)
		} else if n := l.graph.node(d.node); n.saver.name != "" {
			it.Key = n.saver.object
		} else {
			it.Key = n.attribute.key
		}
		items[i] = it
	}
	return items
}

// current lists the values that are restored by now.
func (l *load) current() []Item {
	l.mu.Lock()
	nodes := make([]int32, 0, l.bound.len())
	for node := range l.bound.each() {
		nodes = append(nodes, node)
	}
	unused := make(map[int32]map[string]bool, len(l.unused))
	for node, attrs := range l.unused {
		unused[node] = setOf(attrs)
	}
	l.mu.Unlock()
	slices.Sort(nodes)
	var items []Item
	for _, node := range nodes {
		n := l.graph.node(node)
		if l.opts.SkipIterators && isIterator(&n) {
			continue
		}
		if r := n.saver; r.name != "" {
			items = append(items, Item{Path: l.graph.human(node), Attribute: r.name, Key: r.object})
			continue
		}
		for a := range l.graph.attributes(node) {
			if unused[node][a.name] {
				continue
			}
			for _, key := range l.src.keysOf(a.key) {
				entry, _ := l.src.reader.Entry(key)
				items = append(items, Item{Path: l.graph.human(node), Attribute: a.name, Key: key, DType: entry.DType, Shape: entry.Shape})
			}
		}
	}
	return items
}
