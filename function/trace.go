package function

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/structure"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// trace is a Func traced for one signature.
type trace[In, Out any] struct {
	signature
	concrete *graph.Concrete
	in       In     // the input of the trace: it keeps objects alive that the key identifies by address
	out      Out    // the output of the Go function, with values of the trace
	has      []bool // for each value of the output, whether it isn't nil

	once sync.Once
	plan *engine.Plan
	err  error
}

// ErrRecursive is the error of a function that applies or traces itself.
var ErrRecursive = ops.ErrRecursive

// Trace traces the function for inputs like in, whose values may be specs
// ([ops.Spec]) or examples, of which type and shape count. Everything else in in
// is a static argument: another value needs another trace. It returns the
// function with its captures, for a SavedModel or for inspection; calls whose
// input fits run as its compiled plan from then on.
//
// Layers make their variables in the first trace; a trace that makes variables
// after that and uses them is an error, [ops.ErrNewVariable].
func (fn *Func[In, Out]) Trace(in In) (*graph.Concrete, error) {
	return fn.TraceContext(context.Background(), in)
}

// TraceContext returns [Func.Trace] for a function that looks at its scope's
// context.
func (fn *Func[In, Out]) TraceContext(ctx context.Context, in In) (*graph.Concrete, error) {
	t, err := fn.ensureTrace(ctx, nil, in, true)
	if err != nil {
		return nil, err
	}
	return t.concrete, nil
}

// Traces returns the functions that were traced, in their order.
func (fn *Func[In, Out]) Traces() []*graph.Concrete {
	var out []*graph.Concrete
	for _, t := range fn.traced() {
		out = append(out, t.concrete)
	}
	return out
}

// ensureTrace returns the trace for in, called from the scope from, which is nil if
// the call comes from outside. With exact, known sizes stay known.
func (fn *Func[In, Out]) ensureTrace(ctx context.Context, from *ops.Scope, in In, exact bool) (t *trace[In, Out], err error) {
	if fn.err != nil {
		return nil, fn.err
	}
	if err := check(fn.in, unsafe.Pointer(&in)); err != nil {
		return nil, err
	}
	if ctx.Value(tracingKey{fn}) != nil {
		return nil, fmt.Errorf("%w (%s)", ErrRecursive, fn)
	}
	want, err := fn.signatureOf(&in, from)
	if err != nil {
		return nil, err
	}
	if fixed := fn.fixed; fixed != nil {
		if !fixed.accepts(&want) {
			return nil, fn.unfit(&in)
		}
		want.facts, exact = fixed.facts, true
	}
	// The gate comes before the lock, as in a call: a checkpoint that waits for
	// calls to end must not come between the two.
	err = trackable.Step(context.WithValue(ctx, tracingKey{fn}, true), func(ctx context.Context) error {
		unlock, err := fn.lock()
		if err != nil {
			return err
		}
		defer unlock()
		for _, have := range fn.traced() {
			if have.equal(&want) {
				t = have
				return nil
			}
		}
		if !exact {
			if t = fn.best(&want); t != nil {
				return nil // another call has made it meanwhile
			}
		}
		if err := fn.limit(&in); err != nil {
			return err
		}
		if !exact && !fn.opts.ExactShapes {
			if t = fn.relaxed(ctx, from, in, &want); t != nil {
				return nil
			}
		}
		made, _, err := fn.make(ctx, from, in, want)
		if err != nil {
			return err
		}
		t = fn.add(made)
		return nil
	})
	return t, err
}

// lock lets one goroutine trace the function at a time, so that none traces it for
// nothing. A goroutine that traces another function must not wait: the holder of
// the lock may be waiting for that one, or be this goroutine. It then continues
// without the lock, unless more than maxNested traces are inside each other.
func (fn *Func[In, Out]) lock() (unlock func(), err error) {
	if fn.tracing.TryLock() {
		return fn.tracing.Unlock, nil
	}
	switch depth := ops.TraceDepth(); {
	case depth == 0:
		fn.tracing.Lock()
		return fn.tracing.Unlock, nil
	case depth > maxNested:
		return nil, fmt.Errorf("%w (%s)", ErrRecursive, fn)
	}
	return func() {}, nil
}

