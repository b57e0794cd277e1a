package models

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
)

// sharedKey names the function of a layer for inputs of some types and shapes.
type sharedKey struct {
	layer    any
	call     string // call.key
	training bool
}

// sharedOf returns the function of a layer's outputs and inner losses for a call. All other
// functions of the layer, and those of the models and layers that call it, call this one,
// so that its ops are stored once.
func (x *exporter) sharedOf(ctx context.Context, layer Model, c *call, training bool) (*traced, error) {
	key := sharedKey{layer, c.key(), training && parametersOf(layer).training}
	if t := x.shared[key]; t != nil {
		return t, nil
	}
	t, err := x.traceCall(ctx, layer, c, key.training, innerLosses)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", layer.AsLayer().Name, err)
	}
	x.shared[key] = t
	return t, nil
}

// callShared returns an interceptor that calls the shared functions of layers, except that
// of the layer self, whose function is being traced. A call with further arguments, and one
// with sparse or ragged values, is left to the layer.
func (x *exporter) callShared(self any) base.Interceptor {
	return func(s *ops.Scope, obj any, inv *base.Invocation) ([]*ops.Value, bool) {
		layer, ok := obj.(Model)
		if !ok || obj == self || x.calls[obj] == nil || len(inv.Args) > 0 || s.Err() != nil {
			return nil, false
		}
		for _, v := range inv.Inputs {
			if isComposite(v) {
				return nil, false
			}
		}
		switch obj.(type) {
		case *layers.InputLayer, layers.Cell:
			return nil, false
		}
		c := callOf(inv)
		t, err := x.sharedOf(s.Context(), layer, c, s.Training())
		if err != nil {
			return []*ops.Value{s.Fail("Call", err)}, true
		}
		if t.composite {
			return nil, false
		}
		var in []ops.Input
		for _, v := range inv.Inputs {
			in = append(in, v)
		}
		if parametersOf(layer).mask {
			for _, m := range inv.Masks {
				if m != nil {
					in = append(in, ops.Const(s, m))
				}
			}
		}
		out := function.Apply(s, t.concrete, in...)
		if s.Err() != nil {
			return []*ops.Value{s.Fail("Call", s.Err())}, true
		}
		for _, loss := range out[t.outputs:] {
			base.AddLoss(s, loss)
		}
		return out[:t.outputs], true
	}
}
