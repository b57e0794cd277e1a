package grad

import "github.com/cairnml/cairn/ops"

var stateRules = map[string]Rule{
	"ReadVariableOp": func(s *ops.Scope, op *Op) { op.Give(0, op.Grad(0)) },
}