// maxNested is the limit of nested traces if one has to continue without the lock.
const maxNested = 100

func (fn *Func[In, Out]) traced() []*trace[In, Out] {
	if l := fn.traces.Load(); l != nil {
		return *l
	}
	return nil
}

func (fn *Func[In, Out]) add(t *trace[In, Out]) *trace[In, Out] {
	for {
		old := fn.traces.Load()
		var list []*trace[In, Out]
		if old != nil {
			list = append(list, *old...)
		}
		list = append(list, t)
		if fn.traces.CompareAndSwap(old, &list) {
			return t
		}
	}
}

type tracingKey struct{ fn any }

// ofPanic returns the error of a Go function that panicked while it was traced. A
// function that is not allowed in a trace, and returns no error, panics with the
// complete error.
func ofPanic(r any) error {
	if err, ok := r.(error); ok && errors.Is(err, trackable.ErrInTrace) {
		return err
	}
	return engine.NewPanicError(r)
}

// make runs the Go function over symbols. looked reports that it has asked for
// a size that isn't known.
func (fn *Func[In, Out]) make(ctx context.Context, from *ops.Scope, in In, of signature) (t *trace[In, Out], looked bool, err error) {
	t = &trace[In, Out]{signature: of, in: in}
	s, tr := ops.NewTrace(ctx, fn.graphName(), &ops.ScopeOptions{Kernels: fn.opts.Kernels, Shapes: fn.opts.Shapes, From: from})
	if len(fn.traced()) > 0 {
		tr.RefuseNewVariables()
	}
	defer func() {
		if r := recover(); r != nil {
			err = ofPanic(r)
			if first := s.Err(); first != nil {
				err = first
			}
		}
		looked = tr.LookedAtSizes()
		_ = s.Close()
	}()
	fn.in.Detach(unsafe.Pointer(&in))
	var args []*ops.Value
	err = fn.in.Update(unsafe.Pointer(&in), visit(func(at **ops.Value, place structure.Place) error {
		v, err := tr.Arg(nameOf(place, "in"), of.facts[len(args)])
		*at = v
		args = append(args, v)
		return err
	}))
	if err != nil {
		return nil, false, err
	}
	structIn := describe(fn.in, unsafe.Pointer(&in))
	given := in
	tr.Run(func() { t.out = fn.f(grad.WithRules(s, fn.opts.Gradients), in) })
	if err := fn.unmodified(&given, args, of.key); err != nil && s.Err() == nil {
		return nil, false, err
	}
	fn.out.Detach(unsafe.Pointer(&t.out))
	var results []*ops.Value
	var names []string
	_ = fn.out.Each(unsafe.Pointer(&t.out), visit(func(at **ops.Value, place structure.Place) error {
		t.has = append(t.has, *at != nil)
		if *at != nil {
			results, names = append(results, *at), append(names, nameOf(place, "out"))
		}
		return nil
	}))
	if t.concrete, err = tr.Finish(results, names); err == nil {
		t.concrete.Assemble = grad.Library
		if fn.opts.JITCompile {
			t.concrete.Function.Attrs = append(t.concrete.Function.Attrs, graph.Bool(graph.MustCompile, true), graph.Bool("_noinline", true))
		}
		t.concrete.In, t.concrete.Out = named(structIn, t.concrete.Function), describe(fn.out, unsafe.Pointer(&t.out))
	}
	return t, false, err
}

