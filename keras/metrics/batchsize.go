package metrics

import (
	"errors"

	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/ops"
)

// SumOverBatchSize is the sum of all values that it was given, each times its weight, divided
// by the number of values. In tf_keras it is private (metrics/base_metric.py).
type SumOverBatchSize struct{ Mean }

// Update takes all elements of values into account. weights are those of [Mean.Update].
func (m *SumOverBatchSize) Update(s *ops.Scope, values, weights ops.Input) {
	m.addSize(s, m, values, weights)
}

// addSize takes values into account, for the metric self that embeds m. Unlike Mean, it counts the
// values and not the weights: SUM_OVER_BATCH_SIZE of tf_keras's Reduce. It counts them after the
// mean along dimensions that the weights lack.
func (m *Mean) addSize(s *ops.Scope, self any, values, weights ops.Input) {
	if !m.Ready(s, self) {
		return
	}
	v, _ := weighted(s, values, weights, m.dtype(), ops.Mean)
	if s.Err() != nil {
		return
	}
	ops.AssignAdd(s, m.Total, ops.Sum(s, v))
	ops.AssignAdd(s, m.Count, ops.Cast(s, ops.Size(s, v), m.dtype()))
}

// SumOverBatchSizeMetricWrapper is the [SumOverBatchSize] of a function of truths and
// predictions. In tf_keras it is private too. Like tf_keras's, its config lacks the function, so
// a metric that is made from the config has no Fn.
type SumOverBatchSizeMetricWrapper struct {
	Averaged
	// Fn is the function.
	Fn losses.Loss `keras:"-" cairn:"-"`
}

// Update takes a batch into account.
func (m *SumOverBatchSizeMetricWrapper) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	if m.Fn == nil {
		s.Fail("SumOverBatchSizeMetricWrapper", errors.New("there is no Fn"))
		return
	}
	values, w := m.values(s, functionOf(m.Fn), truth, predicted, weights)
	m.addSize(s, m, values, w)
}
