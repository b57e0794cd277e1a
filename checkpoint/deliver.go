package checkpoint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/internal/restoring"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// pending is a restore as the Node of one object holds it: it is asked about
// every child that the object gets.
type pending struct {
	l      *load
	parent any
	node   int32 // noNode if the file has nothing for the object
}

const noNode = -1 // in place of a node's number: the file has none

// watch registers l with the Node of an object that was bound, or that is below
// the restored root without a node. The caller holds l's lock.
func (l *load) watch(node int32, obj any) {
	n, ok := obj.(trackable.Noder)
	if !ok || variableOf(obj) != nil {
		return
	}
	if id := trackable.Identity(obj); node == noNode && l.watched[id] {
		return
	} else {
		l.watched[id] = true
	}
	internals.AddPending(n.TrackableNode(), &pending{l, obj, node})
}

// watchBelow registers l with the Nodes of all objects of g that it doesn't know yet. It leaves
// out objects below optimizers, unless the checkpoint is name-based.
func (l *load) watchBelow(g *trackable.Graph) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.graph != nil && !l.guards.Load() {
		return // nothing of the file can be meant for them
	}
	for _, id := range reachable(g) {
		l.watch(noNode, g.Nodes[id].Object)
	}
	if l.graph == nil {
		// Names can be meant for an optimizer's variables too.
		for id := range g.Nodes {
			if obj := g.Nodes[id].Object; !l.watched[trackable.Identity(obj)] {
				l.optimizer[trackable.Identity(obj)] = true
				l.watch(noNode, obj)
			}
		}
	}
}

// reachable lists the nodes of g that can be reached without passing through an
// optimizer. An optimizer's own variables may start fresh.
func reachable(g *trackable.Graph) []int {
	seen := make([]bool, len(g.Nodes))
	seen[0] = true
	out := make([]int, 1, len(g.Nodes)) // the root
	for i := 0; i < len(out); i++ {
		n := &g.Nodes[out[i]]
		if _, ok := n.Object.(trackable.SlotOwner); ok {
			continue
		}
		for _, e := range n.Edges {
			if !seen[e.ID] {
				seen[e.ID] = true
				out = append(out, e.ID)
			}
		}
	}
	return out
}

// Order returns the restore's order.
func (p *pending) Order() uint64 { return p.l.order }

// Done reports whether a later restore has taken l's place.
func (p *pending) Done() bool { return p.l.ended.Load() }

// edge returns the pending values of an edge, or nil if there are none.
func (p *pending) edge(edge string) *pendingEdge {
	p.l.mu.Lock()
	defer p.l.mu.Unlock()
	return p.l.pending[edgeKey{trackable.Identity(p.parent), edge}]
}

// Holds reports whether something is pending for edge.
func (p *pending) Holds(edge string) bool { return p.edge(edge) != nil }

// Initial reads the value of a variable that is about to be made.
func (p *pending) Initial(edge string, v *trackable.Variable, d tensor.DType, s tensor.Shape) (*tensor.Tensor, error) {
	l := p.l
	var key, path string
	if l.graph == nil {
		var err error
		if key, path, err = l.nameFor(p.parent, edge, v); err != nil {
			return nil, err
		}
	} else if w := p.edge(edge); w != nil {
		if value, ok := l.graph.value(w.node); ok {
			key, path = value, l.graph.human(w.node)
		}
	}
	if key == "" {
		return nil, nil
	}
	e, ok := l.src.reader.Entry(key)
	if !ok {
		return nil, nil // the delivery reports it, if it matters
	}
	if e.DType != d || !s.Accepts(e.Shape) {
		return nil, fmt.Errorf("checkpoint: %s (of a %T) doesn't fit its value %q in %s: %w", path, p.parent, key, l.src.path,
			&trackable.ShapeError{WantDType: d, WantShape: s, GotDType: e.DType, GotShape: e.Shape})
	}
	t, err := l.src.reader.Read(context.Background(), key)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: the first value of %s from %s: %w", path, l.src.path, err)
	}
	if l.graph == nil {
		l.takeName(key, v)
	}
	return t, nil
}

// Deliver restores child and all objects below it from the values pending for
// edge.
func (p *pending) Deliver(edge string, child any) error {
	l, ctx := p.l, context.Background()
	if l.graph == nil {
		return l.deliverNames(ctx, child)
	}
	if w := p.edge(edge); w != nil {
		if err := l.deliver(ctx, start{node: w.node, obj: child}); err != nil {
			return err
		}
	}
	if p.exempt() || variableOf(child) != nil {
		return nil
	}
	g, err := trackable.Walk(child, &trackable.WalkOptions{NoSlots: true})
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	l.watchBelow(g)
	return nil
}

