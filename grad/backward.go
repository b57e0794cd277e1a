package grad

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

var errUsed = errors.New("the tape was asked for gradients already; grad.Options.Persistent keeps it")

// backward computes the gradients of targets with regard to sources.
func (t *Tape) backward(targets []*ops.Value, srcs []source, os []*GradientOptions) []*ops.Value {
	var o GradientOptions
	for _, p := range os {
		if p != nil {
			o = *p
		}
	}
	out := make([]*ops.Value, len(srcs))
	s := t.scope
	if s.Err() != nil {
		return out
	}
	if t.ended() {
		s.Fail("GradientTape.Gradient", errUsed)
		return out
	}
	t.used = true
	resume := t.Stop()
	defer resume()
	if !t.opts.Persistent {
		s.EndRecording(t)
		defer t.Release()
	}

	if n := len(o.OutputGradients); n > len(targets) {
		s.Fail("GradientTape.Gradient", fmt.Errorf("there are %d OutputGradients for %d targets", n, len(targets)))
		return out
	}
	slots := make([]int32, len(srcs))
	for i, src := range srcs {
		slots[i] = -1
		switch {
		case src.variable != nil:
			for _, v := range t.vars {
				if v.v == src.variable {
					slots[i] = v.slot
				}
			}
		case src.value != nil:
			slots[i] = t.slotOf(src.value)
		default:
			s.Fail("GradientTape.Gradient", fmt.Errorf("source %d is nil", i))
			return out
		}
	}
	grads, ok := t.propagate(s, slots, func(b *Op) bool {
		for i, target := range targets {
			if !t.seed(b, i, target, o) {
				return false
			}
		}
		return true
	})
	if !ok {
		return out
	}
	copy(out, grads)
	for i := range out {
		if out[i] == nil && o.Zero {
			out[i] = t.zero(srcs[i])
		}
	}
	return out
}

// propagate runs the rules backwards, on s, from the gradients that seed sets,
// and returns those with regard to the slots: nil for slots without one.
func (t *Tape) propagate(s *ops.Scope, slots []int32, seed func(*Op) bool) ([]*ops.Value, bool) {
	// A slot is needed if a source can be reached from it.
	needed := make([]bool, t.next)
	for _, slot := range slots {
		if slot >= 0 {
			needed[slot] = true
		}
	}
	last := -1
	for i := range t.nodes {
		n := &t.nodes[i]
		for _, in := range n.in {
			if in.slot >= 0 && needed[in.slot] {
				for j := range n.out {
					needed[n.first+int32(j)] = true
				}
				last = i
				break
			}
		}
	}
	b := Op{s: s, rules: t.rules, values: t.values, grads: make([]*ops.Value, t.next), slices: map[int32][]ops.IndexedSlices{}, needed: needed}
	if !seed(&b) {
		return nil, false
	}
	for i := last; i >= 0; i-- {
		b.node = &t.nodes[i]
		if !b.wanted() {
			continue
		}
		rule, err := t.rules.ruleOf(b.node.op, b.node.attrs)
		if err != nil {
			s.Fail(b.node.op, err)
			return nil, false
		}
		rule(s, &b)
		if s.Err() != nil {
			return nil, false
		}
	}
	out := make([]*ops.Value, len(slots))
	for i, slot := range slots {
		if slot >= 0 {
			out[i] = b.gradAt(slot)
		}
	}
	return out, true
}

// seed sets the gradient of a target, ones unless the options have another.
func (t *Tape) seed(b *Op, i int, target *ops.Value, o GradientOptions) bool {
	s := t.scope
	if target == nil {
		s.Fail("GradientTape.Gradient", fmt.Errorf("target %d is nil", i))
		return false
	}
	if t.missed(target) {
		s.Fail("GradientTape.Gradient", fmt.Errorf("target %d was computed on another scope while the tape was recording; "+
			"compute it on the recording scope, inside of grad.Of's function", i))
		return false
	}
	slot := t.slotOf(target)
	if slot < 0 {
		return true // nothing that is watched leads to it
	}
	var dy *ops.Value
	if i < len(o.OutputGradients) {
		dy = o.OutputGradients[i]
	}
	switch {
	case dy == nil && rankOf(target) == 0 && target.DType() == tensor.Float32:
		dy = ops.Const(s, one)
	case dy == nil:
		dy = ops.OnesLike(s, target)
	case !fits(dy, target):
		s.Fail("GradientTape.Gradient", fmt.Errorf("OutputGradients has %v%v for target %d, which is %v%v",
			dy.DType(), dy.Shape(), i, target.DType(), target.Shape()))
		return false
	}
	b.give(slot, dy)
	return s.Err() == nil
}

