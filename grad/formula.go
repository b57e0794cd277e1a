package grad

import "github.com/cairnml/cairn/ops"

// byFormula differentiates f in place of op. f computes op's outputs, one Value for each, from the first inputs
// of op, whose number is inputs. Only these inputs get gradients. The rules of MatrixSolveLs and of the gradients
// of batch normalization use it.
func byFormula(s *ops.Scope, op *Op, inputs int, f func(s *ops.Scope, in []*ops.Value) []*ops.Value) {
	in := make([]*ops.Value, inputs)
	for i := range in {
		in[i] = ops.Const(s, op.In(i)) // the input as a Value of s: the tape must watch the one that f's ops take
	}
	// WatchNothing: the gradients are those of in alone, not of variables.
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
