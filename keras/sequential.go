package keras

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Sequential calls its layers one after another. Its edges are those of tf_keras's
// Functional._layer_checkpoint_dependencies: "layer-0", "layer-1", …. A layer that has variables
// has an edge "layer_with_weights-0", … before that one.
//
// The shape of the input is that of a [layers.InputLayer] at the front, of the first
// layer's BatchInputShape, or of the first call.
type Sequential struct {
	Model
	Layers []Callable `cairn:"-" keras:"-"` // listed by TrackableChildren
}

// NewSequential makes a model of layers.
func NewSequential(layers ...Callable) *Sequential { return &Sequential{Layers: layers} }

// Add appends layers, before or after the first call. It delivers the pending
// restore of their edges. The error is that of [trackable.Node.Add].
func (m *Sequential) Add(layers ...Callable) error {
	for _, l := range layers {
		if l == nil || isInput(l) {
			m.Layers = append(m.Layers, l) // Call reports the fault
			continue
		}
		err := m.TrackableNode().Add(l, func() (string, error) {
			m.Layers = append(m.Layers, l)
			return "layer-" + strconv.Itoa(len(m.computed())-1), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Pop removes the last layer and returns it. A model without layers is an error.
func (m *Sequential) Pop() (Callable, error) {
	n := len(m.computed())
	if n == 0 {
		return nil, errors.New("keras: Sequential.Pop: the model has no layers")
	}
	last := m.Layers[len(m.Layers)-1]
	m.Layers = m.Layers[:len(m.Layers)-1]
	return last, nil
}

func isInput(l Callable) bool {
	_, ok := l.(*layers.InputLayer)
	return ok
}

// computed returns the layers without the input's.
func (m *Sequential) computed() []Callable {
	if len(m.Layers) > 0 && isInput(m.Layers[0]) {
		return m.Layers[1:]
	}
	return m.Layers
}

// input returns the layer of the input as tf_keras's Sequential would have it, nil if its shape
// isn't known. names are those of the computed layers. Configs, summaries and
// pictures show it as a layer.
func (m *Sequential) input(names []string) *layers.InputLayer {
	if len(m.Layers) == 0 {
		return nil
	}
	if in, ok := m.Layers[0].(*layers.InputLayer); ok {
		return in
	}
	in := new(layers.InputLayer)
	in.Name = names[0] + "_input"
	first, ok := m.Layers[0].(base.LayerLike)
	switch shapes := m.BuiltShapes(); {
	case ok && first.AsLayer().BatchInputShape != nil:
		in.BatchInputShape = first.AsLayer().BatchInputShape
	case len(shapes) == 1 && shapes[0] != nil:
		in.BatchInputShape = base.Shape(shapes[0])
	default:
		return nil
	}
	in.DType = base.Policy(m.inputType().String())
	return in
}

// inputType returns the type of the input's elements, as tf_keras's Sequential chooses it: that of
// the layer of the input, or the type of the first layer's variables if that layer states the
// input's shape. Otherwise, it is float32.
func (m *Sequential) inputType() tensor.DType {
	if len(m.Layers) == 0 {
		return tensor.Float32
	}
	d := tensor.Invalid
	if first, ok := m.Layers[0].(base.LayerLike); ok {
		switch l := first.AsLayer(); {
		case isInput(m.Layers[0]):
			d = l.DType.Compute()
		case l.BatchInputShape != nil:
			d = l.DType.Variables()
		}
	}
	if d == tensor.Invalid {
		return tensor.Float32
	}
	return d
}

// inputForm returns "sparse" or "ragged" if the model begins with an input of such tensors, else "":
// see [layers.InputLayer.Form].
func (m *Sequential) inputForm() string {
	if len(m.Layers) > 0 && isInput(m.Layers[0]) {
		return m.Layers[0].(*layers.InputLayer).Form()
	}
	return ""
}

// InputName returns the name of the input's layer: the first layer's and "_input", unless
// the model begins with a layers.InputLayer.
func (m *Sequential) InputName() string {
	names := m.layerNames()
	if in := m.input(names); in != nil && in.Name != "" {
		return in.Name
	}
	if len(names) == 0 {
		return "input_1"
	}
	return names[0] + "_input"
}

// hasInput reports whether the shape of the input is known: from the first layer or from a call.
func (m *Sequential) hasInput() bool { return m.input(m.layerNames()) != nil }

// layerNames returns the names of the computed layers, automatic ones for those without.
func (m *Sequential) layerNames() []string {
	var auto base.Names
	list := m.computed()
	for _, l := range list {
		if name := nameOf(l); name != "" {
			auto.Reserve(name)
		}
	}
	names := make([]string, len(list))
	for i, l := range list {
		if names[i] = nameOf(l); names[i] == "" {
			names[i] = auto.Next(l)
		}
	}
	return names
}

// Layer returns the layer of that name, nil if there is none.
func (m *Sequential) Layer(name string) Callable {
	for i, n := range m.layerNames() {
		if n == name {
			return m.computed()[i]
		}
	}
	return nil
}

// ScopeName returns "/": variables' full names begin with the name of a layer.
func (m *Sequential) ScopeName() string { return "/" }

// TrackableChildren lists the layers as Keras does.
func (m *Sequential) TrackableChildren() []trackable.Edge { return layerEdges(m.computed()) }

// AcceptsChild reports whether edge is that of a layer that may still be added.
func (m *Sequential) AcceptsChild(edge string) bool { return acceptsLayer(edge, len(m.computed())) }

// TracksFields reports false: the layers aren't in fields.
func (m *Sequential) TracksFields() bool { return false }

// TakesSparse marks a model whose layers declare which inputs they take.
func (m *Sequential) TakesSparse() {}

// TakesRagged marks a model whose layers declare which inputs they take.
func (m *Sequential) TakesRagged() {}

// KeepsInputTypes marks a layer that casts no inputs.
func (m *Sequential) KeepsInputTypes() {}

// Call returns the last layer's output.
func (m *Sequential) Call(s *ops.Scope, x ops.Input) *ops.Value { return m.Run(s, m, x, nil) }

// ComputeAll calls the layers.
func (m *Sequential) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	fail := func(err error) []*ops.Value { return []*ops.Value{s.Fail("Sequential", err)} }
	if err := c.CheckArgs(); err != nil {
		return fail(err)
	}
	if len(c.Inputs) != 1 {
		return fail(fmt.Errorf("got %d inputs, want 1", len(c.Inputs)))
	}
	v := base.WithMask(s, c.Inputs[0], c.Masks[0])
	for i, l := range m.Layers {
		if l == nil {
			return fail(fmt.Errorf("layer %d is nil", i))
		}
		if isInput(l) && i > 0 {
			return fail(fmt.Errorf("layer %d is an InputLayer, which can only be the first", i))
		}
		out := base.CallAll(s, l, []*ops.Value{v}, nil)
		if len(out) != 1 && s.Err() == nil {
			return fail(fmt.Errorf("layer %d has %d outputs, want 1", i, len(out)))
		}
		v = out[0]
	}
	return []*ops.Value{v}
}

// ComputeMask returns the mask that the last layer set on the output.
func (m *Sequential) ComputeMask(_ *ops.Scope, _ *base.Invocation, out []*ops.Value) []*ops.Value {
	return masksOf(out)
}

// BuildLayer makes the variables of all layers when [Build] calls it. Otherwise it does nothing,
// and the first call makes them.
func (m *Sequential) BuildLayer(s *ops.Scope, in base.Shapes) error {
	if !base.OnlyBuilds(s) {
		return nil
	}
	_, err := m.flowFor(s, in)
	return err
}

// flowFor connects the layers on a symbolic input, which builds them, and returns the input
// and the layers' outputs.
func (m *Sequential) flowFor(s *ops.Scope, in base.Shapes) ([]*ops.Value, error) {
	if len(in) != 1 {
		return nil, fmt.Errorf("got %d shapes, want 1", len(in))
	}
	inner, v, err := base.Dry(s, m.inputType(), in[0], m.inputForm())
	if err != nil {
		return nil, err
	}
	out := []*ops.Value{v}
	for _, l := range m.computed() {
		if l == nil {
			return nil, errors.New("a layer is nil")
		}
		v = base.CallAll(inner, l, []*ops.Value{v}, nil)[0]
		if err := inner.Err(); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// EncodeConfig returns tf_keras's config of a sequential model.
func (m *Sequential) EncodeConfig(e *config.Encoder) (config.Fields, error) {
	name := m.Name
	if name == "" {
		name = base.AutomaticName(m)
	}
	names := m.layerNames()
	var list []any
	if in := m.input(names); in != nil {
		obj, err := e.Object(in)
		if err != nil {
			return nil, err
		}
		if in.Name == "" {
			rename(obj, base.AutomaticName(in))
		}
		list = append(list, obj)
	}
	for i, l := range m.computed() {
		if l == nil {
			return nil, fmt.Errorf("layer %d is nil", i)
		}
		obj, err := e.Object(l)
		if base.IsModel(l) && e.Short() { // a nested model: its layers are in the long form, even in a short config
			obj, err = e.Whole(l)
			obj = shortened(obj)
		}
		if err != nil {
			return nil, err
		}
		if nameOf(l) == "" {
			rename(obj, names[i])
		}
		if m.NotTrainable {
			freeze(obj)
		}
		list = append(list, obj)
	}
	return config.Fields{{Name: "name", Value: name}, {Name: "layers", Value: list}}, nil
}

// shortened returns the class and the config of an object.
func shortened(obj config.Fields) config.Fields {
	var short config.Fields
	for _, p := range obj {
		if p.Name == "class_name" || p.Name == "config" {
			short = append(short, p)
		}
	}
	return short
}

// rename sets the name in the JSON of a layer.
func rename(obj config.Fields, name string) {
	for _, p := range obj {
		if fields, ok := p.Value.(config.Fields); ok && p.Name == "config" {
			for i := range fields {
				if fields[i].Name == "name" {
					fields[i].Value = name
				}
			}
		}
	}
}

// DecodeConfig makes the layers that a config of tf_keras describes. They are built if the
// config has the shape of the input: that of the first layer, else build_input_shape.
func (m *Sequential) DecodeConfig(d *config.Decoder, fields map[string]any) error {
	var shape base.Shape
	for key, v := range fields {
		var ok bool
		switch key {
		case "name":
			m.Name, ok = v.(string)
		case "trainable":
			var on bool
			on, ok = v.(bool)
			m.NotTrainable = !on
		case "dtype":
			ok = d.Value(v, &m.DType) == nil
		case "build_input_shape":
			ok = v == nil || d.Value(v, &shape) == nil
		case "layers":
			var list []any
			list, ok = v.([]any)
			for i, item := range list {
				obj, err := d.Object(item)
				if err != nil {
					return fmt.Errorf("layers[%d]: %w", i, err)
				}
				l, is := obj.(Callable)
				if !is {
					return fmt.Errorf("layers[%d]: %T is no layer", i, obj)
				}
				m.Layers = append(m.Layers, l)
			}
		default:
			return &config.UnknownError{Kind: "field", Of: "Sequential", Name: key}
		}
		if !ok {
			return fmt.Errorf("%s: got %v, want a config of a sequential model", key, v)
		}
	}
	if in := m.input(m.layerNames()); in != nil {
		shape = in.BatchInputShape
	}
	if shape == nil || len(m.computed()) == 0 {
		return nil
	}
	return base.Build(base.DecoderScope(d), m, tensor.Shape(shape))
}

// acceptsLayer reports whether edge is "layer-N" for a layer after the last one. The edges
// "layer_with_weights-N" lead to the same objects, so they needn't be accepted.
func acceptsLayer(edge string, layers int) bool {
	rest, ok := strings.CutPrefix(edge, "layer-")
	i, err := strconv.Atoi(rest)
	return ok && err == nil && i >= layers && strconv.Itoa(i) == rest
}

// layerEdges returns the edges of a sequential or functional model. Their order decides a
// checkpoint's keys. A nil layer has none: a call reports it.
func layerEdges(layers []Callable) []trackable.Edge {
	edges := make([]trackable.Edge, 0, 2*len(layers))
	weighted := 0
	for i, l := range layers {
		if l == nil {
			continue
		}
		if base.HasWeights(l) {
			edges = append(edges, trackable.Edge{Name: "layer_with_weights-" + strconv.Itoa(weighted), Child: l})
			weighted++
		}
		edges = append(edges, trackable.Edge{Name: "layer-" + strconv.Itoa(i), Child: l})
	}
	return edges
}
