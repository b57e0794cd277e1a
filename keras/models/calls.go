package models

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// call is a call of a layer in a call of the model: the types and shapes with which the layer's
// functions are traced.
type call struct {
	inputs []graph.Fact
	masks  []*graph.Fact // nil for an input without one
}

// key identifies calls that share a function.
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

// inputFacts returns the types and shapes of the model's inputs.
func (x *exporter) inputFacts() ([]graph.Fact, error) {
	var facts []graph.Fact
	switch m := x.model.(type) {
	case *keras.Functional:
		for i, v := range m.Inputs() {
			if form := base.FormOf(v); form != "" {
				return nil, fmt.Errorf("input %d is %s, which saved functions don't take; use the level ConfigOnly, or saving.SaveModel", i, form)
			}
			facts = append(facts, v.Fact().WithoutValue())
		}
		return facts, nil
	case *Generic:
		call := m.function.Traces()[0].InputSignature()
		for _, f := range call.Flatten() {
			facts = append(facts, f.Fact)
		}
		return facts, nil
	}
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
	d := tensor.Invalid
	if in, ok := first.(*layers.InputLayer); ok {
		d = in.DType.Compute()
	} else if l, ok := first.(base.LayerLike); ok && first != any(x.model) && l.AsLayer().BatchInputShape != nil {
		d = l.AsLayer().DType.Variables() // as tf_keras's Sequential makes its input
	}
	if d == tensor.Invalid {
		return tensor.Float32
	}
	return d
}

// watch calls the model once, without computing, and records the arguments of each layer.
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

// callOf returns the types and shapes of a call's inputs and masks.
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

// given returns the arguments of a layer's function: the inputs, then the masks that there are.
// masks has the index of each mask among them by the number of its input. A layer whose call has
// no parameter mask gets none.
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
