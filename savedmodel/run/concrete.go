package run

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/trackable"
)

// Concrete returns the trace that [Function.Call] would run, with the variables
// and resources of this model that it captures. function.Apply calls it in
// model code, where it is differentiated like any other function. Its In and
// Out are the structures of the arguments and results in the file. An argument
// that is a *[graph.Structure] matches all values that it describes.
func (f *Function) Concrete(ctx context.Context, args []any, kwargs map[string]any) (*graph.Concrete, error) {
	all, named, err := f.bind(args, kwargs)
	if err != nil {
		return nil, f.mismatch(args, kwargs, err.Error())
	}
	for _, convert := range []bool{false, true} {
		for _, t := range f.info.Concrete {
			if t.In == nil { // the file has no structure of its arguments: only CallFlat calls it
				continue
			}
			if _, ok := accepts(t, all, named, convert); !ok {
				continue
			}
			c, err := f.model.concrete(t)
			if err != nil {
				return nil, err
			}
			out, err := f.model.withCaptures(ctx, c)
			if err == nil {
				out.In, out.Out, out.Call = t.In, t.Out, t.In
			}
			return out, err
		}
	}
	return nil, f.mismatch(args, kwargs, "")
}

// Concrete returns the signature as a function of its inputs in order, with the
// variables and resources of this model that it captures, those of TensorFlow 1
// among them.
func (s *Signature) Concrete(ctx context.Context) (*graph.Concrete, error) {
	c, err := s.model.withCaptures(ctx, s.callable)
	if err != nil {
		return nil, err
	}
	f, vars, err := s.model.withVariableArgs(c.Function)
	if err != nil {
		return nil, fmt.Errorf("savedmodel: %s: %w", s.callable.where, err)
	}
	c.Function = f
	for _, v := range vars {
		c.Captures = append(c.Captures, graph.Capture{Variable: v})
	}
	return c, nil
}

// withCaptures joins a function with the values of its captures in this
// instance.
func (m *Model) withCaptures(ctx context.Context, c *callable) (*graph.Concrete, error) {
	values, err := m.resolve(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	out := &graph.Concrete{Function: c.function}
	for _, v := range values {
		x := graph.Capture{Tensor: v.Tensor}
		if v.Tensor == nil {
			if variable, ok := v.Object.(*trackable.Variable); ok {
				x.Variable = variable
			} else if x.Resource = v.Object; v.Object == nil {
				return nil, fmt.Errorf("savedmodel: %s captures something that is no tensor and no resource", c.where)
			}
		}
		out.Captures = append(out.Captures, x)
	}
	return out, nil
}
