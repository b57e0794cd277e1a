package run

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// Function is a function of the object graph, bound to a model's state. It
// is safe for use from many goroutines.
type Function struct {
	model *Model
	path  string // as Model.Function was called, for errors
	info  *savedmodel.FunctionInfo
}

// Function returns the function to which path leads: edges joined by "/" or ".",
// such as "keras_api/call_and_return_conditional_losses". A path to an object
// that can be called itself means its __call__; so does the empty path for the
// root.
func (m *Model) Function(path string) (*Function, error) {
	o, err := m.meta.Object(path)
	if err != nil {
		return nil, err
	}
	if o.Function == nil {
		call := o.Child("__call__")
		for range maxChain {
			if call == nil || call.Function != nil {
				break
			}
			call = call.Child("__call__")
		}
		if call == nil || call.Function == nil {
			return nil, &savedmodel.NotFoundError{Kind: "function", Name: path, Note: fmt.Sprintf("the object is a %v without a __call__", o.Kind)}
		}
		o = call
	}
	return &Function{m, path, o.Function}, nil
}

// Info returns the file's description of the function.
func (f *Function) Info() *savedmodel.FunctionInfo { return f.info }

// A MatchError reports that none of a function's traces accepts the arguments.
type MatchError struct {
	Function   string
	Call       string   // the arguments, "tensor(float32[3]), training=True"
	Reason     string   // a fault of the arguments that no trace would accept; "" for none
	Candidates []string // the arguments of each trace
}

// Error lists the candidates.
func (e *MatchError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "savedmodel: could not find a matching concrete function of %q for (%s)", e.Function, e.Call)
	if e.Reason != "" {
		fmt.Fprintf(&b, ": %s", e.Reason)
	}
	fmt.Fprintf(&b, "; it has %d:", len(e.Candidates))
	for _, c := range e.Candidates {
		b.WriteString("\n  (" + c + ")")
	}
	return b.String()
}

// Call runs the trace that accepts the arguments. Arguments are tensors, or the
// Go values that correspond to Python's: nil, bool, int, float64, string,
// [List] or []any, [Tuple], [*NamedTuple], map[string]any, [Composite],
// [*trackable.Variable], [tensor.Shape], [tensor.DType]. Parameters that have
// defaults may be left out.
//
// As in TensorFlow, the first trace that accepts the arguments unchanged is
// called. If there is none, the first that accepts them after numbers, strings
// and lists have become tensors is called.
func (f *Function) Call(ctx context.Context, args []any, kwargs map[string]any) (any, error) {
	all, named, err := f.bind(args, kwargs)
	if err != nil {
		if out, ok, flatErr := f.callByName(ctx, args, kwargs); ok {
			return out, flatErr
		}
		return nil, f.mismatch(args, kwargs, err.Error())
	}
	for _, convert := range []bool{false, true} {
		for _, t := range f.info.Concrete {
			if t.In == nil { // the file has no structure of its arguments: only CallFlat calls it
				continue
			}
			in, ok := accepts(t, all, named, convert)
			if !ok {
				continue
			}
			return f.call(ctx, t, in)
		}
	}
	if out, ok, err := f.callByName(ctx, args, kwargs); ok {
		return out, err
	}
	return nil, f.mismatch(args, kwargs, "")
}

// call runs a trace with its tensors.
func (f *Function) call(ctx context.Context, t *savedmodel.ConcreteFunction, in []engine.Value) (any, error) {
	c, err := f.model.concrete(t)
	if err != nil {
		return nil, err
	}
	if err := checkNotRecorded(ctx, c.where); err != nil {
		return nil, err
	}
	if want := len(c.function.Args) - len(c.captures); want != len(in) {
		return nil, fmt.Errorf("savedmodel: the function %q takes %d tensors, its signature has %d", t.Name, want, len(in))
	}
	out, err := f.model.runValues(ctx, c, in)
	if err != nil {
		return nil, err
	}
	return pack(t.Out, out)
}

// callByName calls a bare function by the names of its tensors, whatever structure they had, as
// TensorFlow calls such a function by its flat signature. ok is false if the function can't be called
// so: it has several traces, no names, or other arguments than tensors.
func (f *Function) callByName(ctx context.Context, args []any, kwargs map[string]any) (out any, ok bool, err error) {
	if len(f.info.Concrete) != 1 || len(f.info.Keywords) == 0 && len(args)+len(kwargs) > 0 || len(args) > f.info.Positional || len(args)+len(kwargs) != len(f.info.Keywords) {
		return nil, false, nil
	}
	if t := f.info.Concrete[0]; len(f.info.Keywords) == 0 && t.In != nil && len(t.In.Flatten()) > 0 {
		return nil, false, nil
	}
	var in []engine.Value
	for i, name := range f.info.Keywords {
		var v any
		if i < len(args) {
			v = args[i]
		} else if v, ok = kwargs[name]; !ok {
			return nil, false, nil
		}
		t, isTensor := v.(*tensor.Tensor)
		if !isTensor || t == nil {
			return nil, false, nil
		}
		in = append(in, engine.ValueOf(t))
	}
	out, err = f.call(ctx, f.info.Concrete[0], in)
	return out, true, err
}

