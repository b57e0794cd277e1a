package models

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
)

// layerFunctions are the functions of a layer: __call__, call_and_return_all_conditional_losses,
// call_and_return_conditional_losses and activity_regularizer_fn. all and conditional are one
// function if there is no activity regularizer; activity is nil then.
type layerFunctions struct{ call, all, conditional, activity *layerFunction }

// layerFunction is a function with its traces, as Keras calls it.
type layerFunction struct {
	traces []*graph.Concrete
	params *savedmodel.Parameters
}

// Traces returns the traces.
func (f *layerFunction) Traces() []*graph.Concrete { return f.traces }

// FunctionParameters returns the parameters.
func (f *layerFunction) FunctionParameters() *savedmodel.Parameters { return f.params }

// NotTracked keeps functions out of the object graph of a checkpoint.
func (f *layerFunction) NotTracked() {}

// SavedModelOnly makes functions nodes of the object graph of a SavedModel.
func (f *layerFunction) SavedModelOnly() {}

// trace adds the functions of a layer for one call. Traces are in the order of the calls, that for
// training first, as Keras's LayerCallCollection adds them: a loader takes the first that accepts a call.
func (x *exporter) trace(obj any, c *call) error {
	layer, ok := obj.(Model)
	if _, input := obj.(*layers.InputLayer); !ok || input {
		return nil
	}
	modes := []bool{false}
	params := parametersOf(obj)
	if params.training {
		modes = []bool{true, false}
	}
	f := x.functions[obj]
	penalty := activityOf(layer)
	if f == nil {
		f = &layerFunctions{call: &layerFunction{params: params.Parameters}, all: &layerFunction{params: params.Parameters}}
		f.conditional = f.all
		if penalty != nil {
			f.conditional = &layerFunction{params: params.Parameters}
			concrete, err := x.tracePenalty(layer, penalty)
			if err != nil {
				return err
			}
			f.activity = &layerFunction{traces: []*graph.Concrete{concrete}, params: &savedmodel.Parameters{Names: []string{"x"}}}
		}
		x.functions[obj] = f
	}
	for _, training := range modes {
		shared, err := x.sharedOf(x.ctx, layer, c, training)
		if err != nil {
			return err
		}
		if shared.composite {
			return nil // no function of Keras returns sparse or ragged values of Go's layers
		}
		f.conditional.traces = append(f.conditional.traces, shared.concrete)
		outputs, err := x.traceCall(x.ctx, layer, c, training, onlyOutputs)
		if err != nil {
			return fmt.Errorf("%s: %w", layer.AsLayer().Name, err)
		}
		f.call.traces = append(f.call.traces, outputs.concrete)
		if penalty != nil {
			all, err := x.traceCall(x.ctx, layer, c, training, allLosses)
			if err != nil {
				return fmt.Errorf("%s: %w", layer.AsLayer().Name, err)
			}
			f.all.traces = append(f.all.traces, all.concrete)
		}
	}
	return nil
}

// results are the results of a layer's function.
type results uint8

const (
	onlyOutputs results = iota
	allLosses           // the outputs, and a list of losses
	innerLosses         // without that of the layer's own activity regularizer
)

// traced is a function of a layer.
type traced struct {
	concrete  *graph.Concrete
	outputs   int  // so many of the results are outputs
	composite bool // whether an output is sparse or ragged
}

// traceCall traces a call of a layer. Layers in it are calls of the functions that
// sharedOf returns, and so is the layer itself unless want is innerLosses.
func (x *exporter) traceCall(ctx context.Context, layer Model, c *call, training bool, want results) (*traced, error) {
	params := parametersOf(layer)
	given, places := c.given(params)
	var t traced
	f := function.New(func(s *ops.Scope, in []*ops.Value) []*ops.Value {
		s = s.WithTraining(training)
		s, collected := base.WithLosses(s)
		var self any
		if want == innerLosses {
			s, self = base.WithoutActivity(s, layer), layer
		}
		s = base.InterceptCalls(s, x.callShared(self))
		args := make([]*ops.Value, len(c.inputs))
		for i := range args {
			args[i] = in[i]
			if at, ok := places[i]; ok {
				args[i] = base.WithMask(s, in[i], in[at])
			}
		}
		out := base.CallAll(s, layer, args, nil)
		t.outputs = len(out)
		t.composite = slices.ContainsFunc(out, isComposite)
		if want == onlyOutputs {
			return out
		}
		return append(out, collected.Values()...)
	}, &function.Options{MaxTraces: 2})
	concrete, err := f.TraceContext(ctx, specsOf(given))
	if err != nil {
		return nil, err
	}
	concrete.Call = params.call(layer, c, given, places, training)
	elems := concrete.Out.Elems
	var out *graph.Structure
	if t.outputs == 1 {
		out = elems[0]
	} else {
		out = outputStructure(layer, elems[:t.outputs])
	}
	if want != onlyOutputs {
		out = graph.TupleOf(out, graph.ListOf(elems[t.outputs:]...))
	}
	concrete.Out = out
	t.concrete = concrete
	return &t, nil
}

func isComposite(v *ops.Value) bool {
	_, sparse := base.SparseOf(v)
	_, ragged := base.RaggedOf(v)
	return sparse || ragged
}

// outputStructure returns the form of several outputs: a dict of a model's named ones.
func outputStructure(layer Model, elems []*graph.Structure) *graph.Structure {
	if m, ok := any(layer).(*keras.Functional); ok {
		if keys := m.OutputKeys(); keys != nil {
			return graph.DictOf(keys, elems)
		}
	}
	return graph.ListOf(elems...)
}
