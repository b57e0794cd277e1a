package trackable

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/tensor"
)

// Edges must stay in the order in which they were attached, by which files number the
// objects. Package checkpoint uses Nodes; structs of programs and of keras embed Base.

// Base makes a struct a node that can be attached to while the program runs.
// It is embedded; the zero Base is ready.
type Base struct{ node Node }

// TrackableNode returns the object's state in the object graph.
func (b *Base) TrackableNode() *Node { return &b.node }

// VariableSpec describes a variable for [Base.AddVariable].
type VariableSpec struct {
	// DType is the type of the elements. Default: float32.
	DType tensor.DType
	// Shape is the shape, all sizes known. Default: a scalar's.
	Shape tensor.Shape
	// Open is the shape with -1 for sizes that later values may change, as in
	// [Variable.SetShape]. Default: none may.
	Open tensor.Shape
	// Init returns the initial value, of that type and shape. It isn't called if a
	// restored checkpoint has the value. Default: zeros.
	Init func() (*tensor.Tensor, error)
	// NotTrainable excludes the variable from training. Default: false.
	NotTrainable bool
	// Name is the variable's part of its full name, below its scopes; with a
	// leading "/" it is the whole name. Default: the edge.
	Name string
}

// AddVariable creates a variable, stores it in *dst (unless nil) and tracks it
// as edge. If a restore has a value pending for that edge, it is the variable's
// initial value and spec.Init isn't called. Errors are a second variable on the
// same edge, a pending value of another type or shape, and a variable for which
// a strict restore of the object has no value.
func (b *Base) AddVariable(dst **Variable, edge string, spec VariableSpec) error {
	return b.node.addVariable(dst, edge, spec)
}

// Attach tracks child as edge, and restores its values in a checkpoint at once.
// Another object on the same edge is an error; the same one again is not.
func (b *Base) Attach(edge string, child Trackable) error { return b.node.Attach(edge, child) }

// Node is an object's state in the object graph: edges attached while the
// program runs, and the restores that are pending for more of them. The zero
// Node is ready to use; it must not be copied.
//
// Package checkpoint writes stamp, pending and fault, through [Internal].
// [Base.AddVariable] also stamps a variable whose first value is a restored one.
type Node struct {
	stamp   atomic.Uint64 // order of the latest restore that set the object's values
	linked  atomic.Bool   // there are edges
	mu      sync.Mutex
	edges   []Edge
	byName  map[string]int
	pending []Pending // by order, the latest restore first
	fault   error     // why no variable can be made below the object
}

// Edges returns the attached edges in order; fields are not among them.
func (n *Node) Edges() []Edge {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.edges)
}

// hasEdges reports whether there are attached edges.
func (n *Node) hasEdges() bool { return n.linked.Load() }

// Attach works like [Base.Attach].
func (n *Node) Attach(edge string, child Trackable) error {
	if err := checkTrackable(child); err != nil {
		return fmt.Errorf("trackable: attaching %q: %w", edge, err)
	}
	return n.Add(child, func() (string, error) { return edge, n.put(edge, child, false) })
}

// put sets the child of an edge. Unless replace is set, another child on the edge is an error.
func (n *Node) put(edge string, child Trackable, replace bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i, ok := n.byName[edge]; ok {
		if Identity(n.edges[i].Child) == Identity(child) {
			return nil
		}
		if !replace {
			return &DuplicateEdgeError{Edge: edge}
		}
		n.edges[i].Child = child
		edgesAttached.Add(1)
		return nil
	}
	if n.byName == nil {
		n.byName = map[string]int{}
	}
	n.byName[edge] = len(n.edges)
	n.edges = append(n.edges, Edge{edge, child})
	n.linked.Store(true)
	edgesAttached.Add(1)
	return nil
}

var edgesAttached atomic.Uint64

// attachedEdges counts the edges that Nodes got so far in the process, replaced
// ones included. While the count is unchanged, no object has a new child that is
// in no field, slice, map or list.
func attachedEdges() uint64 { return edgesAttached.Load() }

// DuplicateEdgeError reports that an object already has a child on an edge.
type DuplicateEdgeError struct{ Object, Edge string }

// Error names the edge.
func (e *DuplicateEdgeError) Error() string {
	if e.Object != "" {
		return fmt.Sprintf("trackable: %s has two different children called %q; rename one with a tag `cairn:\"name\"`", e.Object, e.Edge)
	}
	return fmt.Sprintf("trackable: there is another object called %q already", e.Edge)
}