// exempt reports whether the object is an optimizer or a part of one. Its variables may
// start fresh, because a checkpoint from before its first step doesn't have them.
func (p *pending) exempt() bool {
	if _, ok := p.parent.(trackable.SlotOwner); ok {
		return true
	}
	p.l.mu.Lock()
	defer p.l.mu.Unlock()
	return p.l.optimizer[trackable.Identity(p.parent)]
}

// Unfilled returns an *UnfilledError about the variables of child that no
// restore has filled though l, the latest one and strict, has no value for
// them.
func (p *pending) Unfilled(edge string, child any) error {
	l := p.l
	if !l.guards.Load() || p.exempt() {
		return nil
	}
	g, err := trackable.Walk(child, &trackable.WalkOptions{NoSlots: true})
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if v := variableOf(child); v != nil && v.DType() != tensor.Invalid && l.replaced(p.node, edge, child, sync.OnceValue(l.live)) {
		return nil
	}
	items, vars := l.unfilled(g, nil)
	if len(items) == 0 {
		return nil
	}
	path := below(p.path(), edge)
	for i := range items {
		if at := items[i].Path; at == "(root)" {
			items[i].Path = path
		} else {
			items[i].Path = path + "." + at
		}
	}
	return l.unfilledError(items, vars)
}

// path returns the parent's path in the program.
func (p *pending) path() string {
	if p.node != noNode {
		return p.l.graph.human(p.node)
	}
	if g, err := p.l.ck.walk(); err == nil {
		if id, ok := g.ID(p.parent); ok {
			return g.Human(id)
		}
	}
	return fmt.Sprintf("(a %T)", p.parent)
}

// replaced reports whether the file's value for an edge of a node went to an object that
// was there before. A variable that the program put in its place keeps the value that it
// came with. No object was replaced if the value went to one that is still a part of the
// program, below another edge: the program has two objects for one of the file then. live
// returns the program's objects; it is called if that matters.
func (l *load) replaced(parent int32, edge string, child any, live func() *trackable.Graph) bool {
	if parent == noNode || l.graph == nil {
		return false
	}
	for c := range l.graph.children(parent) {
		if c.name != edge {
			continue
		}
		l.mu.Lock()
		obj, bound := l.bound.get(c.node)
		l.mu.Unlock()
		if !bound {
			return false
		}
		if trackable.Identity(obj) == trackable.Identity(child) {
			return true // it has the value
		}
		g := live()
		if g == nil {
			return true
		}
		_, there := g.ID(obj)
		return !there
	}
	return false
}

// live returns the program's objects, nil if they can't be listed.
func (l *load) live() *trackable.Graph {
	g, err := l.ck.walk()
	if err != nil {
		return nil
	}
	return g
}

// replacements returns the variables of g that replaced a variable already
// filled.
func (l *load) replacements(g *trackable.Graph) map[int]bool {
	l.mu.Lock()
	nodes := make(map[any]int32, l.bound.len())
	for node, obj := range l.bound.each() {
		nodes[trackable.Identity(obj)] = node
	}
	l.mu.Unlock()
	out := map[int]bool{}
	live := sync.OnceValue(l.live)
	for id := range g.Nodes {
		node, ok := nodes[trackable.Identity(g.Nodes[id].Object)]
		if !ok {
			continue
		}
		for _, e := range g.Nodes[id].Edges {
			if g.Nodes[e.ID].Variable() != nil && l.replaced(node, e.Name, g.Nodes[e.ID].Object, live) {
				out[e.ID] = true
			}
		}
	}
	return out
}

// unfilled lists the variables of g that no restore has filled, except for the nodes in
// arriving: those below children that are being added.
func (l *load) unfilled(g *trackable.Graph, arriving map[int]bool) (items []Item, vars []*trackable.Variable) {
	l.mu.Lock()
	var open []int
	for _, id := range reachable(g) {
		if n := &g.Nodes[id]; n.Variable() != nil && !l.objects.has(n.Object) && !arriving[id] {
			open = append(open, id)
		}
	}
	l.mu.Unlock()
	if len(open) == 0 {
		return nil, nil
	}
	var replaced map[int]bool
	counters := l.ck.counters(g)
	for _, id := range open {
		n := &g.Nodes[id]
		v := n.Variable()
		if internals.Stamp(v.TrackableNode()) != 0 || l.ck.stamp(n.Object) != 0 || isCounter(counters, n.Object) {
			continue
		}
		if replaced == nil {
			replaced = l.replacements(g)
		}
		if replaced[id] {
			continue
		}
		items = append(items, Item{Path: g.Human(id), Attribute: trackable.VariableValue, DType: v.DType(), Shape: v.Shape()})
		vars = append(vars, v)
	}
	return items, vars
}

