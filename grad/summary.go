package grad

import "github.com/cairnml/cairn/ops"

// summaryRules contains rules for two kinds of ops. Summaries have no gradient. Ops that
// show a value to an observer pass the gradient on unchanged.
var summaryRules = map[string]Rule{
	"ScalarSummary":    none,
	"HistogramSummary": none,
	"MergeSummary":     none,
	"TensorSummary":    none,
	"TensorSummaryV2":  none,
	"DebugIdentityV2":  func(s *ops.Scope, op *Op) { op.Give(0, op.Grad(0)) },
	"RefIdentity":      func(s *ops.Scope, op *Op) { op.Give(0, op.Grad(0)) },
}