// unmodified returns an error if the Go function has changed its argument: a slice, a map,
// the target of a pointer. A trace is made once, and so would the change be.
func (fn *Func[In, Out]) unmodified(in *In, args []*ops.Value, key string) error {
	changed := func(name string) error {
		return fmt.Errorf("function: %s modifies its argument %s; a trace would do so once, so return the value instead", fn, name)
	}
	if now, err := fn.in.AppendKey(nil, unsafe.Pointer(in)); err != nil || string(now) != key {
		return changed("in")
	}
	i := 0
	return fn.in.Each(unsafe.Pointer(in), visit(func(at **ops.Value, place structure.Place) error {
		if i++; *at != args[i-1] {
			return changed(place.Name())
		}
		return nil
	}))
}

// named sets the names of a structure's tensors to those of the function's
// arguments.
func named(s *graph.Structure, f *graph.Function) *graph.Structure {
	i := 0
	var walk func(s *graph.Structure)
	walk = func(s *graph.Structure) {
		if s.Kind == graph.TensorStructure && i < len(f.Args) {
			s.Name = f.Args[i].Name
			i++
		}
		for _, k := range s.Order() {
			walk(s.Elems[k])
		}
	}
	walk(s)
	return s
}

// nameOf returns a place's name in a graph; def is the name of the whole.
func nameOf(place structure.Place, def string) string {
	if p := place.Path(); p != "" {
		return strings.ReplaceAll(p, "/", "_")
	}
	return def
}

// graphName returns a name for the function in a graph.
func (fn *Func[In, Out]) graphName() string {
	name := fn.String()
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.NewReplacer("(", "", ")", "", "*", "", ".", "_", "-fm", "", "[", "_", "]", "_").Replace(name)
	return "__inference_" + name
}

func (t *trace[In, Out]) compiled(o *Options) (*engine.Plan, error) {
	t.once.Do(func() {
		t.plan, t.err = engine.Compile(t.concrete.Function, &engine.CompileOptions{Kernels: o.Kernels, Shapes: o.Shapes, Passes: o.Passes})
	})
	return t.plan, t.err
}

// runTrace runs the trace's plan.
func (fn *Func[In, Out]) runTrace(ctx context.Context, t *trace[In, Out], in *In, out *Out) error {
	p, err := t.compiled(fn.opts)
	if err != nil {
		return err
	}
	args := make([]engine.Value, 0, len(t.concrete.Function.Args))
	err = fn.in.Each(unsafe.Pointer(in), visit(func(at **ops.Value, place structure.Place) error {
		d, err := (*at).Data()
		if err != nil {
			return fmt.Errorf("function: %s: %w", place.Name(), err)
		}
		args = append(args, d)
		return nil
	}))
	if err != nil {
		return err
	}
	files := fn.opts.Files
	for _, c := range t.concrete.Captures {
		if c.Variable != nil {
			if err := internals.VariableFault(c.Variable); err != nil {
				return fmt.Errorf("function: the variable %q: %w", c.Variable.Name(), err)
			}
		}
		arg, err := fn.captured(ctx, c)
		if err != nil {
			return err
		}
		args = append(args, arg)
		files = ops.GrantCaptured(files, c.Resource)
	}
	results, err := p.Run(ctx, args, &engine.RunOptions{Workers: fn.opts.Workers, Files: files, MaxOutput: fn.opts.MaxOutput, Instance: fn.opts.Instance, Tracer: tracerOf(ctx)})
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

// captured returns the value of a capture in a call.
func (fn *Func[In, Out]) captured(ctx context.Context, c graph.Capture) (engine.Value, error) {
	x, capturable := c.Resource.(graph.Capturable)
	switch {
	case c.Variable != nil:
		return engine.HandleOf(c.Variable), nil
	case capturable:
		v, err := ops.CapturedData(ctx, fn.opts.Kernels, x)
		if err != nil {
			err = fmt.Errorf("function: a captured object %w", err)
		}
		return v, err
	case c.Tensor != nil:
		return engine.ValueOf(c.Tensor), nil
	}
	return engine.HandleOf(c.Resource), nil
}
