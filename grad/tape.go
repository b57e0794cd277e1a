package grad

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Options say how a tape records.
type Options struct {
	// Persistent lets Gradient be called more than once; the tape then holds
	// what it recorded until the call ends or [Tape.Release]. Default: false.
	Persistent bool
	// Rules are the gradient rules by op name. Default: those of [WithRules] in
	// the scope's context, else [All].
	Rules *Rules
	// WatchNothing leaves trainable variables unwatched unless [Tape.WatchVariable]
	// names them. Default: false.
	WatchNothing bool
	// Watch lists values that the tape follows as it follows trainable variables,
	// as [Tape.Watch] does. Default: none.
	Watch []*ops.Value
}

// Pair is a variable and the gradient with regard to it.
type Pair struct {
	Variable *trackable.Variable
	// Grad has the variable's type and shape; nil where the target doesn't
	// depend on the variable. It may be an [ops.IndexedSlices].
	Grad *ops.Value
}

// Gradients is what [Tape.Gradient] gives and an optimizer takes, in the order
// of the variables asked for.
type Gradients []Pair

type rulesKey struct{}

// WithRules returns a scope of the same call on which [Of] and [Record] use these
// rules; package function makes one of its options.
func WithRules(s *ops.Scope, r *Rules) *ops.Scope {
	if r == nil {
		return s
	}
	return s.With(rulesKey{}, r)
}

// RulesOf returns the rules that [Of] and [Record] use on s: those of the
// closest [WithRules], else [All].
func RulesOf(s *ops.Scope) *Rules {
	if r, ok := s.Value(rulesKey{}).(*Rules); ok {
		return r
	}
	return All()
}

// Tape is what [Of] or [Record] recorded. It belongs to its scope's goroutine.
type Tape struct {
	scope   *ops.Scope
	opts    Options
	rules   *Rules
	paused  int
	used    bool
	vars    []varSlot
	watched []watchSlot
	nodes   []node
	next    int32 // slots given out
	epoch   int32 // how often the tape was reset
	ins     slab[inRef]
	outs    slab[*ops.Value]
	pending derivative                  // of the call that is about to be recorded
	depth   int                         // of the functions in functions that are being differentiated
	values  map[graph.Output]*ops.Value // of the function that was replayed, by the nodes' origins; else nil
}

type varSlot struct {
	v    *trackable.Variable
	slot int32
}

type watchSlot struct {
	v    *ops.Value
	slot int32
}

// node is a recorded op. Its outputs have the slots first, first+1, ….
type node struct {
	op    string
	attrs graph.Attrs
	in    []inRef
	out   []*ops.Value
	first int32
	call  derivative // of an op that calls functions
}

type inRef struct {
	v    *ops.Value
	slot int32 // -1: not tracked
}

// slab hands out short slices of long ones.
type slab[T any] struct{ free []T }

