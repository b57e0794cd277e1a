package grad

import "github.com/cairnml/cairn/ops"

// byFormula computes the gradients of an op as those of f, which computes the op's outputs from its first
// inputs, one value an output. The rules of MatrixSolveLs and of the gradients of batch normalization use it.
func byFormula(s *ops.Scope, op *Op, inputs int, f func(s *ops.Scope, in []*ops.Value) []*ops.Value) {
	in := make([]*ops.Value, inputs)
	for i := range in {
		in[i] = ops.Const(s, op.In(i)) // one of s, as f's ops will find it
	}
	rec, tape := record(s, Options{Rules: op.rules, Watch: in, WatchNothing: true})
	var targets, dys []*ops.Value
	for i, y := range f(rec, in) {
		if dy := op.Grad(i); dy != nil {
			targets, dys = append(targets, y), append(dys, dy)
		}
	}
	if s.Err() != nil || len(targets) == 0 {
		return
	}
	for i, dx := range tape.GradientWith(targets, in, &GradientOptions{OutputGradients: dys}) {
		op.Give(i, dx)
	}
}
