package models

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/trackable"
)

// Generic is a layer or a model of an unknown class. It calls the functions that were saved
// for it, so that it takes inputs of the types, shapes and modes of their traces. Its
// variables can be trained. It stops masks, which no function returns.
type Generic struct {
	base.Layer
	object   *savedmodel.TrackableObject
	function *savedmodel.TrackableFunction
	saved    *savedmodel.KerasObject
	config   json.RawMessage
	all      map[any]*savedmodel.KerasObject // of the file, by the restored objects
}

// Class returns the name of the class in Python.
func (g *Generic) Class() string { return g.saved.Class }

// Config returns the layer's config as the file has it.
func (g *Generic) Config() json.RawMessage { return slices.Clone(g.config) }

// kerasEdges are the edges of a Keras object that Keras adds to its own. A save of the Generic
// makes them again.
var kerasEdges = []string{
	"variables", "trainable_variables", "regularization_losses", "keras_api", "__call__", "call_and_return_all_conditional_losses", "_default_save_signature",
	"signatures", "optimizer",
}

// TrackableChildren lists the object's own edges.
func (g *Generic) TrackableChildren() []trackable.Edge {
	return slices.DeleteFunc(g.object.Edges(), func(e trackable.Edge) bool { return slices.Contains(kerasEdges, e.Name) })
}

// AcceptsChild reports false: the edges are those of the file.
func (g *Generic) AcceptsChild(string) bool { return false }

// TracksFields reports false: the edges are those of the file.
func (g *Generic) TracksFields() bool { return false }

// KeepsInputTypes marks a layer that casts no inputs.
func (g *Generic) KeepsInputTypes() {}

// Call returns the first output for x, or for the inputs of a []*ops.Value.
func (g *Generic) Call(s *ops.Scope, x ops.Input) *ops.Value { return g.Run(s, g, x, nil) }

// ComputeAll calls the trace that takes the inputs, and adds its losses. A mode of training
// for which there is no trace is an error.
func (g *Generic) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	fail := func(err error) []*ops.Value { return []*ops.Value{s.Fail(g.saved.Class, err)} }
	if err := c.CheckArgs(); err != nil {
		return fail(err)
	}
	trace, why := g.choose(c.Inputs, s.Training())
	if trace == nil {
		return fail(fmt.Errorf("no saved function of the layer %q takes the call: %s", g.Name, why))
	}
	in := make([]ops.Input, len(c.Inputs))
	for i, v := range c.Inputs {
		in[i] = v
	}
	out := function.Apply(s, trace, in...)
	if s.Err() != nil {
		return out
	}
	outputs := len(trace.Out.Elems[0].Flatten())
	for _, loss := range out[outputs:] {
		base.AddLoss(s, loss)
	}
	return out[:outputs]
}

// choose returns the first trace that accepts a call, as TensorFlow does, or why there is none. A
// function without a mode of training serves both.
func (g *Generic) choose(inputs []*ops.Value, training bool) (trace *graph.Concrete, why string) {
	why = "it has no traces"
	for _, c := range g.function.Traces() {
		call := c.InputSignature()
		if c.Out == nil || c.Out.Kind != graph.TupleStructure || len(c.Out.Elems) != 2 || len(call.Elems) != 2 {
			why = "its results are no pair of outputs and losses"
			continue
		}
		mode, known := modeOf(g.function.Parameters, call)
		if known && mode != training {
			why = fmt.Sprintf("there is no trace for training %v", training)
			continue
		}
		tensors := call.Flatten()
		if len(tensors) != len(inputs) {
			why = fmt.Sprintf("a trace takes %d tensors (got %d)", len(tensors), len(inputs))
			continue
		}
		fits := true
		for i, f := range tensors {
			if want, got := f.Fact, inputs[i].Fact(); !want.Accepts(got) {
				fits, why = false, fmt.Sprintf("a trace takes %v as input %d (got %v)", want, i, got)
				break
			}
		}
		if fits {
			return c, ""
		}
	}
	return nil, why
}

// modeOf returns the value of the argument training of a trace. known is false if the
// function has none.
func modeOf(p *savedmodel.Parameters, call *graph.Structure) (training, known bool) {
	if kw := call.Elems[1].Lookup("training"); kw != nil {
		training, known = kw.Value.(bool)
		return training, known
	}
	if p == nil {
		return false, false
	}
	i := slices.Index(p.Names, "training")
	if i < 0 || i >= len(call.Elems[0].Elems) {
		return false, false
	}
	training, known = call.Elems[0].Elems[i].Value.(bool)
	return training, known
}

// EncodeConfig returns the config of the file.
func (g *Generic) EncodeConfig(*config.Encoder) (config.Fields, error) {
	if len(g.config) == 0 {
		return nil, nil
	}
	fields, err := orderedFields(g.config)
	if err != nil {
		return nil, fmt.Errorf("the config of the layer %q: %w", g.Name, err)
	}
	return fields, nil
}

// parameters returns the names of the parameters of the saved functions, and the modes of
// training for which there are traces.
func (g *Generic) parameters() (names []string, modes []bool) {
	if p := g.function.Parameters; p != nil {
		names = slices.Clone(p.Names)
	}
	for _, c := range g.function.Traces() {
		mode, known := modeOf(g.function.Parameters, c.InputSignature())
		if known && !slices.Contains(modes, mode) {
			modes = append(modes, mode)
		}
	}
	return names, modes
}

// orderedFields returns the fields of a JSON object in their order.
func orderedFields(text []byte) (config.Fields, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("got %.40q, want an object", text)
	}
	var out config.Fields
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		out = append(out, config.Pair{Name: key.(string), Value: value})
	}
	return out, nil
}

// ConfigClass returns the class of the file.
func (g *Generic) ConfigClass(c config.Class, _ bool) config.Class {
	c.Name = g.saved.Class
	return c
}
