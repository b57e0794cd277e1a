package grad

import "github.com/cairnml/cairn/ops"

// stateRules are the rules of reads of variables. The gradient with regard to a handle is that of the
// variable's value.
var stateRules = map[string]Rule{
	"ReadVariableOp": func(s *ops.Scope, op *Op) { op.Give(0, op.Grad(0)) },
	"ResourceGather": func(s *ops.Scope, op *Op) {
		op.Give(0, slicesOf(s, op.Grad(0), op.In(1), valueShape(s, op.In(0))))
	},
}
