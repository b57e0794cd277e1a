package engine

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/engine/internal/analysis"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// dead is the value of the output of a Switch whose branch is not executed. An
// op with a dead input is skipped, and so is an op that waits for a skipped op.
// All its outputs are dead.
type dead struct{}

var deadValue = Value{Object: dead{}}

// isDead reports whether v is dead.
func (v *Value) isDead() bool {
	_, is := v.Object.(dead)
	return is
}

// ErrDead means that a result of a function has no value, because it belongs to
// a branch that was not executed.
var ErrDead = errors.New("the value is dead: it belongs to a branch that was not taken")

// IsBranch reports whether op is Switch or Merge. Every plan executes these without
// a kernel.
func IsBranch(op string) bool { return analysis.IsBranch(op) }

// branches has the data from which a plan with Switch or Merge finds the
// skipped steps.
type branches struct {
	waits [][]int32 // by step: the steps that it waits for
}

// branchStep returns the kernel of a Switch or Merge.
func branchStep(node *Node) *Prepared {
	run := runSwitch
	if analysis.IsMerge(node.Op) {
		run = runMerge
	}
	return &Prepared{node: node, run: run}
}

// runSwitch passes the input to the output that the predicate selects. The
// other output is dead.
func runSwitch(c *Call) error {
	if c.NumIn() != 2 {
		return fmt.Errorf("takes 2 inputs (got %d)", c.NumIn())
	}
	p := c.In(1)
	if p == nil || p.DType() != tensor.Bool || p.Len() != 1 {
		return fmt.Errorf("the predicate is not one bool")
	}
	on := 0
	if tensor.Values[bool](p)[0] {
		on = 1
	}
	*c.slot(1 - on) = deadValue
	c.Pass(on, 0)
	return nil
}

// runMerge returns the first input that is not dead, and its index. TensorFlow returns the one that arrives first.
// In graphs that tf.cond and tf.while_loop make, at most one is alive.
func runMerge(c *Call) error {
	for i := range c.in {
		if !c.in[i].isDead() {
			c.Pass(0, i)
			c.Set(1, tensor.Scalar(int32(i)))
			return nil
		}
	}
	return fmt.Errorf("all inputs are dead")
}

// wait notes for each step which others it waits for.
func (l *planBuilder) wait() {
	if l.plan.branches == nil {
		return
	}
	at := map[*graph.Node]int32{}
	for i := range l.plan.steps {
		at[l.plan.steps[i].node] = int32(i)
	}
	b := l.plan.branches
	b.waits = make([][]int32, len(l.plan.steps))
	for i := range l.plan.steps {
		for _, c := range l.plan.steps[i].node.Control {
			if k, ok := at[c]; ok {
				b.waits[i] = append(b.waits[i], k)
			}
		}
	}
}

// skips reports whether a step of f's call is skipped: one of its inputs is dead, or an
// op that it waits for was skipped. A Merge is skipped if all inputs are dead, a
// ControlTrigger never.
func (p *Plan) skips(f *frame, at int) bool {
	st := &p.steps[at]
	alive := 0
	for _, s := range st.in {
		if !f.slots[s].isDead() {
			alive++
		}
	}
	switch {
	case analysis.IsMerge(st.node.Op):
		return alive == 0
	case st.node.Op == "ControlTrigger":
		return false
	case alive < len(st.in):
		return true
	}
	for _, w := range p.branches.waits[at] {
		if f.skipped[w] {
			return true
		}
	}
	return false
}

// skip makes all outputs of a step dead.
func (p *Plan) skip(f *frame, env *Env, at int) {
	st := &p.steps[at]
	f.skipped[at] = true
	for _, slot := range st.out {
		if slot >= 0 {
			f.slots[slot] = deadValue
		}
	}
	for _, slot := range st.free {
		env.Arena.release(f.slots[slot].buf)
		f.slots[slot] = Value{}
	}
}

// alive returns an error if a result is dead.
func (p *Plan) alive(f *frame) error {
	for i, r := range p.results {
		if f.slots[r.slot].isDead() {
			return fmt.Errorf("%s: result %q: %w", p.name, p.names[i], ErrDead)
		}
	}
	return nil
}
