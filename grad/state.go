package grad

import "github.com/cairnml/cairn/ops"

var stateRules = map[string]Rule{
	"ReadVariableOp": func(s *ops.Scope, op *Op) { op.Give(0, op.Grad(0)) },
	"ResourceGather": func(s *ops.Scope, op *Op) {
		op.Give(0, ops.UnsortedSegmentSum(s, op.Grad(0), op.In(1), op.In(0).Variable().Shape()[0]))
	},
}
