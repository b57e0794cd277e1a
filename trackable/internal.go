package trackable

import (
	"context"

	"github.com/cairnml/cairn/internal/notpublic"
	"github.com/cairnml/cairn/internal/restoring"
	"github.com/cairnml/cairn/tensor"
)

// Internal returns the functions of this package that only packages of this module use, since
// only these can make a key. They restore values into objects and their variables.
func Internal(notpublic.Key) internals { return internals{} }

// internals has the functions that [Internal] returns.
type internals struct{}

// Accepts returns whether obj can still get a child on an edge that it doesn't have now.
func (internals) Accepts(obj Trackable, edge string) restoring.Acceptance {
	return acceptsChild(obj, edge)
}

// MayGrow reports whether obj can still get any child, whatever its name.
func (internals) MayGrow(obj Trackable) bool { return mayGrow(obj) }

// HasPlace reports whether an assignment alone can add a child to obj on edge.
func (internals) HasPlace(obj Trackable, edge string) bool { return hasPlace(obj, edge) }

// Declares reports whether obj is a [Declarer] or a [SelfDeclarer].
func (internals) Declares(obj Trackable) bool { return declares(obj) }

// Declare returns the variables that obj is going to make, as its [Declarer] or [SelfDeclarer]
// lists them. ok is false if it is neither.
func (internals) Declare(obj Trackable, inFile func(edge string) bool) (list []Declared, ok bool) {
	return declare(obj, inFile)
}

// EdgesAttached counts the edges that Nodes got so far in the process, replaced ones included. While
// the count is unchanged, no object has a new child that is in no field, slice, map or list.
func (internals) EdgesAttached() uint64 { return attachedEdges() }

// VariablesMade counts the variables made so far in the process.
func (internals) VariablesMade() uint64 { return variablesMade() }

// Gate returns the gate of the steps and snapshots that run with ctx.
func (internals) Gate(ctx context.Context) *Gate { return gateOf(ctx) }

// Watch adds w to the watchers of a gate until it answers restoring.WatchEnded.
func (internals) Watch(g *Gate, w restoring.Watcher) { g.addWatcher(w) }

// Watchers returns the watchers that deliver restores for the steps under g.
func (internals) Watchers(g *Gate) []restoring.Watcher { return g.currentWatchers() }

// Settle delivers pending values, as the beginning of a step does, for code that runs outside of
// steps.
func (internals) Settle(ctx context.Context) { settle(ctx) }

// RestoreAll replaces the values of several variables at once without reading them: f gets a tensor
// for each, of its type and of the shape that shape returns for variable number i, and fills it. The
// tensor is the variable's storage if that fits and has no other reference. If f fails, its writes
// there stay. shape is called by several goroutines. f must not keep the list.
func (internals) RestoreAll(vars []*Variable, shape func(i int) tensor.Shape, f func(bufs []*tensor.Tensor) error, opts *restoring.Options) error {
	return restoreAll(vars, shape, f, opts)
}

// AddPending makes p one of the restores that n asks about new children.
func (internals) AddPending(n *Node, p Pending) { n.addPending(p) }

// HasEdges reports whether n has attached edges.
func (internals) HasEdges(n *Node) bool { return n.hasEdges() }

// Stamp returns the order of the latest restore that set the object's values, 0 for none.
func (internals) Stamp(n *Node) uint64 { return n.currentStamp() }

// SetStamp records that the restore with that order set the object's values.
func (internals) SetStamp(n *Node, order uint64) { n.setStamp(order) }

// SetNodeFault makes creating a variable below the object fail with err; nil removes the error.
// Package checkpoint sets it while a restore has values for the object that it can't deliver.
func (internals) SetNodeFault(n *Node, err error) { n.setFault(err) }

// SetVariableFault makes ops that use v fail with err; nil removes the error. Package checkpoint
// sets it if a restore couldn't set v to its value.
func (internals) SetVariableFault(v *Variable, err error) { v.setFault(err) }

// VariableFault returns the error of ops that use v; nil if v may be used.
func (internals) VariableFault(v *Variable) error { return v.currentFault() }

// MarkRestored records that the value is a restored checkpoint's, so that v doesn't count as
// written. Restores that store values by themselves call it, as registered savers do.
func (internals) MarkRestored(v *Variable) { v.markRestored() }

// Written reports whether the value was changed since the variable was created or restored. Initial
// values, which Init sets, don't count.
func (internals) Written(v *Variable) bool { return v.isWritten() }

// Made returns the variable's number in the order of making, from 1 on.
func (internals) Made(v *Variable) uint64 { return v.made() }

// Takes works like [Variable.Accepts], and also reports whether v has a value.
func (internals) Takes(v *Variable, d tensor.DType, s tensor.Shape) (valued bool, err error) {
	return v.takes(d, s)
}
