package grad

import "github.com/cairnml/cairn/ops"

// xlaRules are the rules of XLA's ops that TensorFlow's CPU runs.
var xlaRules = map[string]Rule{
	"XlaEinsum":   gradEinsum,
	"XlaSharding": gradXlaSharding,
}

// gradXlaSharding marks the gradient as the value is marked.
func gradXlaSharding(s *ops.Scope, op *Op) {
	op.Give(0, s.Emit1("XlaSharding", op.Attrs(), op.Grad(0)))
}
