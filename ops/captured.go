package ops

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// CapturedData returns the value of an object that functions capture: package function passes
// it to a plan. kernels run the functions that make it.
func CapturedData(ctx context.Context, kernels *engine.KernelSet, x graph.Capturable) (engine.Value, error) {
	v, err := x.CaptureValue(ctx, NewRunner(kernels))
	switch {
	case err != nil:
		return engine.Value{}, fmt.Errorf("is a %T that can't be made: %w", x, err)
	case v.Tensor != nil:
		return engine.ValueOf(v.Tensor), nil
	case v.Object == nil:
		return engine.Value{}, fmt.Errorf("is a %T without a value", x)
	}
	return engine.HandleOf(v.Object), nil
}

// NewRunner returns a runner of functions over kernels: objects of a SavedModel are made by it. Resources that a function makes
// by name are those of one call alone.
func NewRunner(kernels *engine.KernelSet) graph.Runner {
	return func(ctx context.Context, c *graph.Concrete, args ...*tensor.Tensor) ([]graph.Captured, error) {
		return runConcrete(ctx, kernels, c, args)
	}
}

// GrantCaptured returns a grant of everything that files grants, and of the file whose
// path is x.
func GrantCaptured(files *engine.Files, x any) *engine.Files {
	if f, ok := x.(graph.CapturedFile); ok {
		return files.With(f.CapturedFile())
	}
	return files
}

// runConcrete calls a function with its captures.
func runConcrete(ctx context.Context, kernels *engine.KernelSet, c *graph.Concrete, args []*tensor.Tensor) ([]graph.Captured, error) {
	if len(args) != c.NumArgs() {
		return nil, fmt.Errorf("the function %s takes %d tensors (got %d)", c.Function.Name, c.NumArgs(), len(args))
	}
	s := NewScope(ctx, &ScopeOptions{Kernels: kernels, Instance: new(engine.Instance)})
	in := make([]Input, 0, len(c.Function.Args))
	for _, a := range args {
		in = append(in, a)
	}
	op := graph.CallOp
	if c.Function.Stateful() {
		op = graph.StatefulCallOp
	}
	out := s.EmitN(len(c.Function.Results), op, graph.Attrs{graph.Func("f", c.Function), graph.Types("Tout", graph.ArgTypes(c.Function.ResultFacts())...)},
		append(in, CapturedInputs(s, c.Captures)...)...)
	if err := s.Close(); err != nil {
		return nil, err
	}
	results := make([]graph.Captured, len(out))
	for i, v := range out {
		results[i] = graph.Captured{Tensor: v.data.Tensor, Object: v.data.Object}
	}
	return results, nil
}

// CapturedInputs returns the captured arguments of a function as inputs of an op that
// calls it.
func CapturedInputs(s *Scope, captures []graph.Capture) []Input {
	out := make([]Input, len(captures))
	for i, c := range captures {
		x, capturable := c.Resource.(graph.Capturable)
		switch {
		case c.Variable != nil:
			out[i] = Handle(s, c.Variable)
		case capturable:
			out[i] = x
		case c.Tensor != nil:
			out[i] = c.Tensor
		default:
			out[i] = ValueOfData(engine.HandleOf(c.Resource))
		}
	}
	return out
}
