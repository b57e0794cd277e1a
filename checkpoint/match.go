package checkpoint

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// match is the first half of a restore: the mapping of objects to nodes, and
// the values to read into them. It changes nothing. The caller holds the load's
// lock.
type match struct {
	l    *load
	late bool // a delivery, which must not overwrite later writes

	bound bindings // new ones, on top of the load's
	// Objects below an optimizer, on top of the load's.
	optimizer map[any]bool
	objects   objectSet
	clashes   []clash

	holders []start // the bound objects, without the variables that have no edges
	open    bool    // an edge of a bound object may lead to one that isn't bound

	values   valueReads
	counts   []namedRead
	newSlots []newSlot
	serials  []serialRead
	savers   saverObjects
	stamped  []any // objects whose stamp becomes this restore's number, load.order

	pending    []*pendingEdge          // edges of the file that bound objects don't have yet
	slotsLeft  map[int32][]pendingSlot // by owner node: slots whose variable is bound, and the owner isn't yet
	slotsTaken map[int32]bool          // owner nodes whose left slots were handled
	slotsSeen  map[int32]bool          // variable nodes whose slots were handled
	unused     map[int32][]string      // by bound node: attributes that the object doesn't take

	restored   []done
	attrs      []string // of restored
	missing    []Item
	mismatched []Item
	written    []Item // variables that were written since they were made
	writtenIn  []*trackable.Variable
	err        error // a saver that is absent, or refuses an object

	queue []queued
	last  bundle.Handle // the value found last
}

// start is a node and the object bound to it.
type start struct {
	node  int32
	obj   any
	again bool // the object is already bound to another node, whose value it gets
}

// queued is a node that was bound.
type queued struct {
	node  int32
	row   int32 // how many queued nodes, from this one on, are known to be variables without edges
	again bool  // as in start
}

// done is a value that an object gets, or has from a later restore already. Or it is a run:
// consecutive values of match.values, in one done because there may be very many.
type done struct {
	node   int32         // of a run: the index of its first value in match.values
	tensor bundle.Handle // none: the saver reads its own values
	attr   int32         // its index in attrs plus 1; 0 for a variable's value
	run    int32         // how many values are in the run; 0: it is none
}

// valueReads are values that are read into variables. There may be very many, so
// they are stored in the form that locking and reading need.
type valueReads struct {
	vars  []*trackable.Variable
	whole []bundle.Handle // by variable: the tensor
	nodes []int32         // by variable: its node
	fresh []freshRead     // values of variables that have none yet
}

// freshRead is a value that goes into a variable without one.
type freshRead struct {
	v      *trackable.Variable
	tensor bundle.Handle
	node   int32
}

// each yields the variables, their nodes and the tensors to read for them.
func (r *valueReads) each(f func(v *trackable.Variable, node int32, tensor bundle.Handle)) {
	for i, v := range r.vars {
		f(v, r.nodes[i], r.whole[i])
	}
	for _, x := range r.fresh {
		f(x.v, x.node, x.tensor)
	}
}

// add adds a value; fresh means that the variable has none yet.
func (r *valueReads) add(v *trackable.Variable, node int32, tensor bundle.Handle, fresh bool) {
	if fresh {
		r.fresh = append(r.fresh, freshRead{v, tensor, node})
		return
	}
	r.vars = append(r.vars, v)
	r.whole = append(r.whole, tensor)
	r.nodes = append(r.nodes, node)
}

// join appends values.
func (r *valueReads) join(more *valueReads) {
	r.vars = append(r.vars, more.vars...)
	r.whole = append(r.whole, more.whole...)
	r.nodes = append(r.nodes, more.nodes...)
	r.fresh = append(r.fresh, more.fresh...)
}

// grow reserves space for n more values.
func (r *valueReads) grow(n int) {
	r.vars, r.whole, r.nodes = slices.Grow(r.vars, n), slices.Grow(r.whole, n), slices.Grow(r.nodes, n)
}

// part returns an empty list in the unused capacity of r: from the index len+from
// to len+to. Values that are added to it are in r once r is made so long.
func (r *valueReads) part(from, to int) valueReads {
	return valueReads{vars: space(r.vars, from, to), whole: space(r.whole, from, to), nodes: space(r.nodes, from, to)}
}

// space returns an empty slice of a part of the unused capacity of list.
func space[T any](list []T, from, to int) []T {
	n := len(list)
	return list[:n+to][n+from : n+from : n+to]
}