// CallFlat runs the trace with that number with plain tensors: those of the
// arguments in order, dicts by their sorted keys, composites taken apart. It is
// the way to call functions whose types only Python knows.
func (f *Function) CallFlat(ctx context.Context, trace int, in []*tensor.Tensor) ([]*tensor.Tensor, error) {
	if trace < 0 || trace >= len(f.info.Concrete) {
		return nil, fmt.Errorf("savedmodel: the function %q has %d traces, there is no number %d", f.path, len(f.info.Concrete), trace)
	}
	c, err := f.model.concrete(f.info.Concrete[trace])
	if err != nil {
		return nil, err
	}
	if err := checkNotRecorded(ctx, c.where); err != nil {
		return nil, err
	}
	results, err := f.model.run(ctx, c, in)
	if err != nil {
		return nil, err
	}
	out := make([]*tensor.Tensor, len(results))
	for i, v := range results {
		if out[i], err = tensorOf(v); err != nil {
			return nil, fmt.Errorf("savedmodel: the function %q: result %d: %w", f.path, i, err)
		}
	}
	return out, nil
}

// mismatch returns the MatchError for arguments that no trace accepts. reason is a fault that bind found,
// "" for none. The text begins as TensorFlow's error does.
func (f *Function) mismatch(args []any, kwargs map[string]any, reason string) error {
	var d describer
	in := d.call(args, kwargs, nil)
	e := &MatchError{Function: f.path, Call: (&savedmodel.ConcreteFunction{In: in}).Takes(), Reason: reason}
	for _, t := range f.info.Concrete {
		e.Candidates = append(e.Candidates, t.Takes())
	}
	if only := f.info.Concrete; reason == "" && len(only) == 1 && only[0].In != nil {
		if all, named, err := f.bind(args, kwargs); err == nil {
			e.Reason = mismatch(only[0], d.call(all, named, only[0].In))
		}
	}
	return e
}

// mismatch describes the difference between a call and the trace's arguments; ""
// if it finds none.
func mismatch(c *savedmodel.ConcreteFunction, in *graph.Structure) string {
	for i, e := range c.Args() {
		if got := element(in.Elems[0], i); got != nil && !e.Accepts(got) {
			// As entries of a dict, the arguments appear in the text with a
			// name and their contents.
			key := []string{fmt.Sprintf("argument %d", i)}
			words := graph.DictOf(key, []*graph.Structure{e}).Misfit(graph.DictOf(key, []*graph.Structure{got}))
			if e.Kind == graph.CompositeStructure && got.Kind != graph.CompositeStructure {
				words += ": a Composite holds its tensors"
				if n, known := e.Composite.Count(); known {
					words += fmt.Sprintf(", %d of them", n)
				}
			}
			return words
		}
	}
	return c.In.Elems[1].Misfit(in.Elems[1])
}

// bind assigns arguments to the Python function's parameters, and adds the defaults of those that are
// left out, as Python does for a call. A function without a description of its parameters takes the
// arguments as they are.
func (f *Function) bind(args []any, kwargs map[string]any) ([]any, map[string]any, error) {
	p := f.info.Parameters
	named := make(map[string]any, len(kwargs))
	for k, v := range kwargs {
		named[k] = v
	}
	if p == nil {
		return args, named, nil
	}
	out := slices.Clone(args)
	if len(args) > len(p.Names) && p.VarArgs == "" {
		return nil, nil, fmt.Errorf("it takes %d arguments by position (got %d)", len(p.Names), len(args))
	}
	for i, name := range p.Names {
		v, given := named[name]
		delete(named, name)
		switch {
		case i < len(args) && given:
			return nil, nil, fmt.Errorf("the argument %q is given twice", name)
		case i < len(args):
		case given:
			out = append(out, v)
		case i >= len(p.Names)-len(p.Defaults):
			out = append(out, plain(p.Defaults[i-len(p.Names)+len(p.Defaults)]))
		default:
			return nil, nil, fmt.Errorf("the argument %q is missing; it takes %v", name, p)
		}
	}
	for _, name := range p.KeywordOnly {
		if _, given := named[name]; given {
			continue
		}
		v, ok := p.KeywordDefaults[name]
		if !ok {
			return nil, nil, fmt.Errorf("the argument %q is missing; it takes %v", name, p)
		}
		named[name] = plain(v)
	}
	if p.VarKwargs == "" {
		for _, name := range slices.Sorted(maps.Keys(named)) {
			if !slices.Contains(p.KeywordOnly, name) {
				return nil, nil, fmt.Errorf("there is no argument %q; it takes %v", name, p)
			}
		}
	}
	return out, named, nil
}
