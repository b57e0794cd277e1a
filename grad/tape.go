package grad

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Options are the options of [Of] and [Record].
type Options struct {
	// Persistent lets Gradient be called more than once; the tape then keeps its
	// recording until the call ends or [Tape.Release]. Default: false.
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
	// Grad has the variable's type and shape. It is nil if the target doesn't
	// depend on the variable. It may be an [ops.IndexedSlices].
	Grad *ops.Value
}

// Gradients is the result of [Tape.Gradient] and the argument of an optimizer,
// in the order of the requested variables.
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

// Tape is the recording of [Of] or [Record]. It belongs to its scope's
// goroutine.
type Tape struct {
	scope   *ops.Scope
	opts    Options
	rules   *Rules
	paused  int  // calls of Stop that weren't resumed
	used    bool // gradients were asked for
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

// varSlot is a variable that the tape follows. A slot is the number of a followed value: gradients are
// collected by slot.
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
// In the example, the parameter s of f hides the outer scope, so that every op of
// f is recorded.
func Of(s *ops.Scope, f func(s *ops.Scope) *ops.Value, o ...*Options) (loss *ops.Value, tape *Tape) {
	rec, tape := Record(s, o...)
	return f(rec), tape
}

// Record makes a scope of the same call whose ops are recorded, and the tape
// that holds them. It is for recordings that [Of] can't express: of several
// functions, with pauses, or with values that are watched on the way.
//
// Until the gradients have been asked for, the tape rejects values that another
// scope computed, since the recording began, from a value that the tape
// watches. An op on the recording scope with such an input fails, since its
// gradient would miss that part. ops.StopGradient declares that this is
// intended.
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

// Watch makes the tape follow the ops on v from now on, as it follows those on
// trainable variables by default. v must have a floating or complex type.
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

// follow watches an argument of a function as Watch does; it may be a handle.
func (t *Tape) follow(v *ops.Value) {
	t.watched = append(t.watched, watchSlot{v, t.next})
	t.next++
}

// WatchVariable makes the tape follow variables that aren't trainable, or any
// if Options.WatchNothing is set.
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

// Reset forgets all recorded ops and watched values, except for those that the
// options name, and starts the recording anew.
func (t *Tape) Reset() {
	t.Release()
	t.used = false
	t.epoch++
	t.Watch(t.opts.Watch...)
	t.scope.WithRecorder(t)
}

// Release forgets the recording. A tape that isn't persistent does so after its
// Gradient; no caller has to.
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
// of elements without a gradient.
func flows(f graph.Fact) bool {
	if f.DType == tensor.Variant && len(f.Handle) == 1 && f.Handle[0].DType != tensor.Invalid {
		return differentiable(f.Handle[0].DType) || f.Handle[0].DType == tensor.Variant
	}
	return differentiable(f.DType) || f.DType == tensor.Variant
}

// carries reports the same as flows, for a value.
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

// GradientOptions are the options of [Tape.GradientWith].
type GradientOptions struct {
	// OutputGradients are the gradients that flow into the targets, of their types
	// and shapes; a nil one is ones. Default: nil, ones for all.
	OutputGradients []*ops.Value
	// Zero returns zeros instead of nil for a source that the target doesn't depend
	// on. Default: false.
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

// GradientOf returns the same as [Tape.Gradient], with regard to watched
// values, or to values computed on the way.
func (t *Tape) GradientOf(target *ops.Value, sources ...*ops.Value) []*ops.Value {
	return t.GradientWith([]*ops.Value{target}, sources)
}

// GradientWith returns the same as [Tape.GradientOf], with options and any
// number of targets, whose gradients add up.
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