// unfilledError returns the error about variables without a value, with similar paths of values that are left.
func (l *load) unfilledError(items []Item, vars []*trackable.Variable) error {
	deferred, unused := l.left(context.Background())
	var names []string
	for _, it := range append(deferred, unused...) {
		names = append(names, it.Path)
	}
	if len(names) == 0 {
		for _, it := range l.current() {
			names = append(names, it.Path)
		}
	}
	for i := range items[:min(len(items), maxListed)] {
		items[i].Nearest = nearest.Names(items[i].Path, names, 3)
	}
	return &UnfilledError{Path: l.src.path, Unfilled: items, variables: vars}
}

// deliver binds starts and restores all below them, or changes nothing.
func (l *load) deliver(ctx context.Context, starts ...start) error {
	l.mu.Lock()
	m, err := l.match(ctx, true, starts...)
	if err == nil {
		err = m.refuse()
	}
	l.mu.Unlock()
	if err == nil {
		err = m.precheck(ctx)
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	m.commit()
	l.mu.Unlock()
	return m.apply(ctx)
}

// appeared lists the pending values of edges that objects have by now, by node. If several edges lead to a node, the
// one that has been pending for the longest time comes first: its object gets the value. If plain is set, it is
// limited to edges that reach no Node.
func (l *load) appeared(plain bool) ([]start, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	type arrival struct {
		w     *pendingEdge
		child any
	}
	type children struct {
		byName map[string]any
		err    error
	}
	var starts []arrival
	edges := map[any]children{}
	var failed *pendingEdge // the first edge whose parent's children can't be listed
	var failure error       // of failed
	for key, w := range l.pending {
		if plain && !w.plain {
			continue
		}
		at, ok := edges[key.parent]
		if !ok {
			list, err := l.ck.children(w.parent)
			at = children{make(map[string]any, len(list)), err}
			for _, e := range list {
				at.byName[e.Name] = e.Child
			}
			edges[key.parent] = at
		}
		if at.err != nil && (failed == nil || w.number < failed.number) {
			failed, failure = w, at.err
		}
		if child, ok := at.byName[w.edge]; ok {
			starts = append(starts, arrival{w, child})
		}
	}
	if failed != nil {
		return nil, fmt.Errorf("checkpoint: %w", failure)
	}
	// The goroutine that adds a child delivers to it: the edge was pending while the
	// child could be seen, so the child is still among the arrivals. Any other child
	// of a pending edge existed before its parent was watched.
	if arriving := restoring.Arrivals(); len(arriving) > 0 {
		kept := starts[:0]
		for _, s := range starts {
			if !isArriving(arriving, s.w.parent, s.child) {
				kept = append(kept, s)
			}
		}
		starts = kept
	}
	slices.SortFunc(starts, func(a, b arrival) int {
		return cmp.Or(cmp.Compare(a.w.node, b.w.node), cmp.Compare(a.w.number, b.w.number))
	})
	out := make([]start, len(starts))
	for i := range starts {
		out[i] = start{node: starts[i].w.node, obj: starts[i].child}
	}
	return out, nil
}

func isArriving(arriving []*restoring.Arrival, parent, child any) bool {
	n, ok := parent.(trackable.Noder)
	return ok && slices.ContainsFunc(arriving, func(a *restoring.Arrival) bool {
		return a.Parent == n.TrackableNode() && a.Child == trackable.Identity(child)
	})
}

// arrivingIn returns the nodes of g below children that are being added, or nil if
// there are none. Unless own is set, it skips those of this goroutine. The other
// children of g have been delivered.
func arrivingIn(g *trackable.Graph, own bool) map[int]bool {
	var at []int
	for _, a := range restoring.Arrivals() {
		if id, ok := g.ID(a.Child); ok && (own || !a.Own()) {
			at = append(at, id)
		}
	}
	if len(at) == 0 {
		return nil
	}
	below := map[int]bool{}
	for len(at) > 0 {
		id := at[len(at)-1]
		at = at[:len(at)-1]
		if below[id] {
			continue
		}
		below[id] = true
		for _, e := range g.Nodes[id].Edges {
			at = append(at, e.ID)
		}
	}
	return below
}

// sync delivers to the objects that have appeared, and to all below them. plain is as in appeared.
func (l *load) sync(ctx context.Context, plain bool) error {
	if l.graph == nil {
		return l.deliverNames(ctx, nil)
	}
	starts, err := l.appeared(plain)
	if err != nil || len(starts) == 0 {
		return err
	}
	if err := l.deliver(ctx, starts...); err != nil {
		return err
	}
	for _, s := range starts {
		g, err := trackable.Walk(s.obj, &trackable.WalkOptions{NoSlots: true})
		if err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
		l.watchBelow(g)
	}
	return nil
}
