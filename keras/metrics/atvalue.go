package metrics

import (
	"fmt"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// matrix has the four cells of a confusion matrix, [thresholds], or [thresholds, labels] in an AUC
// with MultiLabel.
type matrix struct {
	TruePositives  *trackable.Variable `cairn:"-"`
	TrueNegatives  *trackable.Variable `cairn:"-"`
	FalsePositives *trackable.Variable `cairn:"-"`
	FalseNegatives *trackable.Variable `cairn:"-"`
}

// all lists the cells as variables of a shape. late is true if the first update shows the shape.
func (m *matrix) all(shape tensor.Shape, late bool) []State {
	return []State{
		{To: &m.TruePositives, Edge: "true_positives", Shape: shape, Late: late},
		{To: &m.TrueNegatives, Edge: "true_negatives", Shape: shape, Late: late},
		{To: &m.FalsePositives, Edge: "false_positives", Shape: shape, Late: late},
		{To: &m.FalseNegatives, Edge: "false_negatives", Shape: shape, Late: late},
	}
}

func (m *matrix) cells() cells {
	return cells{m.TruePositives, m.TrueNegatives, m.FalsePositives, m.FalseNegatives}
}

// atValue is embedded by metrics that are the best of one rate for which another one
// reaches a value.
type atValue struct {
	Base
	matrix
	// ClassID looks at one class along the last axis. Default: all.
	ClassID *int `keras:"class_id"`
	// NumThresholds is the number of thresholds, at equal distances from 0 to 1. Default:
	// 200.
	NumThresholds int `keras:",default=200"`
}

func (m *atValue) thresholds() int {
	if m.NumThresholds == 0 {
		return 200
	}
	return m.NumThresholds
}

func (m *atValue) statesFor(value float64) ([]State, error) {
	n := m.thresholds()
	switch {
	case n < 1 || n > maxThresholds:
		return nil, fmt.Errorf("NumThresholds is %d, want 1 to %d", n, maxThresholds)
	case !(value >= 0 && value <= 1):
		return nil, fmt.Errorf("the value is %v, want 0 to 1", value)
	}
	return append(m.all(tensor.Shape{n}, false), State{Edge: "thresholds", Child: trackable.NewList[*trackable.Variable]()}), nil
}

func (m *atValue) update(s *ops.Scope, self any, truth, predicted, weights ops.Input) {
	if m.Ready(s, self) {
		list := spread(m.thresholds())
		c := counting{thresholds: list, even: len(list) > 1, classID: m.ClassID}
		c.count(s, m.dtype(), m.cells(), truth, predicted, weights)
	}
}

// best returns the largest rate of the thresholds at which the rate limited is at least
// value, 0 for none.
func (m *atValue) best(s *ops.Scope, self any, limited, rate func(s *ops.Scope) *ops.Value, value float64) *ops.Value {
	if !m.Ready(s, self) {
		return s.Fail(className(self), errUnmade)
	}
	of := rate(s)
	return ops.Max(s, ops.Where(s, ops.GreaterEqual(s, limited(s), value), of, ops.ZerosLike(s, of)))
}

// sensitivity returns the recall of each threshold.
func (m *atValue) sensitivity(s *ops.Scope) *ops.Value {
	return share(s, m.TruePositives, m.FalseNegatives)
}

func (m *atValue) specificity(s *ops.Scope) *ops.Value {
	return share(s, m.TrueNegatives, m.FalsePositives)
}

func (m *atValue) precision(s *ops.Scope) *ops.Value {
	return share(s, m.TruePositives, m.FalsePositives)
}

// SensitivityAtSpecificity is the best sensitivity of all thresholds whose specificity
// is at least Specificity.
type SensitivityAtSpecificity struct {
	atValue
	// Specificity is the least specificity, 0 to 1.
	Specificity float64
}

// States lists the variables.
func (m *SensitivityAtSpecificity) States(tensor.Shape) ([]State, error) {
	return m.statesFor(m.Specificity)
}

// Update takes a batch into account.
func (m *SensitivityAtSpecificity) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.update(s, m, truth, predicted, weights)
}

// Reset forgets all updates.
func (m *SensitivityAtSpecificity) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the best rate, 0 if no threshold qualifies.
func (m *SensitivityAtSpecificity) Result(s *ops.Scope) *ops.Value {
	return m.best(s, m, m.specificity, m.sensitivity, m.Specificity)
}

// SpecificityAtSensitivity is the best specificity of all thresholds whose sensitivity
// is at least Sensitivity.
type SpecificityAtSensitivity struct {
	atValue
	// Sensitivity is the least sensitivity, 0 to 1.
	Sensitivity float64
}

// States lists the variables.
func (m *SpecificityAtSensitivity) States(tensor.Shape) ([]State, error) {
	return m.statesFor(m.Sensitivity)
}

// Update takes a batch into account.
func (m *SpecificityAtSensitivity) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.update(s, m, truth, predicted, weights)
}

// Reset forgets all updates.
func (m *SpecificityAtSensitivity) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the best rate, 0 if no threshold qualifies.
func (m *SpecificityAtSensitivity) Result(s *ops.Scope) *ops.Value {
	return m.best(s, m, m.sensitivity, m.specificity, m.Sensitivity)
}

// PrecisionAtRecall is the best precision of all thresholds whose recall is at least
// Recall.
type PrecisionAtRecall struct {
	atValue
	// Recall is the least recall, 0 to 1.
	Recall float64
}

// States lists the variables.
func (m *PrecisionAtRecall) States(tensor.Shape) ([]State, error) { return m.statesFor(m.Recall) }

// Update takes a batch into account.
func (m *PrecisionAtRecall) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.update(s, m, truth, predicted, weights)
}

// Reset forgets all updates.
func (m *PrecisionAtRecall) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the best rate, 0 if no threshold qualifies.
func (m *PrecisionAtRecall) Result(s *ops.Scope) *ops.Value {
	return m.best(s, m, m.sensitivity, m.precision, m.Recall)
}

// RecallAtPrecision is the best recall of all thresholds whose precision is at least
// Precision.
type RecallAtPrecision struct {
	atValue
	// Precision is the least precision, 0 to 1.
	Precision float64
}

// States lists the variables.
func (m *RecallAtPrecision) States(tensor.Shape) ([]State, error) { return m.statesFor(m.Precision) }

// Update takes a batch into account.
func (m *RecallAtPrecision) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.update(s, m, truth, predicted, weights)
}

// Reset forgets all updates.
func (m *RecallAtPrecision) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the best rate, 0 if no threshold qualifies.
func (m *RecallAtPrecision) Result(s *ops.Scope) *ops.Value {
	return m.best(s, m, m.precision, m.sensitivity, m.Precision)
}
