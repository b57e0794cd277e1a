package metrics

import (
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/internal/samples"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/ops"
)

// MeanSquaredError is the mean of [losses.MeanSquaredError].
type MeanSquaredError struct{ Averaged }

// Update takes a batch into account.
func (m *MeanSquaredError) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, losses.MeanSquaredError{}.Call, truth, predicted, weights)
}

// MeanAbsoluteError is the mean of [losses.MeanAbsoluteError].
type MeanAbsoluteError struct{ Averaged }

// Update takes a batch into account.
func (m *MeanAbsoluteError) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, losses.MeanAbsoluteError{}.Call, truth, predicted, weights)
}

// MeanAbsolutePercentageError is the mean of [losses.MeanAbsolutePercentageError].
type MeanAbsolutePercentageError struct{ Averaged }

// Update takes a batch into account.
func (m *MeanAbsolutePercentageError) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, losses.MeanAbsolutePercentageError{}.Call, truth, predicted, weights)
}

// MeanSquaredLogarithmicError is the mean of [losses.MeanSquaredLogarithmicError].
type MeanSquaredLogarithmicError struct{ Averaged }

// Update takes a batch into account.
func (m *MeanSquaredLogarithmicError) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, losses.MeanSquaredLogarithmicError{}.Call, truth, predicted, weights)
}

// LogCoshError is the mean of [losses.LogCosh].
type LogCoshError struct{ Averaged }

// Update takes a batch into account.
func (m *LogCoshError) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, losses.LogCosh{}.Call, truth, predicted, weights)
}

// defaultName returns tf_keras's name, which isn't the class's in snake case.
func (m *LogCoshError) defaultName() string { return "logcosh" }

// CosineSimilarity is the mean of the cosine of the angle between the truth and the
// predictions along an axis.
type CosineSimilarity struct {
	Averaged
	// Axis is the axis of the vectors. Default: -1.
	Axis *int `keras:",default=-1"`
}

// Update takes a batch into account.
func (m *CosineSimilarity) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, m.cosine, truth, predicted, weights)
}

func (m *CosineSimilarity) cosine(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	return ops.Neg(s, losses.CosineSimilarity{Axis: m.Axis}.Call(s, truth, predicted))
}

// RootMeanSquaredError is the root of the mean of (predicted-truth)² over all elements.
type RootMeanSquaredError struct{ Mean }

// Update takes a batch into account.
func (m *RootMeanSquaredError) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	t, p := samples.CastTo(s, truth, m.dtype()), samples.CastTo(s, predicted, m.dtype())
	if s.Err() != nil {
		return
	}
	t, p = samples.MatchRanks(s, t, p)
	m.add(s, m, ops.SquaredDifference(s, p, t), weights)
}

// Result returns the root, 0 before the first update.
func (m *RootMeanSquaredError) Result(s *ops.Scope) *ops.Value { return ops.Sqrt(s, m.Mean.Result(s)) }

// MeanRelativeError is the mean of |truth-predicted|/Normalizer.
type MeanRelativeError struct {
	Mean
	// Normalizer divides the errors: one number for each column of the predictions, or one
	// for all. An error divided by 0 counts as 0.
	Normalizer []float64
}

// Update takes a batch into account.
func (m *MeanRelativeError) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	t, p := samples.CastTo(s, truth, m.dtype()), samples.CastTo(s, predicted, m.dtype())
	if s.Err() != nil {
		return
	}
	t, p = samples.MatchRanks(s, t, p)
	n, p := samples.MatchRanks(s, samples.CastTo(s, m.Normalizer, m.dtype()), p)
	m.add(s, m, ops.DivNoNan(s, ops.Abs(s, ops.Sub(s, t, p)), n), weights)
}

// EncodeConfig returns the fields.
func (m *MeanRelativeError) EncodeConfig(e *config.Encoder) (config.Fields, error) {
	return encodeArray(e, m, "normalizer", m.Normalizer, m.dtype().String())
}

// DecodeConfig reads the fields.
func (m *MeanRelativeError) DecodeConfig(d *config.Decoder, conf map[string]any) error {
	return decodeArray(d, "MeanRelativeError", m, "normalizer", conf)
}
