package ops

import (
	"slices"

	"github.com/cairnml/cairn/graph"
)

// Recorder sees the ops of a call. A gradient tape is one.
type Recorder interface {
	// Tracks reports whether an op with these inputs is to be shown to Record.
	Tracks(in []*Value) bool
	// Record is shown an op that has run on a scope made by [Scope.WithRecorder].
	// The slices belong to the scope and change after Record has returned; a
	// recorder that keeps inputs calls [Value.Hold] on them. An error fails the
	// op.
	Record(op string, attrs graph.Attrs, in, out []*Value) error
	// Unrecorded is shown an op that has run on any other scope of the call
	// before [Scope.EndRecording]. A tape marks outputs that are computed from
	// watched values here.
	Unrecorded(op string, in, out []*Value)
}

// Rewriter is a Recorder that changes ops which call functions: a gradient tape
// makes the functions also return the values that their gradients need.
type Rewriter interface {
	Recorder
	// Rewrite receives such an op before it runs, if Tracks holds for its inputs.
	// It returns the attributes to run it with, and inputs to append to the others.
	// The additional outputs of the op follow its own; Record sees them, the op's
	// caller doesn't.
	Rewrite(op string, attrs graph.Attrs, in []*Value) (graph.Attrs, []*Value, error)
}

// call describes an op that calls functions to one recorder. It includes the changes
// of this recorder and of those inside of it. in and out are the numbers of inputs and
// outputs.
type call struct {
	attrs   graph.Attrs
	in, out int
}

// callsFunctions reports whether a Rewriter may change the functions of this op.
// Other ops that call functions, such as those of datasets, run as they are.
func callsFunctions(op string) bool {
	switch op {
	case "PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile":
		return true
	}
	return false
}

// outputsOf returns the number of outputs of an op that calls functions.
func outputsOf(op string, attrs graph.Attrs, in int) int {
	if op == "While" || op == "StatelessWhile" {
		return in
	}
	return len(attrs.Types("Tout"))
}

// rewrite lets the recorders rewrite an op that calls functions, the innermost
// one first, and returns the call that each of them sees. The inputs in
// step.ins grow.
func (s *Scope) rewrite(name string, attrs graph.Attrs) ([]call, graph.Attrs, error) {
	calls := make([]call, len(s.recs))
	ins := slices.Clone(s.step.ins) // the recorders emit ops, too
	for i := len(s.recs) - 1; i >= 0; i-- {
		if r, ok := s.recs[i].(Rewriter); ok && r.Tracks(ins) {
			a, more, err := r.Rewrite(name, attrs, ins)
			if err == nil {
				err = s.step.err
			}
			if err != nil {
				return nil, nil, err
			}
			attrs = a
			for _, v := range more {
				if v, _, err = s.resolve(v); err != nil {
					return nil, nil, err
				}
				ins = append(ins, v)
			}
		}
		calls[i] = call{attrs, len(ins), outputsOf(name, attrs, len(ins))}
	}
	s.step.ins = append(s.step.ins[:0], ins...)
	return calls, attrs, nil
}

// WithRecorder returns a scope of the same call whose ops are shown to the recorders
// of s and to r. Until [Scope.EndRecording], r is also shown the ops of other scopes,
// as Unrecorded.
func (s *Scope) WithRecorder(r Recorder) *Scope {
	recs := make([]Recorder, len(s.recs), len(s.recs)+1)
	copy(recs, s.recs)
	s.step.recorders = append(s.step.recorders, r)
	c := s.child()
	c.recs = append(recs, r)
	return c
}

// EndRecording stops showing r the ops that run on scopes without it.
func (s *Scope) EndRecording(r Recorder) {
	if i := slices.Index(s.step.recorders, r); i >= 0 {
		s.step.recorders = slices.Delete(s.step.recorders, i, i+1)
	}
}

// Recording reports whether a recorder sees this scope's ops.
func (s *Scope) Recording() bool { return len(s.recs) > 0 }

// record shows the op that has just run to the recorders.
func (s *Scope) record(name string, attrs graph.Attrs, calls []call) bool {
	st := s.step
	for i, r := range s.recs {
		ins, outs, attrs := st.ins, st.outs, attrs
		if calls != nil {
			ins, outs, attrs = ins[:calls[i].in], outs[:calls[i].out], calls[i].attrs
		}
		if !r.Tracks(ins) {
			continue
		}
		if err := r.Record(name, attrs, ins, outs); err != nil {
			s.fail(name, attrs, err, st.ins...)
			return false
		}
	}
	for _, r := range st.recorders {
		if !slices.Contains(s.recs, r) {
			r.Unrecorded(name, st.ins, st.outs)
		}
	}
	return true
}

// SetSlot stores a recorder's number with a value that the recorder has just
// been shown as an output. Such a slot has no connection to slot variables.
func SetSlot(v *Value, r Recorder, n int32) {
	v = v.whole()
	e := v.mark()
	if e.slot.rec == nil {
		e.slot = slotRef{r, n}
		return
	}
	e.more = append(e.more, slotRef{r, n})
}

// Slot returns the number that r stored with v.
func Slot(v *Value, r Recorder) (n int32, ok bool) {
	v = v.whole()
	e := v.extras()
	if e.slot.rec == r {
		return e.slot.n, true
	}
	for _, s := range e.more {
		if s.rec == r {
			return s.n, true
		}
	}
	return 0, false
}
