package metrics

import (
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Precision is the part of the positive predictions whose truth is positive.
type Precision struct {
	Base
	// Thresholds are the thresholds of the predictions. Default: 0.5, or none with TopK.
	Thresholds Thresholds
	// TopK makes all but the largest predictions along the last axis negative. Default:
	// off.
	TopK *int
	// ClassID looks at one class along the last axis. Default: all.
	ClassID *int `keras:"class_id"`

	TruePositives  *trackable.Variable `cairn:"-"`
	FalsePositives *trackable.Variable `cairn:"-"`
}

// States lists the variables.
func (m *Precision) States(tensor.Shape) ([]State, error) {
	shape := tensor.Shape{len(m.Thresholds.or(0))}
	return append(m.Thresholds.nodes(), State{To: &m.TruePositives, Edge: "true_positives", Shape: shape},
		State{To: &m.FalsePositives, Edge: "false_positives", Shape: shape}), m.Thresholds.check()
}

// Update takes a batch into account.
func (m *Precision) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	if m.Ready(s, m) {
		c := countingAt(m.Thresholds, m.TopK, m.ClassID)
		c.count(s, m.dtype(), cells{tp: m.TruePositives, fp: m.FalsePositives}, truth, predicted, weights)
	}
}

// Reset forgets all updates.
func (m *Precision) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the precision, a number for one threshold. It is 0 without positive
// predictions.
func (m *Precision) Result(s *ops.Scope) *ops.Value {
	if !m.Ready(s, m) {
		return s.Fail("Precision", errUnmade)
	}
	return perThreshold(s, share(s, m.TruePositives, m.FalsePositives), len(m.Thresholds.or(0)))
}

// Recall is the part of the examples with a positive truth whose prediction is positive.
type Recall struct {
	Base
	// Thresholds are the thresholds of the predictions. Default: 0.5, or none with TopK.
	Thresholds Thresholds
	// TopK makes all but the largest predictions along the last axis negative. Default:
	// off.
	TopK *int
	// ClassID looks at one class along the last axis. Default: all.
	ClassID *int `keras:"class_id"`

	TruePositives  *trackable.Variable `cairn:"-"`
	FalseNegatives *trackable.Variable `cairn:"-"`
}

// States lists the variables.
func (m *Recall) States(tensor.Shape) ([]State, error) {
	shape := tensor.Shape{len(m.Thresholds.or(0))}
	return append(m.Thresholds.nodes(), State{To: &m.TruePositives, Edge: "true_positives", Shape: shape},
		State{To: &m.FalseNegatives, Edge: "false_negatives", Shape: shape}), m.Thresholds.check()
}

// Update takes a batch into account.
func (m *Recall) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	if m.Ready(s, m) {
		c := countingAt(m.Thresholds, m.TopK, m.ClassID)
		c.count(s, m.dtype(), cells{tp: m.TruePositives, fn: m.FalseNegatives}, truth, predicted, weights)
	}
}

// Reset forgets all updates.
func (m *Recall) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the recall, a number for one threshold. It is 0 without positive
// examples.
func (m *Recall) Result(s *ops.Scope) *ops.Value {
	if !m.Ready(s, m) {
		return s.Fail("Recall", errUnmade)
	}
	return perThreshold(s, share(s, m.TruePositives, m.FalseNegatives), len(m.Thresholds.or(0)))
}

// countingAt returns how Precision and Recall count. With TopK and no thresholds, each of the
// largest predictions is positive, since the others are negInf.
func countingAt(t Thresholds, topK, classID *int) counting {
	def := 0.5
	if topK != nil {
		def = negInf
	}
	list := t.or(def)
	return counting{thresholds: list, even: evenly(list), topK: topK, classID: classID}
}

// share returns a/(a+b), 0 where both are 0.
func share(s *ops.Scope, a, b ops.Input) *ops.Value { return ops.DivNoNan(s, a, ops.Add(s, a, b)) }
