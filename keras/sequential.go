package keras

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// Sequential calls its layers one after another. Its edges are Keras':
// "layer-0", "layer-1", …, and before the layers that have variables, in their
// order, "layer_with_weights-0", ….
type Sequential struct {
	Model
	Layers []Callable `cairn:"-"` // listed by TrackableChildren
}

// NewSequential makes a model of layers.
func NewSequential(layers ...Callable) *Sequential { return &Sequential{Layers: layers} }

// Add appends layers, before or after the first call. What a restored checkpoint
// holds for them is delivered; the error is that of reading it.
func (m *Sequential) Add(layers ...Callable) error {
	for _, l := range layers {
		if l == nil {
			m.Layers = append(m.Layers, l) // Call says so
			continue
		}
		err := m.TrackableNode().Add(l, func() (string, error) {
			m.Layers = append(m.Layers, l)
			return "layer-" + strconv.Itoa(len(m.Layers)-1), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ScopeName returns the name set with SetName; by default a sequential model
// adds nothing to its variables' full names.
func (m *Sequential) ScopeName() string { return rootScope(m.Model.ScopeName()) }

// TrackableChildren lists the layers as Keras does.
func (m *Sequential) TrackableChildren() []trackable.Edge { return layerEdges(m.Layers) }

// AcceptsChild reports whether edge is that of a layer that may still be added.
func (m *Sequential) AcceptsChild(edge string) bool { return acceptsLayer(edge, len(m.Layers)) }

// TracksFields reports false: the layers aren't in fields.
func (m *Sequential) TracksFields() bool { return false }

// Call returns the last layer's output.
func (m *Sequential) Call(s *ops.Scope, x ops.Input) *ops.Value {
	v := ops.Const(s, x)
	for i, l := range m.Layers {
		if l == nil {
			return s.Fail("Sequential", fmt.Errorf("layer %d is nil", i))
		}
		v = l.Call(s, v)
	}
	return v
}

// Functional is a model whose layers are connected by a function. In the object
// graph it looks as a functional Keras model (keras.Model(inputs, outputs))
// does: the layers by their depth, each [InputLayer] among them.
type Functional struct {
	Model
	// Layers are listed in the order of Keras' model.layers.
	Layers []Callable `cairn:"-"`
	// Run connects them. Default: one after another.
	Run func(s *ops.Scope, x ops.Input) *ops.Value
}

// ScopeName returns the name set with SetName; by default a functional model
// adds nothing to its variables' full names.
func (m *Functional) ScopeName() string { return rootScope(m.Model.ScopeName()) }

// TrackableChildren lists the layers as Keras does.
func (m *Functional) TrackableChildren() []trackable.Edge { return layerEdges(m.Layers) }

// AcceptsChild reports whether edge is that of a layer that may still be added.
func (m *Functional) AcceptsChild(edge string) bool { return acceptsLayer(edge, len(m.Layers)) }

// TracksFields reports false: the layers aren't in fields.
func (m *Functional) TracksFields() bool { return false }

// Call runs the model.
func (m *Functional) Call(s *ops.Scope, x ops.Input) *ops.Value {
	if m.Run != nil {
		return m.Run(s, x)
	}
	return (&Sequential{Layers: m.Layers}).Call(s, x)
}

func rootScope(name string) string {
	if name == "" {
		return "/"
	}
	return name
}

// acceptsLayer reports whether edge is "layer-N" for a layer behind the last one.
func acceptsLayer(edge string, layers int) bool {
	rest, ok := strings.CutPrefix(edge, "layer-")
	i, err := strconv.Atoi(rest)
	return ok && err == nil && i >= layers && strconv.Itoa(i) == rest
}

func layerEdges(layers []Callable) []trackable.Edge {
	edges := make([]trackable.Edge, 0, 2*len(layers))
	weighted := 0
	for i, l := range layers {
		if l == nil {
			continue
		}
		if base.HasVariables(l) {
			edges = append(edges, trackable.Edge{Name: "layer_with_weights-" + strconv.Itoa(weighted), Child: l})
			weighted++
		}
		edges = append(edges, trackable.Edge{Name: "layer-" + strconv.Itoa(i), Child: l})
	}
	return edges
}
