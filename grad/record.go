package grad

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// slotOf returns the slot of a value, -1 for one that the tape doesn't follow.
func (t *Tape) slotOf(v *ops.Value) int32 {
	if n, ok := ops.Slot(v, t); ok && n >= 0 {
		return n
	}
	for i := range t.watched {
		if t.watched[i].v == v {
			return t.watched[i].slot
		}
	}
	x := v.Variable()
	if x == nil {
		return -1
	}
	for i := range t.vars {
		if t.vars[i].v == x {
			return t.vars[i].slot
		}
	}
	if !t.opts.WatchNothing && x.Trainable() && differentiable(x.DType()) {
		return t.varSlot(x)
	}
	return -1
}

// missed reports whether v was computed from a watched value while the tape
// didn't record.
func (t *Tape) missed(v *ops.Value) bool {
	n, ok := ops.Slot(v, t)
	return ok && n == t.missedMark() && t.slotOf(v) < 0
}

// missedMark returns the number that missed values have instead of a slot. A
// reset makes another one, so values that were missed before are valid again.
func (t *Tape) missedMark() int32 { return -2 - t.epoch }

// ended reports whether the tape can't be asked any more.
func (t *Tape) ended() bool { return t.used && !t.opts.Persistent }

// Tracks implements [ops.Recorder].
func (t *Tape) Tracks(in []*ops.Value) bool {
	if t.paused > 0 || t.ended() {
		return false
	}
	for _, v := range in {
		if t.slotOf(v) >= 0 || t.missed(v) {
			return true
		}
	}
	return false
}

// stopsGradient reports whether no gradient flows back through the op.
func stopsGradient(op string) bool { return op == "StopGradient" }

// anyDifferentiable reports whether a gradient can flow into one of the values.
func anyDifferentiable(values []*ops.Value) bool {
	for _, v := range values {
		if carries(v) {
			return true
		}
	}
	return false
}

// Record implements [ops.Recorder].
func (t *Tape) Record(op string, attrs graph.Attrs, in, out []*ops.Value) error {
	p := t.pending
	t.pending = nil
	if stopsGradient(op) || !anyDifferentiable(out) { // optimizer steps and assignments have no outputs
		return nil
	}
	for i, v := range in {
		if t.missed(v) {
			return fmt.Errorf("input %d was computed on another scope while the tape was recording, so that its gradient would be missing; "+
				"compute it on the recording scope (grad.Of has only that in sight), or pass it through ops.StopGradient", i)
		}
	}
	n := node{op: op, attrs: attrs, in: t.ins.take(len(in)), out: t.outs.take(len(out))}
	for i, v := range in {
		n.in[i] = inRef{v, t.slotOf(v)}
		v.Hold()
	}
	copy(n.out, out)
	n.call = p
	n.first = t.next // only now: the inputs above may have taken slots
	for i, v := range out {
		if carries(v) {
			ops.SetSlot(v, t, t.next+int32(i))
		}
	}
	t.next += int32(len(out))
	t.nodes = append(t.nodes, n)
	return nil
}

// Unrecorded implements [ops.Recorder]: it marks values that are computed from
// watched ones.
func (t *Tape) Unrecorded(op string, in, out []*ops.Value) {
	if stopsGradient(op) || !anyDifferentiable(out) {
		return
	}
	for _, v := range in {
		if t.slotOf(v) < 0 && !t.missed(v) {
			continue
		}
		for _, v := range out {
			if carries(v) {
				ops.SetSlot(v, t, t.missedMark())
			}
		}
		return
	}
}