func (s *slab[T]) take(n int) []T {
	if len(s.free) < n {
		s.free = make([]T, max(48, n))
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}

// Of runs f on a scope of the same call whose ops are recorded, and returns f's
// value and the tape that differentiates it.
//
//	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
//		return ops.Mean(s, ops.Square(s, ops.Sub(s, predict(s, x), y)))
//	})
//	optimizer.Apply(s, tape.Gradient(loss, variables))
//
// Inside f only the recording scope goes by its name, so that no term can miss
// the tape.
func Of(s *ops.Scope, f func(s *ops.Scope) *ops.Value, o ...*Options) (loss *ops.Value, tape *Tape) {
	rec, tape := Record(s, o...)
	return f(rec), tape
}

// Record makes a scope of the same call whose ops are recorded, and the tape
// that holds them. It is for recordings that [Of] can't express: of several
// functions, with pauses, or with values that are watched on the way.
//
// Until the gradients have been asked for, an op on the recording scope fails
// that is given a value computed on another scope, since the recording began,
// from something that the tape watches: its gradient would miss that part.
// ops.StopGradient says that this is meant.
func Record(s *ops.Scope, o ...*Options) (*ops.Scope, *Tape) {
	var opts Options
	for _, o := range o {
		if o != nil {
			opts = *o
		}
	}
	if opts.Rules == nil {
		opts.Rules = RulesOf(s)
	}
	return record(s, opts)
}

// record makes a tape whose options have rules.
func record(s *ops.Scope, opts Options) (*ops.Scope, *Tape) {
	t := &Tape{scope: s, opts: opts, rules: opts.Rules}
	t.Watch(t.opts.Watch...)
	return s.WithRecorder(t), t
}

// Watch makes the tape follow what is computed from v from now on, as it
// follows trainable variables by itself. v must have a floating or complex
// type.
func (t *Tape) Watch(values ...*ops.Value) {
	for _, v := range values {
		switch {
		case v == nil:
			t.scope.Fail("GradientTape.Watch", errors.New("the value is nil"))
		case !differentiable(v.DType()):
			t.scope.Fail("GradientTape.Watch", fmt.Errorf("a value of %v has no gradient", v.DType()))
		case t.slotOf(v) < 0:
			t.watched = append(t.watched, watchSlot{v, t.next})
			// In a trace, a constant or a value from outside is one of the trace's own.
			if own := ops.OwnNode(t.scope, v); own != v && own.IsSymbolic() {
				t.watched = append(t.watched, watchSlot{own, t.next})
			}
			t.next++
		}
	}
}

// follow does what Watch does, for an argument of a function, which may be a
// handle.
func (t *Tape) follow(v *ops.Value) {
	t.watched = append(t.watched, watchSlot{v, t.next})
	t.next++
}

// WatchVariable makes the tape follow variables that aren't trainable, or any
// where Options.WatchNothing is set.
func (t *Tape) WatchVariable(vars ...*trackable.Variable) {
	for _, v := range vars {
		if v == nil {
			t.scope.Fail("GradientTape.WatchVariable", errors.New("the variable is nil"))
			continue
		}
		t.varSlot(v)
	}
}

// Stop pauses the recording until the function that it returns is called.
func (t *Tape) Stop() (resume func()) {
	t.paused++
	done := false
	return func() {
		if !done {
			done = true
			t.paused--
		}
	}
}

// Reset forgets all that was recorded and watched, except for what the options
// name, and starts the recording anew.
func (t *Tape) Reset() {
	t.Release()
	t.used = false
	t.epoch++
	t.Watch(t.opts.Watch...)
	t.scope.WithRecorder(t)
}

// Release forgets what was recorded. A tape that isn't persistent does so after
// its Gradient; nobody must.
func (t *Tape) Release() {
	t.scope.EndRecording(t)
	for _, n := range t.nodes {
		for _, in := range n.in {
			in.v.Drop()
		}
	}
	t.nodes, t.vars, t.watched = nil, nil, nil
}

// flows reports whether a gradient can flow through a value: not through a list
// of what has no gradient.
func flows(f graph.Fact) bool {
	if f.DType == tensor.Variant && len(f.Handle) == 1 && f.Handle[0].DType != tensor.Invalid {
		return differentiable(f.Handle[0].DType) || f.Handle[0].DType == tensor.Variant
	}
	return differentiable(f.DType) || f.DType == tensor.Variant
}

// carries does what flows does, for a value.
func carries(v *ops.Value) bool {
	if d := v.DType(); d != tensor.Variant {
		return differentiable(d)
	}
	return flows(v.Fact())
}

func differentiable(d tensor.DType) bool { return d.IsFloating() || d.IsComplex() }

func (t *Tape) varSlot(v *trackable.Variable) int32 {
	for i := range t.vars {
		if t.vars[i].v == v {
			return t.vars[i].slot
		}
	}
	t.vars = append(t.vars, varSlot{v, t.next})
	t.next++
	return t.next - 1
}

// GradientOptions say what [Tape.GradientWith] computes.
type GradientOptions struct {
	// OutputGradients are the gradients that flow into the targets, of their types
	// and shapes; a nil one is ones. Default: nil, ones for all.
	OutputGradients []*ops.Value
	// Zero gives zeros instead of nil for a source that the target doesn't
	// depend on. Default: false.
	Zero bool
}

// Gradient returns the gradient of the sum of target's elements with regard to
// each variable. A tape that isn't persistent can be asked once.
func (t *Tape) Gradient(target *ops.Value, vars []*trackable.Variable, o ...*GradientOptions) Gradients {
	srcs := make([]source, len(vars))
	for i, v := range vars {
		srcs[i].variable = v
	}
	got := t.backward([]*ops.Value{target}, srcs, o)
	out := make(Gradients, len(vars))
	for i, v := range vars {
		out[i] = Pair{v, got[i]}
	}
	return out
}

// GradientOf does what [Tape.Gradient] does, with regard to watched values, or
// to values computed on the way.
func (t *Tape) GradientOf(target *ops.Value, sources ...*ops.Value) []*ops.Value {
	return t.GradientWith([]*ops.Value{target}, sources)
}

// GradientWith does what [Tape.GradientOf] does, with options and any number of
// targets, whose gradients add up.
func (t *Tape) GradientWith(targets, sources []*ops.Value, o ...*GradientOptions) []*ops.Value {
	srcs := make([]source, len(sources))
	for i, v := range sources {
		srcs[i].value = v
	}
	return t.backward(targets, srcs, o)
}

type source struct {
	variable *trackable.Variable
	value    *ops.Value
}
