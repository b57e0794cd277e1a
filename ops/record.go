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
	// before [Scope.EndRecording].
	Unrecorded(op string, in, out []*Value)
}

// WithRecorder is a scope of the same call whose ops are shown to r as well.
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
func (s *Scope) record(name string, attrs graph.Attrs) bool {
	st := s.step
	for _, r := range s.recs {
		if !r.Tracks(st.ins) {
			continue
		}
		if err := r.Record(name, attrs, st.ins, st.outs); err != nil {
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
// been shown as an output.
func SetSlot(v *Value, r Recorder, n int32) {
	if v.slot.rec == nil {
		v.slot = slotRef{r, n}
		return
	}
	v.more = append(v.more, slotRef{r, n})
}

// Slot is the number that r stored with v.
func Slot(v *Value, r Recorder) (n int32, ok bool) {
	if v.slot.rec == r {
		return v.slot.n, true
	}
	for _, s := range v.more {
		if s.rec == r {
			return s.n, true
		}
	}
	return 0, false
}
