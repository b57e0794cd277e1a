package savedmodel

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// edgeList contains the edges of an object that a program can edit.
type edgeList struct {
	mu    sync.Mutex       // held while edges is used
	edges []trackable.Edge // in the order of the file, which a save keeps
}

// Edges returns the object's edges in order.
func (l *edgeList) Edges() []trackable.Edge {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.edges)
}

// SavedModelChildren returns the object's edges in order.
func (l *edgeList) SavedModelChildren() []trackable.Edge { return l.Edges() }

// TrackableChildren returns the object's edges in order.
func (l *edgeList) TrackableChildren() []trackable.Edge { return l.Edges() }

// Child returns the object to which the edge called name leads; nil if there is none.
func (l *edgeList) Child(name string) trackable.Trackable {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := l.index(name); i >= 0 {
		return l.edges[i].Child
	}
	return nil
}

func (l *edgeList) index(name string) int {
	return slices.IndexFunc(l.edges, func(e trackable.Edge) bool { return e.Name == name })
}

// Set makes the edge called name lead to child. A new edge comes after the others.
func (l *edgeList) Set(name string, child trackable.Trackable) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := l.index(name); i >= 0 {
		l.edges[i].Child = child
		return
	}
	l.edges = append(l.edges, trackable.Edge{Name: name, Child: child})
}

// Remove removes the edge called name and reports whether there was one. The object that
// it led to stays in the model if another edge leads to it.
func (l *edgeList) Remove(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.index(name)
	if i >= 0 {
		l.edges = slices.Delete(l.edges, i, i+1)
	}
	return i >= 0
}

// Rename changes the name of an edge. It is an error if there is no edge of the
// old name, or one of the new.
func (l *edgeList) Rename(from, to string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.index(from)
	switch {
	case i < 0:
		return fmt.Errorf("savedmodel: rename: there is no edge %q", from)
	case from != to && l.index(to) >= 0:
		return fmt.Errorf("savedmodel: rename %q: there is an edge %q already", from, to)
	}
	l.edges[i].Name = to
	return nil
}

// TrackableObject is an object of a loaded model whose class no program has
// registered, with its edges and the file's other data. A program may change
// both before it saves the model again. Variables and functions below it work.
type TrackableObject struct {
	// Traits are the data that a save writes for the object: identifier,
	// version, metadata, registered name.
	Traits *Traits

	edgeList
	storedValues
	run    graph.Runner          // calls the functions that save and restore the values; nil for none
	covers []*trackable.Variable // variables whose values only these functions save and restore
}

// SerializeToTensors returns the object's values. They are the results of its
// functions if these have restored variables, else those of the model's
// checkpoint.
func (o *TrackableObject) SerializeToTensors() ([]trackable.Attribute, error) {
	if o.run == nil {
		return o.storedValues.SerializeToTensors()
	}
	return o.exported(context.Background(), o.run)
}

// RestoreFromTensors replaces the object's values.
func (o *TrackableObject) RestoreFromTensors(values map[string]*tensor.Tensor) error {
	if err := o.storedValues.RestoreFromTensors(values); err != nil || o.run == nil {
		return err
	}
	return o.fill(context.Background(), o.run)
}

// TrackableOptimizer is an object of a loaded model that keeps slot variables for other
// variables, as the optimizers of TensorFlow 2.10 and earlier do.
type TrackableOptimizer struct {
	TrackableObject
	trackable.Slots
}

// generic returns the part that all generic objects have; nil for other objects.
func generic(obj trackable.Trackable) *TrackableObject {
	switch o := obj.(type) {
	case *TrackableObject:
		return o
	case *TrackableOptimizer:
		return &o.TrackableObject
	}
	return nil
}

// NewObject returns an object with edges, of TensorFlow's class for modules.
func NewObject(edges ...trackable.Edge) *TrackableObject {
	return &TrackableObject{
		Traits:   &Traits{Identifier: "_generic_user_object", Version: 1, MinConsumer: 1},
		edgeList: edgeList{edges: edges},
	}
}

// SavedTraits returns the data that a save writes for the object.
func (o *TrackableObject) SavedTraits() *Traits { return o.Traits }

// TrackableResource is a table or another resource of a loaded model. Its edges lead to
// the functions that make it, fill it and end it.
type TrackableResource struct {
	// Traits are the data that a save writes for the object.
	Traits *Traits

	edgeList
	storedValues
	handle any
	live   liveResource
}

// SavedTraits returns the data that a save writes for the object.
func (r *TrackableResource) SavedTraits() *Traits { return r.Traits }

// CapturedResource returns the handle's object; nil if the resource itself is
// the handle's object.
func (r *TrackableResource) CapturedResource() any { return r.handle }

// ResourceDevice returns the device that the resource asks for; "" for any.
func (r *TrackableResource) ResourceDevice() string { return r.Traits.Device }

// TrackableFunction is a function of a loaded model, with its traces. function.Apply calls
// a trace in model code; package run calls the function by its Python arguments.
type TrackableFunction struct {
	// Traits are the data that a save writes for the object.
	Traits *Traits
	// Parameters are those of the Python function; nil if the file lacks them.
	Parameters *Parameters

	edgeList
	traces []*graph.Concrete
}

// NotTracked keeps functions out of the object graph of a checkpoint.
func (f *TrackableFunction) NotTracked() {}

// SavedModelOnly makes functions nodes of the object graph of a SavedModel.
func (f *TrackableFunction) SavedModelOnly() {}

// SavedTraits returns the data that a save writes for the object.
func (f *TrackableFunction) SavedTraits() *Traits { return f.Traits }

// Traces returns the function's traces in the order of the file.
func (f *TrackableFunction) Traces() []*graph.Concrete { return slices.Clone(f.traces) }

// SetTraces replaces the function's traces.
func (f *TrackableFunction) SetTraces(traces ...*graph.Concrete) { f.traces = slices.Clone(traces) }

// FunctionParameters returns the parameters of the Python function; nil if the
// file lacks them.
func (f *TrackableFunction) FunctionParameters() *Parameters { return f.Parameters }
