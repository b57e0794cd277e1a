package models

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

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

// call is a call of a layer in a call of the model.
type call struct {
	inputs []graph.Fact
	masks  []*graph.Fact // nil for an input without one
}

// key tells calls apart that need functions of their own.
func (c *call) key() string {
	var key strings.Builder
	for i, f := range c.inputs {
		fmt.Fprint(&key, f.DType, f.Shape.Anonymous(), " ")
		if m := c.masks[i]; m != nil {
			fmt.Fprint(&key, "mask", m.Shape.Anonymous(), " ")
		}
	}
	return key.String()
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
	f := function.New(func(s *ops.Scope, in []*ops.Value) []*ops.Value {
		s = base.InterceptCalls(s, func(_ *ops.Scope, self any, c *base.Invocation) ([]*ops.Value, bool) {
			if len(c.Args) == 0 { // no function has further arguments
				x.note(self, callOf(c))
			}
			return nil, false
		})
		return base.CallAll(s, x.model, in, nil)
	}, nil)
	_, err = f.TraceContext(x.ctx, specsOf(facts))
	if err == nil && x.calls[any(x.model)] == nil { // whose Call has no Run
		x.note(x.model, &call{inputs: facts, masks: make([]*graph.Fact, len(facts))})
	}
	return err
}

// note adds a call of a layer, unless it had one like it.
func (x *exporter) note(layer any, c *call) {
	if x.calls[layer] == nil {
		x.called = append(x.called, layer)
	}
	same := func(o *call) bool { return o.key() == c.key() }
	if !slices.ContainsFunc(x.calls[layer], same) {
		x.calls[layer] = append(x.calls[layer], c)
	}
}

// callOf returns what is known of a call.
func callOf(c *base.Invocation) *call {
	n := &call{masks: make([]*graph.Fact, len(c.Masks))}
	for _, v := range c.Inputs {
		n.inputs = append(n.inputs, v.Fact().WithoutValue())
	}
	for i, m := range c.Masks {
		if m != nil {
			fact := m.Fact().WithoutValue()
			n.masks[i] = &fact
		}
	}
	return n
}

func specsOf(facts []graph.Fact) []*ops.Value {
	specs := make([]*ops.Value, len(facts))
	for i, f := range facts {
		f.Shape = f.Shape.Anonymous()
		specs[i] = ops.SpecOf(f)
	}
	return specs
}

// trace adds the functions of a layer for one call.
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

func activityOf(layer Model) regularizers.Regularizer { return layer.AsLayer().ActivityRegularizer() }

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

// given returns what a function of a layer takes, and the places of the masks among it, by
// the inputs that they belong to.
func (c *call) given(params parameters) (facts []graph.Fact, masks map[int]int) {
	facts, masks = append([]graph.Fact(nil), c.inputs...), map[int]int{}
	for i, m := range c.masks {
		if m != nil && params.mask {
			masks[i] = len(facts)
			facts = append(facts, *m)
		}
	}
	return facts, masks
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

// tracePenalty traces the loss of a layer's outputs.
func (x *exporter) tracePenalty(layer Model, r regularizers.Regularizer) (*graph.Concrete, error) {
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
	c := x.calls[any(x.model)][0]
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
		s = base.InterceptCalls(s, x.callShared(nil))
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