var one = tensor.Scalar[float32](1)

func (t *Tape) zero(src source) *ops.Value {
	if src.value != nil {
		return ops.ZerosLike(t.scope, src.value)
	}
	v := src.variable
	if shape := v.ValueShape(); !v.Unranked() && !slices.Contains(shape, -1) {
		return ops.Zeros(t.scope, v.DType(), shape...)
	}
	return ops.ZerosLike(t.scope, v)
}

// Op is a recorded op, as its [Rule] sees it.
type Op struct {
	s      *ops.Scope
	rules  *Rules                      // of the tape
	values map[graph.Output]*ops.Value // of the tape
	node   *node
	grads  []*ops.Value
	slices map[int32][]ops.IndexedSlices // by slot: further slices, not yet added to those in grads
	needed []bool
}

// wanted reports whether the op has a gradient to pass on to an input.
func (b *Op) wanted() bool {
	any := false
	for i := range b.node.out {
		any = any || b.grads[b.node.first+int32(i)] != nil
	}
	if !any {
		return false
	}
	for i := range b.node.in {
		if b.Needs(i) {
			return true
		}
	}
	return false
}

// Name returns the op's name.
func (b *Op) Name() string { return b.node.op }

// NumIn returns the number of inputs.
func (b *Op) NumIn() int { return len(b.node.in) }

// NumOut returns the number of outputs.
func (b *Op) NumOut() int { return len(b.node.out) }

// In returns input i as it was when the op ran.
func (b *Op) In(i int) *ops.Value { return b.node.in[i].v }

// Out returns output i.
func (b *Op) Out(i int) *ops.Value { return b.node.out[i] }

// Needs reports whether the gradient with regard to input i is needed. A rule
// may omit gradients that aren't.
func (b *Op) Needs(i int) bool {
	slot := b.node.in[i].slot
	return slot >= 0 && b.needed[slot]
}

// Grad returns the gradient with regard to output i, of its type and shape, or
// nil if nothing depends on that output. At least one output has a gradient, so
// Grad(0) of an op with one output is never nil. It may be an
// [ops.IndexedSlices]; an op that takes it as an input gets the whole tensor.
func (b *Op) Grad(i int) *ops.Value { return b.gradAt(b.node.first + int32(i)) }

// GradOrZero returns Grad, with zeros for nil.
func (b *Op) GradOrZero(i int) *ops.Value {
	if dy := b.Grad(i); dy != nil {
		return dy
	}
	return ops.ZerosLike(b.s, b.Out(i))
}

// Give adds dx to the gradient with regard to input i. It must have the input's
// type and shape. A nil dx adds nothing.
func (b *Op) Give(i int, dx *ops.Value) {
	in := b.node.in[i]
	if dx == nil || in.slot < 0 || !b.needed[in.slot] || b.s.Err() != nil {
		return
	}
	if want := in.v; !isHandle(want) && !fits(dx, want) {
		b.s.Fail(b.node.op, fmt.Errorf("the gradient rule returned %v%v for input %d, which is %v%v",
			dx.DType(), dx.Shape(), i, want.DType(), want.Shape()))
		return
	}
	b.give(in.slot, dx)
}

// isHandle reports whether v is the handle of a variable: its gradient is that
// of the variable's value.
func isHandle(v *ops.Value) bool { return v.DType() == tensor.Resource }

// fits reports whether dx may be a gradient with regard to x: it has x's type
// and, as far as both are known, its shape.
func fits(dx, x *ops.Value) bool {
	if dx.DType() != x.DType() {
		return false
	}
	if !dx.IsSymbolic() && !x.IsSymbolic() {
		return dx.Shape().Equal(x.Shape())
	}
	return dx.Fact().Shape.Compatible(x.Fact().Shape)
}

// Attrs returns the op's attributes.
func (b *Op) Attrs() graph.Attrs { return b.node.attrs }
