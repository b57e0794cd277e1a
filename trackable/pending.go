package trackable

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/internal/callers"
	"github.com/cairnml/cairn/tensor"
)

// Pending is a restore that an object is part of: it has values for children
// that the object doesn't have yet, or it is strict and wants every variable
// below the object to come from the checkpoint. Package checkpoint makes one
// for each object and restore, and passes it to the object's [Node]. The Node
// asks it about every child that is made, attached, appended or set.
type Pending interface {
	// Order increases with every restore. If several have a value for one edge, the
	// highest wins.
	Order() uint64
	// Holds reports whether a part of the checkpoint is pending for edge.
	Holds(edge string) bool
	// Initial reads the value for v, which is about to be created with that type
	// and shape as edge. It returns nil if the checkpoint has no value of a variable
	// for that edge.
	Initial(edge string, v *Variable, d tensor.DType, s tensor.Shape) (*tensor.Tensor, error)
	// Deliver restores child, which the object has as edge now, and all below it.
	Deliver(edge string, child Trackable) error
	// Unfilled returns an error if child, as edge, has variables that no restore
	// filled although this one should have; nil if that is allowed.
	Unfilled(edge string, child Trackable) error
	// Done reports whether the restore has no more values or errors for the object.
	Done() bool
}

// addPending makes p one of the restores that are asked about new children.
func (n *Node) addPending(p Pending) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dropDone()
	at := len(n.pending)
	for at > 0 && n.pending[at-1].Order() < p.Order() {
		at--
	}
	n.pending = slices.Insert(n.pending, at, p)
}

// restores returns the pending restores, the latest first.
func (n *Node) restores() []Pending {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dropDone()
	return slices.Clone(n.pending)
}

// dropDone removes the restores that are done. The caller holds the lock.
func (n *Node) dropDone() { n.pending = slices.DeleteFunc(n.pending, Pending.Done) }

// HasPending reports whether a restore has something pending for edge.
func (n *Node) HasPending(edge string) bool {
	return slices.ContainsFunc(n.restores(), func(p Pending) bool { return p.Holds(edge) })
}

// currentStamp returns the order of the latest restore that set the object's values, 0
// for none.
func (n *Node) currentStamp() uint64 { return n.stamp.Load() }

// setStamp records that the restore with that order set the object's values.
func (n *Node) setStamp(order uint64) { n.stamp.Store(order) }

// setFault makes creating a variable below the object fail with err; nil removes
// the error. It is set while a restore has values for the object that it can't deliver.
func (n *Node) setFault(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fault = err
}

// addVariable works like [Base.AddVariable].
func (n *Node) addVariable(dst **Variable, edge string, spec VariableSpec) error {
	if spec.DType == tensor.Invalid {
		spec.DType = tensor.Float32
	}
	if !spec.Shape.Known() {
		return fmt.Errorf("trackable: variable %q: shape %v has an unknown size", edge, spec.Shape)
	}
	n.mu.Lock()
	_, taken := n.byName[edge]
	fault := n.fault
	n.mu.Unlock()
	switch {
	case taken:
		return &DuplicateEdgeError{Edge: edge}
	case fault != nil:
		return fault
	}
	v := new(Variable)
	v.SetTrainable(!spec.NotTrainable)
	switch name := spec.Name; {
	case name == "":
		v.namedBelow(edge)
	case name[0] == '/':
		v.Named(name[1:])
	default:
		v.namedBelow(name)
	}
	t, order, err := n.initial(edge, v, spec)
	if err != nil {
		return err
	}
	if t == nil {
		if t, err = spec.first(edge); err != nil {
			return err
		}
	}
	v.Init(t)
	if spec.Open != nil {
		v.SetShape(spec.Open)
	}
	v.node.setStamp(order) // so that the delivery needn't read again
	return n.Add(v, func() (string, error) {
		if err := n.put(edge, v, false); err != nil {
			return "", err
		}
		if dst != nil {
			n.mu.Lock()
			*dst = v
			n.mu.Unlock()
		}
		return edge, nil
	})
}

// initial returns the pending value for a variable that is about to be made,
// and the order of its restore. If no restore has one, it returns nil, or the error of a
// strict restore that wants one.
func (n *Node) initial(edge string, v *Variable, spec VariableSpec) (*tensor.Tensor, uint64, error) {
	list := n.restores()
	shape := spec.Shape
	if spec.Open != nil {
		shape = spec.Open
	}
	for _, p := range list {
		var t *tensor.Tensor
		var err error
		callers.Outside(func() { t, err = p.Initial(edge, v, spec.DType, shape) })
		if t != nil || err != nil {
			return t, p.Order(), err
		}
	}
	for _, p := range list {
		if p.Holds(edge) {
			continue // its delivery reports the error
		}
		if err := p.Unfilled(edge, v); err != nil {
			return nil, 0, err
		}
	}
	return nil, 0, nil
}

// first returns the initializer's value.
func (spec *VariableSpec) first(edge string) (t *tensor.Tensor, err error) {
	if spec.Init != nil {
		callers.Outside(func() { t, err = spec.Init() })
	} else {
		t, err = tensor.Zeros(spec.DType, spec.Shape...)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("trackable: first value of variable %q: %w", edge, err)
	case t == nil:
		return nil, fmt.Errorf("trackable: the initializer of variable %q made no tensor", edge)
	case t.DType() != spec.DType || !t.Shape().Equal(spec.Shape):
		return nil, fmt.Errorf("trackable: the initializer of variable %q: %w", edge, &ShapeError{
			WantDType: spec.DType, WantShape: spec.Shape, GotDType: t.DType(), GotShape: t.Shape()})
	}
	return t, nil
}
