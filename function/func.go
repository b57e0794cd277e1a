package function

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/callers"
	"github.com/cairnml/cairn/internal/structure"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// The names of the methods must stay. depth.go counts Call in stacks; packages trackable
// and savedmodel recognize functions by the others. Programs and packages keras/models,
// keras/training and lookup make Funcs.

// Func is a Go function on values. Call runs it from any goroutine; ctx can stop it
// between two ops.
type Func[In, Out any] struct {
	f    func(*ops.Scope, In) Out
	opts *Options
	in   *structure.Layout
	out  *structure.Layout
	err  error

	fixed   *signature       // the only signature that is accepted, or nil
	fixedIn *graph.Structure // fixed as a graph.Structure, for SavedModels and errors

	tracing sync.Mutex // held while a trace is made; see lock
	exact   sync.Map   // keys of signatures that can't be traced with unknown sizes
	traces  atomic.Pointer[[]*trace[In, Out]]
}

// New makes a Func of f. In and Out are a *ops.Value, or a struct, slice, array,
// map, pointer or interface that holds values at any depth. Everything else in an
// In is a static argument: it passes through untouched, and another value of it
// needs another trace. A pointer to a struct with fields that aren't exported is
// an object: it isn't looked into, and is distinguished from others by identity.
func New[In, Out any](f func(s *ops.Scope, in In) Out, o ...*Options) *Func[In, Out] {
	fn := &Func[In, Out]{f: f, opts: pick(o)}
	if f == nil {
		fn.err = fmt.Errorf("function: New of a nil function")
		return fn
	}
	if fn.in, fn.err = layoutOf(reflect.TypeFor[In](), "in"); fn.err != nil {
		return fn
	}
	if fn.out, fn.err = layoutOf(reflect.TypeFor[Out](), "out"); fn.err == nil && fn.opts.Signature != nil {
		fn.err = fn.fix(fn.opts.Signature)
	}
	return fn
}

// Call runs the function. The error is the first op that failed, with its types,
// shapes and the caller's line, or the context's end, or a panic of the function (an
// *engine.PanicError). After an error the Out is the zero one.
//
// The call runs inside trackable.Step: a checkpoint is taken before or after it. A
// Call inside another one, with its scope's context, is part of that step. A Call begins
// by delivering pending restores to objects that have appeared since. A value that
// can't be delivered, and a variable that a strict restore should have filled and
// didn't, is the call's error.
//
// While a gradient tape records the scope of ctx, Call is an Apply on that scope. The
// tape records it, and its results belong to the scope.
//
// It is for code outside of traced functions. While one is traced, a Call is an error,
// trackable.ErrInTrace; use [Func.Apply] there.
func (fn *Func[In, Out]) Call(ctx context.Context, in In) (Out, error) {
	var out Out
	if fn.err != nil {
		return out, fn.err
	}
	if err := check(fn.in, unsafe.Pointer(&in)); err != nil {
		return out, err
	}
	// The order of these checks matters. A recorded Call can call itself too, so recursion
	// is the first one. A tape may also record in a trace: the Call is an error there, and
	// not an Apply. A recorded Call is part of its scope's step, so Step is the last.
	defer running.Add(-1)
	if running.Add(1) > manyCalls && tooManyCalls() {
		return out, fmt.Errorf("%w (%s)", ErrRecursive, fn)
	}
	if site, ok := callers.InTrace(); ok {
		return out, fmt.Errorf("%s: function: a Call of %s %w; use Apply, which runs it in every call of the traced function", site, fn, trackable.ErrInTrace)
	}
	if s := ops.Recorded(ctx); s != nil {
		out, err := fn.applyTo(s, in)
		if err != nil {
			s.Fail("Call", err)
		}
		if err := s.Err(); err != nil {
			var zero Out
			return zero, err
		}
		return out, nil
	}
	err := trackable.Step(ctx, func(ctx context.Context) error {
		t, err := fn.matchingTrace(&in)
		if t == nil && err == nil && fn.opts.Mode == Traced {
			t, err = fn.ensureTrace(ctx, nil, in, false)
		}
		if err != nil {
			return err
		}
		if t != nil && fn.opts.Mode != Eagerly {
			return fn.runTrace(ctx, t, &in, &out)
		}
		return fn.runEagerly(ctx, in, &out)
	})
	if err != nil {
		var zero Out
		return zero, err
	}
	return out, nil
}

func (fn *Func[In, Out]) runEagerly(ctx context.Context, in In, out *Out) (err error) {
	s := fn.opts.scope(ctx, true)
	defer func() {
		if r := recover(); r != nil {
			err = engine.NewPanicError(r)
		}
		// An op's error came first: the panic follows from it, such as indexing a
		// failed op's outputs.
		if first := s.Close(); first != nil {
			err = first
		}
	}()
	*out = fn.f(s, in)
	if s.Err() != nil {
		return s.Err()
	}
	if err := keep(fn.out, s, unsafe.Pointer(out)); err != nil {
		return fmt.Errorf("%s: %w", fn.site(), err)
	}
	return nil
}

// site returns the line on which the Go function begins.
func (fn *Func[In, Out]) site() string {
	pc := reflect.ValueOf(fn.f).Pointer()
	file, line := runtime.FuncForPC(pc).FileLine(pc)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

// InputSignature returns the only signature that the function takes, a tuple of its
// parameters; nil if it takes any.
func (fn *Func[In, Out]) InputSignature() *graph.Structure {
	if fn.fixedIn == nil {
		return nil
	}
	_, types := (&graph.Concrete{In: fn.fixedIn}).Parameters()
	return graph.TupleOf(types...)
}

// TraceSignature traces the function for Options.Signature if that trace doesn't exist.
// Without Options.Signature it does nothing. Saving a SavedModel calls it, as TensorFlow
// traces functions with an input signature.
func (fn *Func[In, Out]) TraceSignature(ctx context.Context) error {
	if fn.fixed == nil || len(fn.traced()) > 0 {
		return fn.err
	}
	_, err := fn.TraceContext(ctx, fn.opts.Signature.(In))
	return err
}

// NotTracked keeps functions out of the object graph of a checkpoint.
func (fn *Func[In, Out]) NotTracked() {}

// SavedModelOnly makes functions nodes of the object graph of a SavedModel.
func (fn *Func[In, Out]) SavedModelOnly() {}

// String returns the Go function's name.
func (fn *Func[In, Out]) String() string {
	if fn.f == nil {
		return "function(nil)"
	}
	return runtime.FuncForPC(reflect.ValueOf(fn.f).Pointer()).Name()
}
