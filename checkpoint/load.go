package checkpoint

import (
	"context"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/restoring"
	"github.com/cairnml/cairn/trackable"
)

// load is one restore: the mapping of the file's nodes to objects, and the
// values still pending. It lives as long as values are pending, because
// deliveries go through it. The latest restore of a Checkpoint also guards the
// objects against variables without a value.
//
// Matching and changing are separate: a match (match.go) reads only the graph
// and the index and plans the restore; apply (apply.go) executes it. Files
// deliver.go and watch.go decide when deliveries happen.
type load struct {
	ck    *Checkpoint
	order uint64 // the number of this restore; a later one has a higher number
	opts  RestoreOptions
	src   source
	graph *objectGraph // nil: a name-based checkpoint

	guards atomic.Bool // strict, and the latest restore of its Checkpoint
	ended  atomic.Bool // a later restore has taken its place, nothing is pending

	mu    sync.Mutex // guards the fields below
	bound bindings
	// Which objects are bound, by identity. An object bound to two nodes counts
	// once.
	objects objectSet
	covered *covered // nil: the first match left objects of the program out
	// Objects for whose node in the file the walk found that it is bound to another
	// object already.
	clashes   []clash
	pending   map[edgeKey]*pendingEdge
	pendingOf map[int32][]*pendingEdge // the same by node
	waited    int                      // the next pendingEdge.number
	// Optimizers, and the objects below them other than variables. The variables
	// that they create may start fresh.
	optimizer map[any]bool
	watched   map[any]bool // objects whose Nodes have a pending of this load
	// Slots to restore once the variable's node is bound, and once the owner's is
	// as well.
	slotsOf   map[int32][]pendingSlot // by variable node
	slotsLeft map[int32][]pendingSlot // by owner node, the variable is bound
	// A later restore has all slots that are left.
	slotsReplaced bool
	// Attributes of bound nodes that no object took.
	unused        map[int32][]string
	partial       bool // pending values needn't ever be delivered
	expectPartial bool // ExpectPartial was called: values that don't fit are left in the file
	// Of a name-based restore: the names that variables have, and whether plain
	// assignments may bring more of them.
	usedNames   map[string]bool
	scalarNames []string               // the file's, once asked for
	counted     objectSet              // objects that go on from names of the file
	promised    map[string]bool        // names that the report listed as deferred: they stay deferred
	open        bool                   // an object may still make variables that aren't known
	mayName     func(name string) bool // whether a variable may still get the name
}

// edgeKey identifies an edge by its parent and its name.
type edgeKey struct {
	parent any // identity
	edge   string
}

// pendingEdge is an edge of the file that a bound object doesn't have yet.
type pendingEdge struct {
	parent  any
	edge    string
	node    int32
	number  int // counts the load's edges in the order in which they became pending
	accepts restoring.Acceptance
	// Whether the edge can appear without the parent's Node being asked: by an
	// assignment to a field, a slice or a map.
	plain bool
	// A later restore has something pending there too, which wins.
	superseded bool
	// The later restore has a value for all that this one has a value for.
	replaced bool
}

// pendingSlot is a slot variable in the file whose optimizer or variable isn't bound yet.
type pendingSlot struct {
	name     string // of the slot, such as "momentum"
	owner    int32  // node of the optimizer
	slot     int32  // node of the slot variable
	variable any    // the bound variable, once known
}

// clash is an object whose node in the file is bound to another object.
type clash struct {
	node int32
	obj  any
}

// source locates a checkpoint.
type source struct {
	reader *bundle.Reader
	names  func() []string // the reader's, made once
	fsys   fs.FS
	prefix string // in fsys
	path   string // as the user wrote it, for reports

	maxMemory int64 // the reader's option MaxMemory
}

// newLoad prepares a restore from src. Its graph isn't read yet, nothing is bound.
func (ck *Checkpoint) newLoad(src source, o RestoreOptions) *load {
	return &load{
		ck: ck, opts: o, src: src,
		pending: map[edgeKey]*pendingEdge{}, pendingOf: map[int32][]*pendingEdge{},
		slotsOf: map[int32][]pendingSlot{}, slotsLeft: map[int32][]pendingSlot{},
		unused: map[int32][]string{}, usedNames: map[string]bool{}, promised: map[string]bool{},
		optimizer: map[any]bool{}, watched: map[any]bool{},
		partial: o.Partial,
		order:   restoreOrders.Add(1),
	}
}

// readGraph reads the file's graph, if it has one.
func (l *load) readGraph(ctx context.Context) error {
	g, err := readGraph(ctx, l.src)
	if err != nil {
		return err
	}
	l.graph = g
	if g == nil || l.opts.SkipSlots {
		return nil
	}
	count := map[int32]int{}
	for _, id := range g.owners {
		for s := range g.slots(id) {
			count[s.variable]++
		}
	}
	for _, id := range g.owners {
		for s := range g.slots(id) {
			v := s.variable
			if l.slotsOf[v] == nil {
				l.slotsOf[v] = make([]pendingSlot, 0, count[v]) // a list that grows takes three times as much
			}
			l.slotsOf[v] = append(l.slotsOf[v], pendingSlot{name: s.name, owner: id, slot: s.slot})
		}
	}
	return nil
}

// wait makes an edge pending. The caller holds l's lock, or has the only reference to l.
func (l *load) wait(w *pendingEdge) {
	w.number = l.waited
	l.waited++
	l.pending[edgeKey{trackable.Identity(w.parent), w.edge}] = w
}

// hasPending reports whether something of l can still be delivered.
func (l *load) hasPending() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.graph == nil {
		return len(l.usedNames) < l.src.reader.Len()
	}
	for _, w := range l.pending {
		if !w.replaced {
			return true
		}
	}
	return len(l.slotsLeft) > 0 && !l.slotsReplaced
}
