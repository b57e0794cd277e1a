package metrics

import (
	"errors"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/internal/samples"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

var errUnmade = errors.New("the metric has no variables; it needs an update first")

// Averaged is embedded by metrics that are the mean of a function of truths and predictions.
type Averaged struct {
	Mean
	kwargs *trackable.Map[*trackable.Variable] `cairn:"-"` // tf_keras's node for the function's arguments
}

// States lists the variables.
func (m *Averaged) States(in tensor.Shape) ([]State, error) {
	list, err := m.Mean.States(in)
	if m.kwargs == nil {
		m.kwargs = trackable.NewMap[*trackable.Variable]()
	}
	return append(list, State{Edge: "_fn_kwargs", Child: m.kwargs}), err
}

// Result returns the mean, 0 before the first update.
func (m *Averaged) Result(s *ops.Scope) *ops.Value {
	if !m.ready(s, m) {
		return s.Fail("metric", errUnmade)
	}
	return m.Mean.Result(s)
}

// Reset forgets all updates.
func (m *Averaged) Reset(s *ops.Scope) { m.reset(s, m) }

// average takes the values of f into the mean.
func (m *Averaged) average(s *ops.Scope, f losses.Func, truth, predicted, weights ops.Input) {
	t, p := samples.CastTo(s, truth, m.dtype()), samples.CastTo(s, predicted, m.dtype())
	if s.Err() != nil {
		return
	}
	t, p = samples.MatchRanks(s, t, p)
	values := f(s, t, p)
	if s.Err() != nil {
		return
	}
	if w := samples.Masked(s, weights, base.MaskOf(values), values.DType()); w != nil {
		m.add(s, m, values, w)
		return
	}
	m.add(s, m, values, nil)
}

// MeanMetricWrapper is the mean of a function of truths and predictions, such as that of a
// loss.
type MeanMetricWrapper struct {
	Averaged
	// Fn is the function.
	Fn losses.Loss `cairn:"-"`
}

// Update takes a batch into the mean.
func (m *MeanMetricWrapper) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	if m.Fn == nil {
		s.Fail("MeanMetricWrapper", errors.New("Fn is missing"))
		return
	}
	m.average(s, m.function(), truth, predicted, weights)
}

// function returns the values of Fn: those of the examples for functions, the reduced loss
// of a loss with a reduction.
func (m *MeanMetricWrapper) function() losses.Func {
	switch f := m.Fn.(type) {
	case losses.Func:
		return f
	case *losses.Function:
		return f.Func
	}
	return func(s *ops.Scope, truth, predicted ops.Input) *ops.Value { return m.Fn.Loss(s, truth, predicted, nil) }
}
