package ops

import "github.com/cairnml/cairn/engine"

// Recorder sees the ops of a scope made by [Scope.WithRecorder]. A gradient
// tape is one.
type Recorder interface {
	// Tracks reports whether an op with these inputs is to be shown to Record.
	Tracks(in []*Value) bool
	// Record is shown an op that has run. The slices belong to the scope and
	// change after Record has returned; a recorder that keeps inputs calls
	// [Value.Hold] on them.
	Record(op string, attrs engine.Attrs, in, out []*Value)
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
