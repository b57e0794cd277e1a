package trackable

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/cairnml/cairn/tensor"
)

// Trackable is anything that can be a node of the object graph: a pointer to a
// struct, a [Variable], a [List], a [Map]. The interface is empty because plain
// Go structs need no method to be tracked; [Children] says what is refused.
type Trackable = any

// Edge is a named reference from an object to one that it depends on.
type Edge struct {
	Name  string // the local name, not escaped
	Child Trackable
}

// Parent is met by objects that list their edges themselves instead of having
// their fields read. The order is the order in files. A struct that embeds a
// Parent adds its own fields behind the embedded edges, unless it has a
// TrackableChildren method of its own. Listing must not change the graph.
type Parent interface{ TrackableChildren() []Edge }

// Noder is met by structs that embed [Base].
type Noder interface{ TrackableNode() *Node }

// VariableLike is met by *[Variable] and by structs that embed one.
type VariableLike interface{ AsVariable() *Variable }

// Attribute is a named tensor of an object that saves several; see [Serializer].
type Attribute struct {
	// Name is what follows ".ATTRIBUTES/" in the key.
	Name string
	// Tensor is the value; nil writes none.
	Tensor *tensor.Tensor
	// Parts are values under Name and a suffix, for an attribute that the object
	// graph lists once though it is several tensors: a hash table's "table" is
	// "table-keys" and "table-values".
	Parts []AttributePart
}

// AttributePart is one tensor of an [Attribute] that has several.
type AttributePart struct {
	Suffix string // as it stands in the key
	Tensor *tensor.Tensor
}

// Serializer is met by objects that save other tensors than a variable's one
// value: tables, iterators, random generators. What SerializeToTensors gives is
// written under "<path>/.ATTRIBUTES/<name>"; RestoreFromTensors gets the tensors
// back by those names, suffixes included. A restore asks for the attributes too,
// to compare names before it reads a value.
type Serializer interface {
	SerializeToTensors() ([]Attribute, error)
	RestoreFromTensors(map[string]*tensor.Tensor) error
}

// Claimer is met by objects that know which edges they may still get: a layer
// that isn't built yet claims "kernel" and "bias". What a checkpoint holds for
// an edge that nobody may claim is reported at once as unused. Objects with a
// [Base] that are no Claimers may claim anything; objects without one only what
// their nil fields are called.
type Claimer interface{ MayClaim(edge string) bool }

// Untracked is met by objects that are no part of the object graph although
// their fields hold something trackable: functions, caches.
type Untracked interface{ NotTracked() }

// Scoped is met by objects that give automatic full names to the variables
// below them, as Keras models and layers do: a variable's name is the scopes on
// its first path, then its own part. An empty name means the type's in snake
// case, made unique depth first ("dense", "dense_1"). A name with a leading "/"
// drops the scopes above, so that "/" alone is no scope at all: a functional or
// sequential Keras model has that one.
type Scoped interface{ ScopeName() string }

// Pending is a part of a checkpoint that waits for an object; package checkpoint
// makes it and hands it to the [Node] of the object whose edge is missing.
type Pending interface {
	// Order grows with every restore; where several wait for one edge, the
	// highest wins.
	Order() uint64
	// Initial reads the value for a variable that is about to be made; ok is
	// false where what waits is not a lone variable's value.
	Initial() (t *tensor.Tensor, ok bool, err error)
	// Deliver restores child and all below it.
	Deliver(child Trackable) error
}

// Base makes a struct a node that can be attached to while the program runs.
// It is embedded; the zero Base is ready.
type Base struct{ node Node }

// TrackableNode is what the graph remembers about the object.
func (b *Base) TrackableNode() *Node { return &b.node }

// VariableSpec says what variable [Base.AddVariable] makes.
type VariableSpec struct {
	// DType is the type of the elements. Default: float32.
	DType tensor.DType
	// Shape is the shape, all sizes known. Default: a scalar's.
	Shape tensor.Shape
	// Init makes the first value, of that type and shape. It isn't called when a
	// checkpoint's value waits. Default: zeros.
	Init func() (*tensor.Tensor, error)
	// NotTrainable keeps optimizers off. Default: trainable.
	NotTrainable bool
	// Name is the variable's part of its full name, below the scopes it lies in;
	// with a leading "/" it is the whole name. Default: the edge.
	Name string
}

// AddVariable makes a variable, stores it in *dst (nil: nowhere) and tracks it
// as edge. Where a checkpoint's value waits for that edge, the variable is born
// with it and spec.Init isn't called. A second variable on the same edge, and a
// waiting value of another type or shape, are errors.
func (b *Base) AddVariable(dst **Variable, edge string, spec VariableSpec) error {
	return b.node.addVariable(dst, edge, spec)
}

// Attach tracks child as edge. What a checkpoint holds for it is restored at
// once. Another object on the same edge is an error; the same one again is not.
func (b *Base) Attach(edge string, child Trackable) error { return b.node.Attach(edge, child) }

// Node is what the object graph remembers about one object: edges attached
// while the program runs, and what waits to be restored. The zero Node is
// ready; it must not be copied.
type Node struct {
	mu      sync.Mutex
	edges   []Edge
	byName  map[string]int
	pending map[string][]Pending
	stamp   uint64
}

