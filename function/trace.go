package function

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// trace is a Func traced for one signature.
type trace[In, Out any] struct {
	concrete *graph.Concrete
	facts    []graph.Fact // of the input's values
	training bool         // whether the scope trains that it was made for
	rules    *grad.Rules  // the gradient rules of that scope
	static   In           // the input without its values: what else has to be equal
	out      Out          // the output, whose values are the trace's
	has      []bool       // which of the output's values are there

	once sync.Once
	plan *engine.Plan
	err  error
}

// ErrRecursive is what a function gives that applies or traces itself.
var ErrRecursive = errors.New("function: the function calls itself; ops.While loops")

// Trace traces the function for inputs like in, whose values may be specs
// ([ops.Spec]) or examples, of which type and shape count. Everything else in in
// is a static argument: another value needs another trace. It returns the
// function with what it captures, for a SavedModel or to look at; calls whose
// input fits run as its compiled plan from then on.
//
// Layers make their variables in the first trace; a trace that makes variables
// after that and uses them is an error, [ops.ErrNewVariable].
func (fn *Func[In, Out]) Trace(in In) (*graph.Concrete, error) {
	t, err := fn.traceOf(context.Background(), nil, in)
	if err != nil {
		return nil, err
	}
	return t.concrete, nil
}

// TraceContext does what [Func.Trace] does, for a function that looks at its
// scope's context.
func (fn *Func[In, Out]) TraceContext(ctx context.Context, in In) (*graph.Concrete, error) {
	t, err := fn.traceOf(ctx, nil, in)
	if err != nil {
		return nil, err
	}
	return t.concrete, nil
}

// traceOf returns the trace for in, called from the scope from; nil where the
// call comes from outside.
func (fn *Func[In, Out]) traceOf(ctx context.Context, from *ops.Scope, in In) (t *trace[In, Out], err error) {
	if fn.err != nil {
		return nil, fn.err
	}
	if err := fn.in.check(&in); err != nil {
		return nil, err
	}
	if ctx.Value(tracingKey{fn}) != nil {
		return nil, fmt.Errorf("%w (%s)", ErrRecursive, fn)
	}
	facts := fn.factsOf(&in)
	training, rules := false, grad.All()
	if from != nil {
		training, rules = from.Training(), grad.RulesOf(from)
	}
	// The gate comes before the lock, as in a call: a checkpoint that waits for
	// calls to end must not stand between the two.
	err = trackable.Step(context.WithValue(ctx, tracingKey{fn}, true), func(ctx context.Context) error {
		fn.tracing.Lock()
		defer fn.tracing.Unlock()
		static := fn.staticOf(in)
		for _, have := range fn.traced() {
			if have.training == training && have.rules == rules && equalFacts(have.facts, facts) && reflect.DeepEqual(have.static, static) {
				t = have
				return nil
			}
		}
		made, err := fn.make(ctx, from, in, facts)
		if err != nil {
			return err
		}
		made.static, made.training, made.rules = static, training, rules
		list := append(fn.traced()[:len(fn.traced()):len(fn.traced())], made)
		fn.traces.Store(&list)
		t = made
		return nil
	})
	return t, err
}

func (fn *Func[In, Out]) traced() []*trace[In, Out] {
	if l := fn.traces.Load(); l != nil {
		return *l
	}
	return nil
}

// factsOf returns what a call's input fixes of the function: types and shapes.
func (fn *Func[In, Out]) factsOf(in *In) []graph.Fact {
	values, _ := fn.in.flatten(unsafe.Pointer(in))
	facts := make([]graph.Fact, len(values))
	for i, v := range values {
		facts[i] = v.Fact().WithoutValue()
		facts[i].Shape = facts[i].Shape.Anonymous()
	}
	return facts
}

