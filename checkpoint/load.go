package checkpoint

import (
	"context"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// load is one restore: which node of the file is which object, and what still
// waits. It lives on as long as something waits, because deliveries go through
// it.
//
// Matching and changing are apart: a match (match.go) looks at the graph and at
// the index only and collects what to do; apply (apply.go) does it.
type load struct {
	ck    *Checkpoint
	order uint64
	opts  RestoreOptions
	src   source
	graph *objectGraph // nil: a name-based checkpoint

	mu    sync.Mutex // guards what follows
	bound map[int32]any
	// Which objects are bound, by identity. An object bound to two nodes counts
	// once.
	objects map[any]bool
	// Objects that the walk met where the file has a node that is bound to
	// another object already.
	clashes  []clash
	waiting  map[waitKey]*wait
	waitsFor map[int32][]*wait // the same by node
	// Slots to restore once the variable's node is bound, and once the owner's is
	// as well.
	slotsOf   map[int32][]slotWait // by variable node
	slotsLeft map[int32][]slotWait // by owner node, the variable is bound
	// Attributes of bound nodes that no object took.
	unused  map[int32][]string
	partial bool // ExpectPartial was said
	// Names that a name-based restore has used.
	usedNames map[string]bool
}

type waitKey struct {
	parent any // identity
	edge   string
}

// wait is an edge of the file that a bound object doesn't have yet.
type wait struct {
	parent any
	edge   string
	node   int32
	claim  trackable.Claim
	pend   *pending // queued in the parent's Node, nil where it has none
}

type slotWait struct {
	name     string
	owner    int32
	slot     int32
	variable any // the bound variable, once known
}

type clash struct {
	node int32
	obj  any
}

// source is where a checkpoint lies.
type source struct {
	reader *bundle.Reader
	names  func() []string // the reader's, made once
	fsys   fs.FS
	prefix string // in fsys
	path   string // as the user wrote it, for reports
}

// simple reports whether a node is a lone variable's value.
func (g *objectGraph) simple(node int32) bool {
	n := g.nodes[node]
	return len(n.Attributes) == 1 && n.Attributes[0].Name == trackable.VariableValue && len(n.Children) == 0 && n.RegisteredSaver == nil
}

// newLoad prepares a restore from src. Nothing is bound yet.
func (ck *Checkpoint) newLoad(ctx context.Context, src source, o RestoreOptions) (*load, error) {
	l := &load{
		ck: ck, opts: o, src: src,
		bound: map[int32]any{}, objects: map[any]bool{}, waiting: map[waitKey]*wait{}, waitsFor: map[int32][]*wait{},
		slotsOf: map[int32][]slotWait{}, slotsLeft: map[int32][]slotWait{},
		unused: map[int32][]string{}, usedNames: map[string]bool{},
	}
	g, err := readGraph(ctx, src)
	if err != nil {
		return nil, err
	}
	l.graph = g
	l.order = restoreOrders.Add(1)
	if g != nil && !o.SkipSlots {
		for id, n := range g.nodes {
			for _, s := range n.SlotVariables {
				v := s.OriginalVariableNodeId
				l.slotsOf[v] = append(l.slotsOf[v], slotWait{name: s.SlotName, owner: int32(id), slot: s.SlotVariableNodeId})
			}
		}
	}
	return l, nil
}

// waits reports whether something of l can still be delivered.
func (l *load) waits() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting) > 0 || len(l.slotsLeft) > 0
}

// pending is what a parent's Node holds of a load: the part of the file behind
// one missing edge.
type pending struct {
	l    *load
	edge string
	node int32
	from any // the parent
}

// Order is the restore's order.
func (p *pending) Order() uint64 { return p.l.order }

// Initial reads the value of a variable that is about to be made.
func (p *pending) Initial() (*tensor.Tensor, bool, error) {
	if !p.l.graph.simple(p.node) {
		return nil, false, nil
	}
	key := p.l.graph.nodes[p.node].Attributes[0].CheckpointKey
	if _, ok := p.l.src.reader.Entry(key); !ok {
		return nil, false, nil
	}
	t, err := p.l.src.reader.Read(context.Background(), key)
	if err != nil {
		return nil, false, fmt.Errorf("checkpoint: restoring its first value from %s: %w", p.l.src.path, err)
	}
	return t, true, nil
}

// Deliver binds child to the node that waits and restores all below it.
func (p *pending) Deliver(child any) error {
	l := p.l
	l.mu.Lock()
	m, err := l.match(context.Background(), start{p.node, child})
	if err == nil {
		err = m.refuse()
	}
	if err != nil {
		l.mu.Unlock()
		return err
	}
	m.commit()
	l.mu.Unlock()
	return m.apply(context.Background())
}

// objectGraph is the object graph of a file, checked: every number in it is a
// node's.
type objectGraph struct {
	pb    *pb.TrackableObjectGraph
	nodes []*pb.TrackableObject

	once   sync.Once
	parent []int32 // by node: where the first path comes from; -1 none
	edge   []string
	slotOf map[int32][2]int32 // slot node → owner, variable
	slots  map[int32]string   // slot node → the slot's name
	spent  atomic.Int64       // bytes of paths given out
}
