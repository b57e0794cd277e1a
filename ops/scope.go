package ops

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/internal/callers"
)

// Scope is the environment in which ops run: the kernels, the context that can
// cancel them, the recorders (gradient tapes), and the first error. A Scope
// belongs to one goroutine and lasts for one call of a function; function.Eager
// makes one for scripts and tests.
type Scope struct {
	step  *step
	recs  []Recorder
	state scopeState
}

// ScopeOptions are the options of [NewScope].
type ScopeOptions struct {
	// Shapes are the shape rules of traces. Default: shape.All().
	Shapes *shape.Rules
	// Kernels run the ops. There is no default: package function passes kernel.All
	// if its options name none.
	Kernels *engine.KernelSet
	// Instance holds the state of ops that outlives the call: tables, the states
	// of random ops. Default: the process's.
	Instance *engine.Instance
	// Workers is the budget of helpers for large ops. Default:
	// engine.SharedWorkers.
	Workers *engine.Workers
	// Files grants access to files to ops. Default: none.
	Files *engine.Files
	// MaxOutput is the most bytes that one op's output may take. Default:
	// seven eighths of [engine.MachineMemory], less the memory in use.
	MaxOutput int64
	// From is a scope whose training flag and values ([Scope.With]) the new one
	// begins with. Default: none.
	From *Scope
	// Recycle lets [Scope.Close] take back the memory of all values that were
	// not passed to [Scope.Keep]. Default: false, memory is the garbage
	// collector's and values live on.
	Recycle bool
}

// step is the state that the scopes of one call share.
type step struct {
	exec    executor
	ctx     context.Context
	done    <-chan struct{}
	kernels *engine.KernelSet
	env     engine.Env
	err     error
	count   int // the number of ops that were emitted
	closed  atomic.Bool
	slab    []Value // of values to come
	extras  []extra // the additional data of some of them
	// recorders are those of the whole call: ops on scopes that lack one are
	// shown to its Unrecorded.
	recorders []Recorder
	*scratch
}

// scratch is a step's working memory, which the next step can reuse.
type scratch struct {
	call    engine.Runner
	recent  engine.Recent
	ins     []*Value // of the op that is being emitted
	outs    []*Value
	reads   []*Value // reads of variables that hold a lease
	args    []Input
	scalars [64]scalarEntry // of Go numbers: the same few come again in every step
	lists   [64]listEntry   // of shapes, axes and permutations
	strides [16]stridesEntry
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// NewScope makes a scope. Package function does that for its callers; use it to
// build another front end.
func NewScope(ctx context.Context, opts ...*ScopeOptions) *Scope {
	o := last(opts)
	st := &step{exec: eager{}, ctx: ctx, done: ctx.Done(), kernels: o.Kernels, scratch: scratches.Get().(*scratch)}
	st.env = engine.Env{Workers: o.Workers, Files: o.Files, MaxOutput: o.MaxOutput, Instance: o.Instance}
	if st.env.Workers == nil {
		st.env.Workers = engine.SharedWorkers()
	}
	if o.Recycle {
		st.env.Arena = engine.NewArena()
	}
	s := &Scope{step: st}
	if o.From != nil {
		s.state.training, s.state.values = o.From.state.training, o.From.state.values
	}
	return s
}

// Context returns the context of the call: it carries the caller's values, and
// its end stops the scope between two ops.
func (s *Scope) Context() context.Context {
	if len(s.step.recorders) == 0 {
		return s.step.ctx
	}
	return context.WithValue(s.step.ctx, callers.RecordingKey{}, recorded{s, callers.Goroutine()})
}

// recorded is a scope of a call of which something is recorded.
type recorded struct {
	scope     *Scope
	goroutine uint64 // the scope's, which a context can leave
}

// Recording reports whether the calling goroutine is the scope's, and its ops are
// recorded.
func (r recorded) Recording() bool {
	return r.goroutine == callers.Goroutine() && len(r.scope.step.recorders) > 0 && !r.scope.step.closed.Load()
}

// Recorded returns the scope that ctx comes from, if ops of its call are recorded:
// results computed with ctx belong to the recording. It is nil otherwise, and in
// another goroutine than the scope's.
func Recorded(ctx context.Context) *Scope {
	r, ok := ctx.Value(callers.RecordingKey{}).(recorded)
	if !ok || !r.Recording() {
		return nil
	}
	return r.scope
}

// Kernels returns the set that runs the scope's ops.
func (s *Scope) Kernels() *engine.KernelSet { return s.step.kernels }

// Err returns the first failure of an op in this call, or nil. Func.Call
// returns it; only code that uses function.Eager needs to ask.
func (s *Scope) Err() error { return s.step.err }

// Fail makes err the scope's error unless it has one, and returns a failed
// value: the way for a layer or a user's op to report wrong arguments. op is
// the name of the reporter.
func (s *Scope) Fail(op string, err error) *Value {
	s.fail(op, nil, err)
	return s.failed()
}

// Keep returns v as a value that outlives the scope: its memory is no longer
// the scope's. For a v without data, such as a nil, failed or traced one, it returns nil.
func (s *Scope) Keep(v *Value) *Value {
	v = v.whole()
	if v == nil || v.data.IsZero() || v.dead() {
		return nil
	}
	v.keep()
	kept := &Value{data: v.data}
	if e := v.extras(); e.variable != nil {
		*kept.mark() = extra{variable: e.variable, handle: e.handle}
	}
	return kept
}

// Close ends the call: values that were not kept are dead and their memory is
// reused by later calls. It returns the scope's error. Without
// ScopeOptions.Recycle values live on.
func (s *Scope) Close() error {
	st := s.step
	for _, v := range st.reads {
		v.mark().holds = 1
		v.Drop()
	}
	clear(st.reads)
	st.reads = st.reads[:0]
	if st.env.Arena != nil && st.closed.CompareAndSwap(false, true) {
		st.env.Arena.Close()
		st.env.Arena = nil
		sc := st.scratch
		st.scratch = new(scratch) // for a scope that is misused afterwards
		sc.call.Begin(context.Background(), nil)
		clear(sc.ins[:cap(sc.ins)])
		clear(sc.outs[:cap(sc.outs)])
		clear(sc.args[:cap(sc.args)])
		scratches.Put(sc)
	}
	return st.err
}

// alive reports whether ops may still run, and notes the context's end.
func (s *Scope) alive() bool {
	st := s.step
	if st.err != nil {
		return false
	}
	if st.done != nil {
		select {
		case <-st.done:
			st.err = context.Cause(st.ctx)
			return false
		default:
		}
	}
	return true
}