func equalFacts(a, b []graph.Fact) bool {
	for i := range a {
		if i >= len(b) || !a[i].Equal(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

// staticOf returns in without its values.
func (fn *Func[In, Out]) staticOf(in In) In {
	fn.in.detach(unsafe.Pointer(&in))
	_ = fn.in.each(unsafe.Pointer(&in), func(at **ops.Value, _ string) error {
		*at = nil
		return nil
	})
	return in
}

type tracingKey struct{ fn any }

// make runs the Go function over symbols.
func (fn *Func[In, Out]) make(ctx context.Context, from *ops.Scope, in In, facts []graph.Fact) (t *trace[In, Out], err error) {
	t = &trace[In, Out]{facts: facts}
	s, tr := ops.NewTrace(ctx, fn.graphName(), &ops.ScopeOptions{Kernels: fn.opts.Kernels, Shapes: fn.opts.Shapes, From: from})
	if len(fn.traced()) > 0 {
		tr.RefuseNewVariables()
	}
	defer func() {
		if r := recover(); r != nil {
			err = engine.NewPanicError(r)
			if first := s.Err(); first != nil {
				err = first
			}
		}
		_ = s.Close()
	}()
	fn.in.detach(unsafe.Pointer(&in))
	i := 0
	err = fn.in.each(unsafe.Pointer(&in), func(at **ops.Value, name string) error {
		v, err := tr.Arg(strings.ToLower(strings.TrimPrefix(name, "in.")), facts[i])
		*at = v
		i++
		return err
	})
	if err != nil {
		return nil, err
	}
	t.out = fn.f(grad.WithRules(s, fn.opts.Gradients), in)
	fn.out.detach(unsafe.Pointer(&t.out))
	values, names := fn.out.flatten(unsafe.Pointer(&t.out))
	var results []*ops.Value
	var given []string
	for i, v := range values {
		t.has = append(t.has, v != nil)
		if v != nil {
			results, given = append(results, v), append(given, strings.ToLower(strings.TrimPrefix(names[i], "out.")))
		}
	}
	t.concrete, err = tr.Finish(results, given)
	return t, err
}

// graphName returns a name for the function in a graph.
func (fn *Func[In, Out]) graphName() string {
	name := fn.String()
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.NewReplacer("(", "", ")", "", "*", "", ".", "_", "-fm", "", "[", "_", "]", "_").Replace(name)
	return "__inference_" + name
}

// find returns the most specific trace that takes in, nil where there is none.
func (fn *Func[In, Out]) find(in *In) *trace[In, Out] {
	list := fn.traced()
	if len(list) == 0 {
		return nil
	}
	facts := fn.factsOf(in)
	var static In
	stripped := false
	var best *trace[In, Out]
	for _, t := range list {
		if t.training || t.rules != grad.All() || !takes(t.facts, facts) {
			continue
		}
		if !stripped {
			static, stripped = fn.staticOf(*in), true
		}
		if !reflect.DeepEqual(t.static, static) {
			continue
		}
		if best == nil || takes(best.facts, t.facts) {
			best = t
		}
	}
	return best
}

// takes reports whether all that facts describe fits the signature.
func takes(signature, facts []graph.Fact) bool {
	for i, want := range signature {
		got := facts[i]
		if want.DType != got.DType {
			return false
		}
		if !want.Shape.HasRank() {
			continue
		}
		if got.Shape.Rank() != want.Shape.Rank() {
			return false
		}
		for j, d := range want.Shape.Dims() {
			if d >= 0 && got.Shape.Dim(j) != d {
				return false
			}
		}
	}
	return true
}

func (t *trace[In, Out]) compiled(o *Options) (*engine.Plan, error) {
	t.once.Do(func() {
		t.plan, t.err = engine.Compile(t.concrete.Function, &engine.CompileOptions{Kernels: o.Kernels, Shapes: o.Shapes, Passes: o.Passes})
	})
	return t.plan, t.err
}

// call runs the trace's plan.
func (fn *Func[In, Out]) call(ctx context.Context, t *trace[In, Out], in *In, out *Out) error {
	p, err := t.compiled(fn.opts)
	if err != nil {
		return err
	}
	values, names := fn.in.flatten(unsafe.Pointer(in))
	args := make([]engine.Value, 0, len(values)+len(t.concrete.Captures))
	for i, v := range values {
		d, err := v.Data()
		if err != nil {
			return fmt.Errorf("function: %s: %w", names[i], err)
		}
		args = append(args, d)
	}
	for _, c := range t.concrete.Captures {
		if c.Variable != nil {
			if err := c.Variable.Fault(); err != nil {
				return fmt.Errorf("function: the variable %q: %w", c.Variable.Name(), err)
			}
		}
		args = append(args, captured(c))
	}
	results, err := p.Run(ctx, args, &engine.RunOptions{Workers: fn.opts.Workers, Files: fn.opts.Files, MaxOutput: fn.opts.MaxOutput, Instance: fn.opts.Instance})
	if err != nil {
		return err
	}
	given := make([]*ops.Value, len(results))
	for i, d := range results {
		given[i] = ops.ValueOfData(d)
	}
	*out = fn.assemble(t, given)
	return nil
}

func captured(c graph.Capture) engine.Value {
	switch {
	case c.Variable != nil:
		return engine.HandleOf(c.Variable)
	case c.Tensor != nil:
		return engine.ValueOf(c.Tensor)
	}
	return engine.HandleOf(c.Resource)
}
