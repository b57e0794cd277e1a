package models

import (
	"fmt"
	"strconv"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// call is the first call of a layer in a call of the model.
type call struct {
	inputs    []graph.Fact
	masks     []*graph.Fact // nil for an input without one
	inNetwork bool          // a sequential or functional model calls it
}

// layerFunctions are the functions of a layer.
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

// inputFacts returns what is known of the model's inputs.
func (x *exporter) inputFacts() ([]graph.Fact, error) {
	if m, ok := x.model.(*keras.Functional); ok {
		var facts []graph.Fact
		for _, v := range m.Inputs() {
			facts = append(facts, v.Fact().WithoutValue())
		}
		return facts, nil
	}
	var facts []graph.Fact
	for _, shape := range x.model.AsLayer().BuiltShapes() {
		if shape == nil {
			return nil, fmt.Errorf("the rank of an input isn't known")
		}
		dims := shape.Clone()
		if len(dims) > 0 {
			dims[0] = -1 // any number of examples
		}
		facts = append(facts, graph.Fact{DType: x.inputType(), Shape: graph.ShapeOf(dims...)})
	}
	if len(facts) == 0 {
		return nil, fmt.Errorf("the shapes of the inputs aren't known")
	}
	return facts, nil
}

// inputType returns the type of the model's inputs.
func (x *exporter) inputType() tensor.DType {
	var first any = x.model
	if m, ok := first.(*keras.Sequential); ok && len(m.Layers) > 0 {
		first = m.Layers[0]
	}
	if in, ok := first.(*layers.InputLayer); ok && in.DType != "" {
		if d, err := tensor.ParseDType(string(in.DType)); err == nil {
			return d
		}
	}
	return tensor.Float32
}

// watch calls the model once, without computing, and notes with what each layer is called.
func (x *exporter) watch() error {
	facts, err := x.inputFacts()
	if err != nil {
		return err
	}
	network := map[any]bool{}
	var visit func(obj any)
	visit = func(obj any) {
		switch obj.(type) {
		case *keras.Functional, *keras.Sequential:
			for _, l := range childLayers(obj) {
				network[l] = true
				visit(l)
			}
		}
	}
	visit(x.model)
	f := function.New(func(s *ops.Scope, in []*ops.Value) []*ops.Value {
		s = base.WatchCalls(s, func(self any, c *base.Invocation) {
			if x.calls[self] != nil {
				return
			}
			n := &call{inNetwork: network[self]}
			for i, v := range c.Inputs {
				n.inputs = append(n.inputs, v.Fact().WithoutValue())
				n.masks = append(n.masks, nil)
				if m := c.Masks[i]; m != nil {
					fact := m.Fact().WithoutValue()
					n.masks[i] = &fact
				}
			}
			if len(c.Args) == 0 { // else the first call says too little
				x.calls[self] = n
			}
		})
		return base.CallAll(s, x.model, in, nil)
	}, nil)
	_, err = f.TraceContext(x.ctx, specsOf(facts))
	if err == nil && x.calls[any(x.model)] == nil { // whose Call has no Run
		x.calls[any(x.model)] = &call{inputs: facts, masks: make([]*graph.Fact, len(facts))}
	}
	return err
}

func specsOf(facts []graph.Fact) []*ops.Value {
	specs := make([]*ops.Value, len(facts))
	for i, f := range facts {
		f.Shape = f.Shape.Anonymous()
		specs[i] = ops.SpecOf(f)
	}
	return specs
}

// trace makes the functions of a layer.
func (x *exporter) trace(obj any, c *call) error {
	layer, ok := obj.(Model)
	if _, input := obj.(*layers.InputLayer); !ok || input {
		return nil
	}
	masked := 0
	for _, m := range c.masks {
		if m != nil {
			masked++
		}
	}
	modes := []bool{false}
	params := parametersOf(obj)
	if params.training {
		modes = []bool{true, false}
	}
	f := &layerFunctions{
		call: &layerFunction{params: params.Parameters}, all: &layerFunction{params: params.Parameters},
	}
	f.conditional = f.all
	penalty := activityOf(layer)
	if penalty != nil {
		f.conditional = &layerFunction{params: params.Parameters}
	}
	for _, training := range modes {
		outputs, err := x.traceCall(layer, c, params, training, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", layer.AsLayer().Name, err)
		}
		f.call.traces = append(f.call.traces, outputs)
		all, err := x.traceCall(layer, c, params, training, new(true))
		if err != nil {
			return fmt.Errorf("%s: %w", layer.AsLayer().Name, err)
		}
		f.all.traces = append(f.all.traces, all)
		if penalty != nil {
			without, err := x.traceCall(layer, c, params, training, new(false))
			if err != nil {
				return fmt.Errorf("%s: %w", layer.AsLayer().Name, err)
			}
			f.conditional.traces = append(f.conditional.traces, without)
		}
	}
	if penalty != nil {
		concrete, err := x.tracePenalty(layer, c, penalty)
		if err != nil {
			return err
		}
		f.activity = &layerFunction{traces: []*graph.Concrete{concrete}, params: &savedmodel.Parameters{Names: []string{"x"}}}
	}
	x.functions[obj] = f
	return nil
}

func activityOf(layer Model) regularizers.Regularizer { return layer.AsLayer().ActivityRegularizer() }

// traceCall traces a call of a layer. losses asks for the list of losses besides the
// outputs, with that of the activity regularizer if it is true.
func (x *exporter) traceCall(layer Model, c *call, params parameters, training bool, losses *bool) (*graph.Concrete, error) {
	given := append([]graph.Fact(nil), c.inputs...)
	places := map[int]int{} // of masks
	for i, m := range c.masks {
		if m != nil && params.mask {
			places[i] = len(given)
			given = append(given, *m)
		}
	}
	outputs := 0
	f := function.New(func(s *ops.Scope, in []*ops.Value) []*ops.Value {
		s = s.WithTraining(training)
		s, collected := base.WithLosses(s)
		if losses != nil && !*losses {
			s = base.WithoutActivity(s, layer)
		}
		args := make([]*ops.Value, len(c.inputs))
		for i := range args {
			args[i] = in[i]
			if at, ok := places[i]; ok {
				args[i] = base.WithMask(s, in[i], in[at])
			}
		}
		out := base.CallAll(s, layer, args, nil)
		outputs = len(out)
		if losses == nil {
			return out
		}
		return append(out, collected.Values()...)
	}, &function.Options{MaxTraces: 2})
	concrete, err := f.TraceContext(x.ctx, specsOf(given))
	if err != nil {
		return nil, err
	}
	concrete.Call = params.call(layer, c, given, places, training)
	elems := concrete.Out.Elems
	var out *graph.Structure
	if outputs == 1 {
		out = elems[0]
	} else {
		out = outputStructure(layer, elems[:outputs])
	}
	if losses != nil {
		out = graph.TupleOf(out, graph.ListOf(elems[outputs:]...))
	}
	concrete.Out = out
	return concrete, nil
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

// tracePenalty traces the loss of a layer's outputs.
func (x *exporter) tracePenalty(layer Model, c *call, r regularizers.Regularizer) (*graph.Concrete, error) {
	d := layer.AsLayer().DType.Compute()
	f := function.New(func(s *ops.Scope, v *ops.Value) *ops.Value { return r.Penalty(s, v) }, nil)
	return f.TraceContext(x.ctx, ops.SpecOf(graph.Fact{DType: d}))
}

// lossFunctions returns functions of the losses of the weights of obj, and of the layers
// below it if all is set.
func (x *exporter) lossFunctions(obj trackable.Trackable, all bool) []trackable.Trackable {
	if x.opts.Level != Comprehensive {
		return nil
	}
	var list []trackable.Trackable
	base.EachRegularizer(obj, func(owner base.LayerLike, v *trackable.Variable, r regularizers.Regularizer) {
		if !all && any(owner) != obj {
			return
		}
		key := lossKey{v, owner}
		f := x.losses[key]
		if f == nil {
			traced := function.New(func(s *ops.Scope, _ struct{}) *ops.Value { return r.Penalty(s, v) }, nil)
			concrete, err := traced.TraceContext(x.ctx, struct{}{})
			if err != nil {
				x.failed = err
				return
			}
			f = &layerFunction{traces: []*graph.Concrete{concrete}, params: &savedmodel.Parameters{}}
			x.losses[key] = f
		}
		list = append(list, f)
	})
	return list
}

type lossKey struct {
	variable *trackable.Variable
	owner    base.LayerLike
}

// sign traces the signature of the model: inputs and outputs by name.
func (x *exporter) sign() error {
	c := x.calls[any(x.model)]
	inputs, outputs := make([]string, len(c.inputs)), []string(nil)
	for i := range inputs {
		inputs[i] = "input_" + strconv.Itoa(i+1)
	}
	switch m := x.model.(type) {
	case *keras.Functional:
		inputs, outputs = m.InputNames(), m.OutputNames()
	case *keras.Sequential:
		inputs[0] = m.InputName()
		if l, ok := m.Layers[len(m.Layers)-1].(base.LayerLike); ok {
			outputs = []string{l.AsLayer().Name}
		}
	}
	specs := map[string]*ops.Value{}
	for i, v := range specsOf(c.inputs) {
		specs[inputs[i]] = v
	}
	f := function.New(func(s *ops.Scope, in map[string]*ops.Value) map[string]*ops.Value {
		args := make([]*ops.Value, len(inputs))
		for i, name := range inputs {
			args[i] = in[name]
		}
		out := map[string]*ops.Value{}
		for i, v := range base.CallAll(s, x.model, args, nil) {
			name := "output_" + strconv.Itoa(i+1)
			if i < len(outputs) {
				name = outputs[i]
			}
			out[name] = v
		}
		return out
	}, nil)
	var err error
	if x.signature, err = f.TraceContext(x.ctx, specs); err == nil {
		in := x.signature.In
		x.signature.Call = graph.TupleOf(graph.TupleOf(), in) // by name
		x.signature.In = graph.NamedOf("Inputs", in.Keys, in.Elems)
	}
	return err
}