// newSlot is a slot variable that apply creates.
type newSlot struct {
	owner trackable.SlotOwner
	v     *trackable.Variable
	name  string
	node  int32  // of the slot variable; noNode in a name-based checkpoint
	key   string // of its value
}

// serialRead is the restore of an object that takes its values by name.
type serialRead struct {
	s    trackable.Serializer
	node int32
	keys map[string]string // attribute → key
}

func (s *serialRead) names() []string { return slices.Sorted(maps.Keys(s.keys)) }

// match binds the object of each start to its node, and everything below as far as
// objects and nodes have the same edges.
func (l *load) match(ctx context.Context, late bool, starts ...start) (*match, error) {
	var bound bindings
	if l.bound.len() == 0 { // a delivery binds a few nodes, the first match most of them
		bound = bindingsFor(len(l.graph.nodes))
	}
	m := &match{
		l: l, late: late, bound: bound,
		slotsLeft: map[int32][]pendingSlot{}, slotsTaken: map[int32]bool{}, slotsSeen: map[int32]bool{},
		optimizer: map[any]bool{}, unused: map[int32][]string{},
	}
	for _, s := range starts {
		m.bind(s.node, s.obj)
	}
	// alone is the number of nodes at the front of the queue that are taken one by one
	// before row is asked again.
	for alone := 0; len(m.queue) > 0 && m.err == nil; alone-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if alone <= 0 {
			if alone = m.row(); alone >= 2*rowBatch {
				if err := m.takeNodes(ctx, alone); err != nil {
					return nil, err
				}
				alone = 0
				continue
			}
			alone++ // the row's nodes, and the next one, at which it ended
		}
		obj, _ := m.bound.get(m.queue[0].node)
		s := start{m.queue[0].node, obj, m.queue[0].again}
		m.queue = m.queue[1:]
		n := l.graph.node(s.node)
		m.take(s, &n)
		if err := m.finish(ctx, s, &n); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// finish continues with the edges of an object after take.
func (m *match) finish(ctx context.Context, s start, n *graphNode) error {
	if err := m.descend(ctx, s, n); err != nil {
		return fmt.Errorf("checkpoint: %s: %w", m.l.graph.human(s.node), err)
	}
	m.slots(s)
	return nil
}

// lookup returns the object bound to a node, by this match or before.
func (m *match) lookup(node int32) (any, bool) {
	if obj, ok := m.bound.get(node); ok {
		return obj, true
	}
	return m.l.bound.get(node)
}

// bind records that obj is node, and queues it if that is new. A node that is
// bound to another object stays so: the file has one object for two of the
// program.
func (m *match) bind(node int32, obj any) {
	if old, ok := m.lookup(node); ok {
		if trackable.Identity(old) != trackable.Identity(obj) {
			m.clashes = append(m.clashes, clash{node, obj})
		}
		return
	}
	m.bindNew(node, obj)
}

// bindNew works like bind, for a node that isn't bound yet.
func (m *match) bindNew(node int32, obj any) {
	m.bound.set(node, obj)
	m.queue = append(m.queue, queued{node: node, again: m.objects.add(obj)})
}

// take plans the reads into one object. In this function and those that it calls, current is false
// if the object's values stay: those of a later restore, or those of another node that it is bound to.
func (m *match) take(s start, n *graphNode) {
	l := m.l
	if l.opts.SkipIterators && isIterator(n) {
		return
	}
	current := !s.again && l.ck.stamp(s.obj) < l.order
	if n.saver.name != "" {
		m.takeRegistered(s, n, current)
		return
	}
	if n.attributes > 0 {
		if name, saver := m.savedBy(s.obj); saver != nil {
			// The checkpoint was saved before the object's class had a saver. It restores from
			// the key of the object's first attribute.
			m.add(s.node, bundle.Handle{}, "")
			if current {
				m.stamped = append(m.stamped, s.obj)
				m.savers.add(name, saver, n.attribute.key, s.obj)
			}
			return
		}
	}
	if ser, ok := s.obj.(trackable.Serializer); ok {
		m.takeSerializer(s, ser, current)
		return
	}
	v := variableOf(s.obj)
	if v != nil && n.attributes == 1 && n.attribute.name == trackable.VariableValue {
		m.takeValue(s, v, n.attribute.key, current)
		return
	}
	has := false
	for a := range l.graph.attributes(s.node) {
		if v != nil && a.name == trackable.VariableValue {
			has = true
			m.takeValue(s, v, a.key, current)
		} else if len(l.src.keysOf(a.key)) > 0 {
			m.unused[s.node] = append(m.unused[s.node], a.name)
		}
	}
	if v != nil && !has {
		m.missing = append(m.missing, Item{Path: l.graph.human(s.node), Attribute: trackable.VariableValue,
			Why: "the checkpoint has an object here that is no variable"})
	}
}

// isIterator reports whether a node is an iterator's, Cairn's or TensorFlow's.
func isIterator(n *graphNode) bool {
	return n.attributes == 1 && iteratorAttribute(n.attribute.name)
}

func iteratorAttribute(name string) bool {
	return name == "CAIRN_ITERATOR_STATE" || name == "ITERATOR"
}

// savedBy returns the registered saver that is in charge of an object and restores.
func (m *match) savedBy(obj any) (string, *Saver) {
	if m.l.ck.o.Savers.none() {
		return "", nil
	}
	return m.l.ck.o.Savers.find(obj, restores)
}

// add records a value for an object: the attribute of that name, VariableValue for
// most.
func (m *match) add(node int32, tensor bundle.Handle, attr string) {
	d := done{node: node, tensor: tensor}
	if attr != trackable.VariableValue {
		m.attrs = append(m.attrs, attr)
		d.attr = int32(len(m.attrs))
	}
	m.addDone(d)
}

// addDone records values for objects.
func (m *match) addDone(d done) {
	if n := len(m.restored); n > 0 && d.run > 0 {
		if last := &m.restored[n-1]; last.run > 0 && last.node+last.run == d.node {
			last.run += d.run
			return
		}
	}
	m.restored = append(m.restored, d)
}

// takeValue plans the read of the tensor key into v.
func (m *match) takeValue(s start, v *trackable.Variable, key string, current bool) {
	found, ok := m.l.src.reader.FindAfter(key, m.last)
	if !ok {
		m.missing = append(m.missing, m.missingKey(s.node, key))
		return
	}
	m.last = found
	m.takeFound(s, v, found, current)
}

// takeFound works like takeValue, for a value that was found.
func (m *match) takeFound(s start, v *trackable.Variable, found bundle.Handle, current bool) {
	reader := m.l.src.reader
	dtype, shape := reader.KindOf(found)
	valued, err := internals.Takes(v, dtype, shape)
	if err != nil {
		entry := reader.EntryOf(found)
		m.mismatched = append(m.mismatched, Item{
			Path: m.l.graph.human(s.node), Attribute: trackable.VariableValue, Key: entry.Name,
			DType: entry.DType, Shape: entry.Shape, Why: mismatchWords(v, entry)})
		return
	}
	if m.late && current && internals.Written(v) {
		if !m.l.expectPartial {
			m.writtenIn = append(m.writtenIn, v)
			m.written = append(m.written, Item{Path: m.l.graph.human(s.node), Attribute: trackable.VariableValue,
				Key: reader.Request(found).Name, DType: dtype, Shape: slices.Clone(shape)})
		}
		return
	}
	if current {
		if _, plain := s.obj.(*trackable.Variable); !plain || !valued {
			m.stamped = append(m.stamped, s.obj) // others get it with the value
		}
	}
	if current && valued {
		m.addDone(done{node: int32(len(m.values.whole)), run: 1})
	} else {
		m.add(s.node, found, trackable.VariableValue)
	}
	if current {
		m.values.add(v, s.node, found, !valued)
	}
}

// mismatchWords returns the text for a variable whose value in the checkpoint has another type or shape.
func mismatchWords(v *trackable.Variable, e bundle.Entry) string {
	return fmt.Sprintf("the variable holds %s, the checkpoint %s", describe(v.DType(), v.Shape()), describe(e.DType, e.Shape))
}

func (m *match) missingKey(node int32, key string) Item {
	it := Item{
		Path: m.l.graph.human(node), Attribute: trackable.VariableValue, Key: key,
		Why: "the object graph names this key, but the checkpoint has no such tensor"}
	if len(m.missing) < maxListed { // more aren't shown
		it.Nearest = nearest.Names(key, m.l.src.names(), 3)
	}
	return it
}

// takeSerializer plans the reads of the attributes that a Serializer names.
func (m *match) takeSerializer(s start, ser trackable.Serializer, current bool) {
	names, err := attributesOf(s.obj)
	if err != nil {
		m.err = fmt.Errorf("checkpoint: %s: asking for its values: %w", m.l.graph.human(s.node), err)
		return
	}
	r := serialRead{s: ser, node: s.node, keys: map[string]string{}}
	matched := map[string]bool{}
	var inFile []string
	for a := range m.l.graph.attributes(s.node) {
		inFile = append(inFile, a.name)
		// The key in the graph may be the prefix of several keys: a table's "table"
		// represents "table-keys" and "table-values".
		for _, key := range m.l.src.keysOf(a.key) {
			local := rawName(a.name) + strings.TrimPrefix(key, a.key)
			if !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(local, name) }) {
				m.unused[s.node] = append(m.unused[s.node], local)
				continue
			}
			matched[local] = true
			r.keys[local] = key
			tensor, _ := m.l.src.reader.Find(key)
			m.add(s.node, tensor, local)
		}
	}
	for _, name := range names {
		if !hasPrefixIn(matched, name) && !slices.Contains(inFile, trackable.Escape(name)) {
			m.missing = append(m.missing, Item{Path: m.l.graph.human(s.node), Attribute: name,
				Why: "the object saves this attribute, the checkpoint has none of that name", Nearest: nearest.Names(name, inFile, 3)})
		}
	}
	if current {
		m.stamped = append(m.stamped, s.obj)
		m.serials = append(m.serials, r)
	}
}

