package function

import (
	"fmt"
	"unsafe"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/structure"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// applying is the key under which a scope has the functions that are applied on it.
type applying struct{ fn any }

// Apply calls the function from model code, on the scope s. Eagerly it runs as part of s's call. In a
// trace it is one op that calls the function's own trace. That trace is made for the known facts about
// in's types and shapes, for whether s trains and for its gradient rules; calls with the same facts share
// it. Failures are s's. A function that applies itself, directly or through others, is an error.
func (fn *Func[In, Out]) Apply(s *ops.Scope, in In) Out {
	out, err := fn.applyTo(s, in)
	if err != nil {
		s.Fail("Apply", err)
	}
	return out
}

func (fn *Func[In, Out]) applyTo(s *ops.Scope, in In) (out Out, err error) {
	if fn.err != nil {
		return out, fn.err
	}
	if s.Err() != nil {
		return out, nil
	}
	if err := check(fn.in, unsafe.Pointer(&in)); err != nil {
		return out, err
	}
	if s.Value(applying{fn}) != nil {
		return out, fmt.Errorf("%w (%s)", ErrRecursive, fn)
	}
	if !s.IsTracing() {
		return fn.f(s.With(applying{fn}, true), in), nil
	}
	t, err := fn.ensureTrace(s.Context(), s, in, true)
	if err != nil {
		return out, err
	}
	args := make([]ops.Input, 0, len(t.concrete.Function.Args))
	for _, v := range valuesOf(fn.in, unsafe.Pointer(&in)) {
		args = append(args, v)
	}
	args = append(args, ops.CapturedInputs(s, t.concrete.Captures)...)
	return fn.assemble(t, s.EmitN(len(t.concrete.Function.Results), callOp(t.concrete.Function), callAttrs(t.concrete.Function), args...)), nil
}

// callOp returns the op that calls a function.
func callOp(f *graph.Function) string {
	if f.Stateful() {
		return "StatefulPartitionedCall"
	}
	return "PartitionedCall"
}

func callAttrs(f *graph.Function) graph.Attrs {
	types := make([]tensor.DType, len(f.Results))
	for i, r := range f.ResultFacts() {
		types[i] = r.DType
	}
	attrs := graph.Attrs{graph.Func("f", f), graph.Types("Tout", types...)}
	if f.Attrs.Bool(graph.MustCompile) {
		attrs = append(attrs, graph.Bool(graph.MustCompile, true))
	}
	return attrs
}

// assemble returns the output of a trace with the values that the function's results
// have.
func (fn *Func[In, Out]) assemble(t *trace[In, Out], results []*ops.Value) Out {
	out := t.out
	fn.out.Detach(unsafe.Pointer(&out))
	i, k := 0, 0
	_ = fn.out.Update(unsafe.Pointer(&out), visit(func(at **ops.Value, _ structure.Place) error {
		if t.has[i] {
			*at = results[k]
			k++
		}
		i++
		return nil
	}))
	return out
}
