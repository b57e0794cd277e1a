package grad

import "github.com/cairnml/cairn/ops"

var stateRules = map[string]Rule{
	"ReadVariableOp": func(s *ops.Scope, op *Op) { op.Give(0, op.Grad(0)) },
	"ResourceGather": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("UnsortedSegmentSum", nil, op.Grad(0), op.In(1), rowsOf(s, op.In(0))))
	},
}

// rowsOf returns the size of the first dimension of what a variable's handle
// holds.
func rowsOf(s *ops.Scope, handle *ops.Value) *ops.Value {
	if c := handle.Fact().Handle; len(c) == 1 && c[0].Shape.HasRank() && c[0].Shape.Rank() > 0 && c[0].Shape.Dim(0) >= 0 {
		return ops.Const(s, int32(c[0].Shape.Dim(0)))
	}
	return ops.StridedSlice(s, s.Emit1("VariableShape", nil, handle), ops.At(0))
}