// rawName returns an attribute's name before TensorFlow escaped it. Any other name
// is returned as it is.
func rawName(name string) string {
	if raw, ok := trackable.Unescape(name); ok {
		return raw
	}
	return name
}

func hasPrefixIn(set map[string]bool, prefix string) bool {
	for s := range set {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// maxParts limits the number of tensors for one attribute's key. TensorFlow's tables
// have two. Further ones are ignored.
const maxParts = 64

// keysOf returns the tensors for an attribute's key: the one of that name, or
// else those whose names begin with it and have no "/" after that.
func (s source) keysOf(key string) []string {
	if _, ok := s.reader.Entry(key); ok {
		return []string{key}
	}
	if key == "" {
		return nil
	}
	names := s.names()
	i := sort.SearchStrings(names, key)
	j := i
	for j < len(names) && j-i < maxParts && strings.HasPrefix(names[j], key) && !strings.Contains(names[j][len(key):], "/") {
		j++
	}
	return names[i:j]
}

// takeRegistered plans the restore of an object that was saved by a registered
// saver.
func (m *match) takeRegistered(s start, n *graphNode, current bool) {
	l := m.l
	name := n.saver.name
	saver, ok := l.ck.o.Savers.Lookup(name)
	switch {
	case !ok:
		m.err = &SaverError{Path: l.src.path, Object: l.graph.human(s.node), Saver: name, Registered: l.ck.o.Savers.Names()}
		return
	case !saver.Matches(s.obj):
		if !saver.Lenient {
			m.err = &SaverError{Path: l.src.path, Object: l.graph.human(s.node), Saver: name, Refused: fmt.Sprintf("%T", s.obj)}
		}
		return
	case saver.Restore == nil:
		// The default: the value has the key that a default save uses.
		if v := variableOf(s.obj); v != nil {
			m.takeValue(s, v, trackable.AttributeKey(n.saver.object, trackable.VariableValue), current)
		} else if ser, ok := s.obj.(trackable.Serializer); ok {
			m.takeSerializer(s, ser, current)
		}
		return
	}
	m.add(s.node, bundle.Handle{}, name)
	if current {
		m.stamped = append(m.stamped, s.obj)
		m.savers.add(name, &saver, n.saver.object, s.obj)
	}
}

// descend binds or defers the children of a node.
func (m *match) descend(ctx context.Context, s start, n *graphNode) error {
	m.declared(s)
	if v, ok := s.obj.(*trackable.Variable); ok && n.children == 0 && !internals.HasEdges(v.TrackableNode()) {
		return nil // there may be very many
	}
	if list, ok := m.l.ck.listOf(s.obj); ok {
		if done, err := m.bindList(ctx, s, list); done || err != nil {
			return err
		}
	}
	edges, err := m.l.ck.children(s.obj)
	if err != nil {
		return err
	}
	m.reserve(min(n.children, len(edges)))
	at := edgeFinder{edges: edges}
	id := trackable.Identity(s.obj)
	_, owner := s.obj.(trackable.SlotOwner)
	owner = owner || m.l.optimizer[id] || m.optimizer[id]
	for c := range m.l.graph.children(s.node) {
		child, ok := at.find(c.name)
		if ok && owner && variableOf(child) == nil {
			m.optimizer[trackable.Identity(child)] = true
		}
		if _, taken := m.lookup(c.node); taken {
			if ok {
				m.bind(c.node, child) // notes a clash
			}
			continue
		}
		if ok {
			m.bindNew(c.node, child)
		} else if m.l.graph.hasValue(c.node) {
			m.pending = append(m.pending, &pendingEdge{
				parent: s.obj, edge: c.name, node: c.node,
				accepts: internals.Accepts(s.obj, c.name), plain: plainEdge(s.obj, c.name),
			})
		}
	}
	m.noteBound(s, len(edges), at.found)
	return nil
}

// reserve makes space for n more objects. n is the smaller of the file's number and
// the program's, so that a hostile file can't make it large.
func (m *match) reserve(n int) {
	const many = 64
	if n < many {
		return
	}
	m.objects.grow(n)
	m.queue = slices.Grow(m.queue, n)
	m.values.grow(n)
}

// edgeFinder finds edges by their names. A file mostly has them in the order of
// the program.
type edgeFinder struct {
	edges  []trackable.Edge
	next   int    // index of the edge that is compared first
	found  int    // how many edges were found
	seen   []bool // which they were; nil: those before next
	byName map[string]int
}

// find returns the child of an edge, and counts the edges that were found.
func (f *edgeFinder) find(name string) (child any, ok bool) {
	if f.next >= len(f.edges) || f.edges[f.next].Name != name {
		if f.byName == nil {
			f.byName = make(map[string]int, len(f.edges))
			for i, e := range f.edges {
				f.byName[e.Name] = i
			}
			f.seen = make([]bool, len(f.edges))
			for i := range f.next {
				f.seen[i] = true
			}
		}
		i, ok := f.byName[name]
		if !ok {
			return nil, false
		}
		f.next = i
	}
	if f.seen == nil {
		f.found++
	} else if !f.seen[f.next] {
		f.seen[f.next] = true
		f.found++
	}
	f.next++
	return f.edges[f.next-1].Child, true
}

// plainEdge reports whether edge can appear without a call to obj's Node: by an
// assignment to a field, a slice or a map.
func plainEdge(obj any, edge string) bool {
	if _, ok := obj.(trackable.Noder); !ok || internals.HasPlace(obj, edge) {
		return true
	}
	if _, ok := obj.(trackable.SlotOwner); ok {
		return false // optimizers attach their variables
	}
	if _, tells := obj.(interface{ TellsOfChildren() }); tells {
		return false
	}
	_, listed := obj.(trackable.Parent)
	return listed
}

// declared compares the variables that an object will create with those that
// the file has for it.
func (m *match) declared(s start) {
	if !internals.Declares(s.obj) {
		return
	}
	l := m.l
	nodes := map[string]int32{}
	for c := range l.graph.children(s.node) {
		nodes[c.name] = c.node
	}
	has := func(edge string) bool { _, ok := nodes[edge]; return ok }
	list, _ := internals.Declare(s.obj, has)
	for _, v := range list {
		it := declaredItem(below(l.graph.human(s.node), v.Edge), s.obj)
		node, ok := nodes[v.Edge]
		if !ok {
			m.missing = append(m.missing, it)
			continue
		}
		key, ok := l.graph.value(node)
		if !ok {
			continue
		}
		e, ok := l.src.reader.Entry(key)
		if ok && !fits(v, e) {
			it.Key, it.DType, it.Shape = key, e.DType, e.Shape
			it.Why = fmt.Sprintf("the %T will make %s, the checkpoint has %s", s.obj, describe(v.DType, v.Shape), describe(e.DType, e.Shape))
			m.mismatched = append(m.mismatched, it)
		}
	}
}

// fits reports whether an entry can be the value of a declared variable. DType Invalid and a nil shape mean any.
func fits(v trackable.Declared, e bundle.Entry) bool {
	return (v.DType == tensor.Invalid || v.DType == e.DType) && (v.Shape == nil || v.Shape.Accepts(e.Shape))
}

func declaredItem(path string, obj any) Item {
	return Item{Path: path, Attribute: trackable.VariableValue,
		Why: fmt.Sprintf("the %T isn't built yet and will make it, the checkpoint has no value for it", obj)}
}

// below returns the path of an edge of the object at path.
func below(path, edge string) string {
	if path == "(root)" {
		return edge
	}
	return path + "." + edge
}

// slots binds the slot variables whose owner and variable are both bound now that s
// is: s is one of the two.
func (m *match) slots(s start) {
	l := m.l
	if left := l.slotsLeft[s.node]; len(left) > 0 && !m.slotsTaken[s.node] {
		m.slotsTaken[s.node] = true
		for _, w := range left {
			m.slot(s.obj, w)
		}
	}
	if left := m.slotsLeft[s.node]; len(left) > 0 {
		delete(m.slotsLeft, s.node)
		for _, w := range left {
			m.slot(s.obj, w)
		}
	}
	slots := l.slotsOf[s.node]
	if len(slots) == 0 || m.slotsSeen[s.node] {
		return
	}
	m.slotsSeen[s.node] = true
	for _, w := range slots {
		w.variable = s.obj
		if owner, ok := m.lookup(w.owner); ok {
			m.slot(owner, w)
		} else {
			m.slotsLeft[w.owner] = append(m.slotsLeft[w.owner], w)
		}
	}
}

// slot binds a slot variable that the owner has, or plans one that apply makes. A value that fits neither stays
// unused.
func (m *match) slot(owner any, w pendingSlot) {
	o, ok := owner.(trackable.SlotOwner)
	v := variableOf(w.variable)
	if !ok || v == nil {
		return // stays unused
	}
	if slot := o.Slot(v, w.name); slot != nil {
		m.bind(w.slot, slot)
		return
	}
	key, simple := m.l.graph.value(w.slot)
	if _, taken := m.lookup(w.slot); taken || !simple || !slices.Contains(o.SlotNames(), w.name) {
		return
	}
	tensor, ok := m.l.src.reader.Find(key)
	if !ok {
		m.missing = append(m.missing, m.missingKey(w.slot, key))
		return
	}
	m.bound.set(w.slot, slotToBe{})
	m.newSlots = append(m.newSlots, newSlot{o, v, w.name, w.slot, key})
	m.add(w.slot, tensor, trackable.VariableValue)
}

// slotToBe represents, in a match, a slot variable that apply will create.
type slotToBe struct{ _ byte }

// refuse returns the error of a delivery that can't be made, or nil if it can.
func (m *match) refuse() error {
	if m.err != nil {
		return m.err
	}
	missing := m.missing
	if m.l.opts.AllowMissing {
		missing = nil
	}
	switch {
	case m.l.expectPartial:
		return nil
	case len(missing)+len(m.mismatched) > 0:
		return &RestoreError{Path: m.l.src.path, Missing: missing, Mismatched: m.mismatched, Late: true}
	case len(m.written) > 0:
		return &WrittenError{Path: m.l.src.path, Written: m.written, variables: m.writtenIn}
	}
	return nil
}

// commit writes the match's results into the load. The caller holds the load's
// lock.
func (m *match) commit() {
	l := m.l
	if l.bound.len() == 0 { // the first match: there may be millions
		l.bound = m.bound
	} else {
		for node, obj := range m.bound.each() {
			l.bound.set(node, obj)
		}
	}
	l.objects.addAll(m.objects)
	for id := range m.optimizer {
		l.optimizer[id] = true
	}
	l.clashes = append(l.clashes, m.clashes...)
	for node := range m.slotsTaken {
		delete(l.slotsLeft, node)
	}
	for owner, w := range m.slotsLeft {
		l.slotsLeft[owner] = append(l.slotsLeft[owner], w...)
	}
	for node := range m.slotsSeen {
		delete(l.slotsOf, node)
	}
	for node, attrs := range m.unused {
		l.unused[node] = append(l.unused[node], attrs...)
	}
	for _, w := range m.pending {
		if l.bound.has(w.node) {
			continue
		}
		l.wait(w)
		l.pendingOf[w.node] = append(l.pendingOf[w.node], w)
	}
	// Nodes that were pending over one edge may be bound over another now.
	if len(l.pendingOf) > 0 {
		for node := range m.bound.each() {
			for _, w := range l.pendingOf[node] {
				delete(l.pending, edgeKey{trackable.Identity(w.parent), w.edge})
			}
			delete(l.pendingOf, node)
		}
	}
	for _, h := range m.holders {
		l.watch(h.node, h.obj)
	}
}