// Edges are the attached edges in order; fields are not among them.
func (n *Node) Edges() []Edge {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.edges)
}

// Attach is [Base.Attach].
func (n *Node) Attach(edge string, child Trackable) error {
	if err := checkTrackable(child); err != nil {
		return fmt.Errorf("trackable: attaching %q: %w", edge, err)
	}
	if err := n.put(edge, child, false); err != nil {
		return err
	}
	return n.Deliver(edge, child)
}

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
		return nil
	}
	if n.byName == nil {
		n.byName = map[string]int{}
	}
	n.byName[edge] = len(n.edges)
	n.edges = append(n.edges, Edge{edge, child})
	return nil
}

// Defer queues p until something is attached as edge.
func (n *Node) Defer(edge string, p Pending) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pending == nil {
		n.pending = map[string][]Pending{}
	}
	n.pending[edge] = append(n.pending[edge], p)
}

// Waits reports whether a part of a checkpoint waits for edge.
func (n *Node) Waits(edge string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.pending[edge]) > 0
}

// take removes what waits for edge, the latest restore first.
func (n *Node) take(edge string) []Pending {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.pending[edge]
	delete(n.pending, edge)
	slices.SortStableFunc(list, func(a, b Pending) int { return cmp.Compare(b.Order(), a.Order()) })
	return list
}

// Deliver restores child from all that waits for edge, the latest restore
// first, so that an earlier one can't overwrite it. What waits is gone then,
// also where it failed.
func (n *Node) Deliver(edge string, child Trackable) error {
	for _, p := range n.take(edge) {
		if err := p.Deliver(child); err != nil {
			return err
		}
	}
	return nil
}

// Forget removes p from what waits for edge.
func (n *Node) Forget(edge string, p Pending) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := slices.DeleteFunc(n.pending[edge], func(q Pending) bool { return p == q })
	if len(list) == 0 {
		delete(n.pending, edge)
	} else {
		n.pending[edge] = list
	}
}

// Stamp is the order of the latest restore that set the object's values, 0 for
// none.
func (n *Node) Stamp() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stamp
}

// SetStamp records that the restore with that order set the object's values.
func (n *Node) SetStamp(order uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stamp = order
}

func (n *Node) addVariable(dst **Variable, edge string, spec VariableSpec) error {
	if spec.DType == tensor.Invalid {
		spec.DType = tensor.Float32
	}
	if !spec.Shape.Known() {
		return fmt.Errorf("trackable: variable %q: shape %v has an unknown size", edge, spec.Shape)
	}
	n.mu.Lock()
	_, taken := n.byName[edge]
	var waits Pending
	for _, p := range n.pending[edge] {
		if waits == nil || p.Order() > waits.Order() {
			waits = p
		}
	}
	n.mu.Unlock()
	if taken {
		return &DuplicateEdgeError{Edge: edge}
	}

	var t *tensor.Tensor
	born := false
	if waits != nil {
		value, ok, err := waits.Initial()
		if err != nil {
			return fmt.Errorf("trackable: variable %q: %w", edge, err)
		}
		if ok {
			t, born = value, true
			if t.DType() != spec.DType || !t.Shape().Equal(spec.Shape) {
				return fmt.Errorf("trackable: variable %q: %w", edge, &ShapeError{
					WantDType: spec.DType, WantShape: spec.Shape, GotDType: t.DType(), GotShape: t.Shape()})
			}
		}
	}
	if t == nil {
		var err error
		if spec.Init != nil {
			t, err = spec.Init()
		} else {
			t, err = tensor.Zeros(spec.DType, spec.Shape...)
		}
		switch {
		case err != nil:
			return fmt.Errorf("trackable: first value of variable %q: %w", edge, err)
		case t == nil:
			return fmt.Errorf("trackable: the initializer of variable %q made no tensor", edge)
		case t.DType() != spec.DType || !t.Shape().Equal(spec.Shape):
			return fmt.Errorf("trackable: the initializer of variable %q: %w", edge, &ShapeError{
				WantDType: spec.DType, WantShape: spec.Shape, GotDType: t.DType(), GotShape: t.Shape()})
		}
	}
	v := NewVariable(t).SetTrainable(!spec.NotTrainable)
	switch name := spec.Name; {
	case name == "":
		v.namedBelow(edge)
	case name[0] == '/':
		v.Named(name[1:])
	default:
		v.namedBelow(name)
	}
	if born {
		// The delivery below binds the variable and needn't read again.
		v.node.SetStamp(waits.Order())
	}
	if err := n.put(edge, v, false); err != nil {
		return err
	}
	if dst != nil {
		*dst = v
	}
	return n.Deliver(edge, v)
}

// DuplicateEdgeError says that an object already has a child on an edge.
type DuplicateEdgeError struct{ Object, Edge string }

// Error names the edge.
func (e *DuplicateEdgeError) Error() string {
	if e.Object != "" {
		return fmt.Sprintf("trackable: %s has two different children called %q; rename one with a tag `cairn:\"name\"`", e.Object, e.Edge)
	}
	return fmt.Sprintf("trackable: there is another object called %q already", e.Edge)
}
