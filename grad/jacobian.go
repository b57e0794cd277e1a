package grad

import (
	"fmt"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Gradients returns the same as [Tape.Gradient], for any number of targets, whose
// gradients add up.
func (t *Tape) Gradients(targets []*ops.Value, vars []*trackable.Variable, o ...*GradientOptions) Gradients {
	srcs := make([]source, len(vars))
	for i, v := range vars {
		srcs[i].variable = v
	}
	out := make(Gradients, len(vars))
	for i, g := range t.backward(targets, srcs, o) {
		out[i] = Pair{vars[i], g}
	}
	return out
}

// Jacobian returns the derivative of every element of target with regard to every element
// of each source. Its shape is target's, followed by the source's. It is nil for a source
// that target doesn't depend on. The sizes of target need to be known. A tape that isn't
// persistent can be asked once.
func (t *Tape) Jacobian(target *ops.Value, sources ...*ops.Value) []*ops.Value {
	srcs := make([]source, len(sources))
	for i, v := range sources {
		srcs[i].value = v
	}
	return t.jacobian(target, srcs)
}

// VariableJacobian returns the same as [Tape.Jacobian], with regard to
// variables.
func (t *Tape) VariableJacobian(target *ops.Value, vars ...*trackable.Variable) []*ops.Value {
	srcs := make([]source, len(vars))
	for i, v := range vars {
		srcs[i].variable = v
	}
	return t.jacobian(target, srcs)
}

func (t *Tape) jacobian(target *ops.Value, srcs []source) []*ops.Value {
	s, out := t.scope, make([]*ops.Value, len(srcs))
	if s.Err() != nil {
		return out
	}
	if target == nil {
		s.Fail("GradientTape.Jacobian", fmt.Errorf("the target is nil"))
		return out
	}
	dims, ok := target.Fact().Shape.Tensor()
	n, err := dims.NumElements()
	if !ok || err != nil {
		s.Fail("GradientTape.Jacobian", fmt.Errorf("the sizes of the target need to be known (got shape %v)", target.Fact().Shape.Anonymous()))
		return out
	}
	if t.ended() {
		s.Fail("GradientTape.Jacobian", errUsed)
		return out
	}
	if persistent := t.opts.Persistent; !persistent {
		t.opts.Persistent = true
		defer func() {
			t.opts.Persistent = false
			s.EndRecording(t)
			t.Release()
		}()
	}
	rows := make([][]ops.Input, len(srcs))
	for i := range max(n, 1) { // without elements the first row shows which sources the target depends on
		var dy *ops.Value
		if n > 0 {
			dy = ops.Reshape(s, ops.OneHot(s, i, n, target.DType()), dims...)
		}
		for k, g := range t.backward([]*ops.Value{target}, srcs, []*GradientOptions{{OutputGradients: []*ops.Value{dy}}}) {
			if g != nil {
				rows[k] = append(rows[k], ops.Const(s, g))
			}
		}
	}
	for k, list := range rows {
		if len(list) == 0 || s.Err() != nil {
			continue
		}
		shape := ops.Concat(s, []ops.Input{tensor.Vector(int32s(dims)...), ops.Shape(s, list[0])}, 0)
		all := ops.Stack(s, list)
		if n == 0 {
			all = ops.SliceOf(s, ops.Reshape(s, all, -1), []int{0}, []int{0})
		}
		out[k] = ops.ReshapeTo(s, all, shape)
	}
	return out
}

func int32s(dims tensor.Shape) []int32 {
	out := make([]int32, len(dims))
	for i, d := range dims {
		out[i] = int32(d)
	}
	return out
}
