package function

import (
	"context"
	"fmt"
	"strings"
	"unsafe"

	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/structure"
	"github.com/cairnml/cairn/ops"
)

// signature is the key of a trace: the inputs that it accepts.
type signature struct {
	facts    []graph.Fact // of the input's values: types and shapes
	key      string       // the input without its values: static arguments, lengths, keys
	training bool         // whether the scope trains that calls the function
	rules    *grad.Rules  // the gradient rules of that scope
}

// signatureOf returns the signature of a call from the scope from with in; from is
// nil if the call comes from outside.
func (fn *Func[In, Out]) signatureOf(in *In, from *ops.Scope) (want signature, err error) {
	want.rules = grad.All()
	if from != nil {
		want.training, want.rules = from.Training(), grad.RulesOf(from)
	}
	key, err := fn.in.AppendKey(nil, unsafe.Pointer(in))
	if err != nil {
		return want, fmt.Errorf("function: %w", err)
	}
	want.key = string(key)
	err = fn.in.Each(unsafe.Pointer(in), visit(func(at **ops.Value, _ structure.Place) error {
		f := (*at).Fact().WithoutValue()
		f.Shape = f.Shape.Anonymous()
		want.facts = append(want.facts, f)
		return nil
	}))
	return want, err
}

func (a *signature) comparable(b *signature) bool {
	return a.training == b.training && a.rules == b.rules && len(a.facts) == len(b.facts) && a.key == b.key
}

func (a *signature) equal(b *signature) bool {
	if !a.comparable(b) {
		return false
	}
	for i := range a.facts {
		if !a.facts[i].Equal(b.facts[i]) {
			return false
		}
	}
	return true
}

// accepts reports whether a trace for a takes the inputs that b describes.
func (a *signature) accepts(b *signature) bool {
	if !a.comparable(b) {
		return false
	}
	for i := range a.facts {
		if !a.facts[i].Accepts(b.facts[i]) {
			return false
		}
	}
	return true
}

// best returns the most specific trace that takes the inputs that want
// describes, nil if there is none.
func (fn *Func[In, Out]) best(want *signature) *trace[In, Out] {
	var best *trace[In, Out]
	for _, t := range fn.traced() {
		if t.accepts(want) && (best == nil || best.accepts(&t.signature)) {
			best = t
		}
	}
	return best
}

// matchingTrace returns the trace that a call with in from outside runs.
func (fn *Func[In, Out]) matchingTrace(in *In) (*trace[In, Out], error) {
	if len(fn.traced()) == 0 && fn.fixed == nil {
		return nil, nil
	}
	want, err := fn.signatureOf(in, nil)
	if err != nil {
		return nil, err
	}
	if fn.fixed != nil && !fn.fixed.accepts(&want) {
		return nil, fn.unfit(in)
	}
	return fn.best(&want), nil
}

// Choose returns the trace that a call with in runs: the most specific one whose
// types and shapes in fits and whose static arguments are the same. If there is
// none the error, a *[graph.NoFitError], lists the existing ones.
func (fn *Func[In, Out]) Choose(in In) (*graph.Concrete, error) {
	if fn.err != nil {
		return nil, fn.err
	}
	if err := check(fn.in, unsafe.Pointer(&in)); err != nil {
		return nil, err
	}
	t, err := fn.matchingTrace(&in)
	switch {
	case err != nil:
		return nil, err
	case t == nil:
		return nil, fmt.Errorf("function: %s: %w", fn, &graph.NoFitError{In: describe(fn.in, unsafe.Pointer(&in)), Candidates: fn.structures()})
	}
	return t.concrete, nil
}

func (fn *Func[In, Out]) structures() []*graph.Structure {
	var out []*graph.Structure
	for _, c := range fn.Traces() {
		out = append(out, c.In)
	}
	return out
}

// fix makes a signature the only one that the function takes.
func (fn *Func[In, Out]) fix(signature any) error {
	in, ok := signature.(In)
	if !ok {
		return fmt.Errorf("function: Options.Signature is a %T, and the function takes a %T", signature, in)
	}
	if err := check(fn.in, unsafe.Pointer(&in)); err != nil {
		return fmt.Errorf("function: Options.Signature: %w", err)
	}
	want, err := fn.signatureOf(&in, nil)
	if err != nil {
		return err
	}
	fn.fixed, fn.fixedIn = &want, describe(fn.in, unsafe.Pointer(&in))
	return nil
}

func (fn *Func[In, Out]) unfit(in *In) error {
	return fmt.Errorf("function: %s: %w", fn, &graph.NoFitError{In: describe(fn.in, unsafe.Pointer(in)), Candidates: []*graph.Structure{fn.fixedIn}})
}

// TraceLimitError is the error of a function that has as many traces as it may.
type TraceLimitError struct {
	Function string             // the Go function's name
	Max      int                // Options.MaxTraces
	Input    *graph.Structure   // the input that would need one more trace
	Traces   []*graph.Structure // the arguments of the traces
}

// Error returns a description of the new input, with a list of some of the
// traces.
func (e *TraceLimitError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "function: %s has %d traces, and Options.MaxTraces allows no more; none takes %v. "+
		"Each new static argument needs a new trace; pass an argument that varies as a value, set Options.Signature, or allow more traces. The latest traces are for",
		e.Function, e.Max, e.Input)
	for _, s := range e.Traces[max(0, len(e.Traces)-4):] {
		fmt.Fprintf(&b, "\n  %v", s)
	}
	return b.String()
}

func (fn *Func[In, Out]) limit(in *In) error {
	most := fn.opts.MaxTraces
	if most <= 0 {
		most = maxTraces
	}
	if len(fn.traced()) < most {
		return nil
	}
	return &TraceLimitError{Function: fn.String(), Max: most, Input: describe(fn.in, unsafe.Pointer(in)), Traces: fn.structures()}
}

// relaxed returns a new trace for want in which the sizes that vary aren't known: the
// third one that differs from others in sizes alone. It returns nil if there are no
// two others, or if the function can't be traced so. It also returns nil if the
// function reads such a size, because the trace would be right for no size.
func (fn *Func[In, Out]) relaxed(ctx context.Context, from *ops.Scope, in In, want *signature) *trace[In, Out] {
	wide := *want
	wide.facts = append([]graph.Fact(nil), want.facts...)
	alike := 0
	for _, t := range fn.traced() {
		if t.comparable(want) && relaxFacts(wide.facts, t.facts) {
			alike++
		}
	}
	if _, exact := fn.exact.Load(want.key); alike < 2 || exact {
		return nil
	}
	t, looked, err := fn.make(ctx, from, in, wide)
	if err != nil || looked {
		fn.exact.Store(want.key, true)
		return nil
	}
	return fn.add(t)
}

// relaxFacts makes the sizes unknown in which facts and others differ. It
// reports false, and changes nothing, if they differ in more.
func relaxFacts(facts, others []graph.Fact) bool {
	for i, f := range facts {
		if f.DType != others[i].DType || f.Shape.Rank() != others[i].Shape.Rank() {
			return false
		}
	}
	for i := range facts {
		facts[i].Shape = facts[i].Shape.Relax(others[i].Shape).Anonymous()
	}
	return true
}
