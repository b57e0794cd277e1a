package grad

import "github.com/cairnml/cairn/ops"

// summaryRules are the rules of summaries, which have no gradient, and of ops
// that pass values to observers.
var summaryRules = map[string]Rule{
	"ScalarSummary":    none,
	"HistogramSummary": none,
	"MergeSummary":     none,
	"TensorSummary":    none,
	"TensorSummaryV2":  none,
	"DebugIdentityV2":  func(s *ops.Scope, op *Op) { op.Give(0, op.Grad(0)) },
	"RefIdentity":      func(s *ops.Scope, op *Op) { op.Give(0, op.Grad(0)) },
}
