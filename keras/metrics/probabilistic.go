package metrics

import (
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/ops"
)

// KLDivergence is the mean of [losses.KLDivergence].
type KLDivergence struct{ Averaged }

// Update takes a batch into account.
func (m *KLDivergence) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, losses.KLDivergence{}.Call, truth, predicted, weights)
}

func (m *KLDivergence) defaultName() string { return "kullback_leibler_divergence" }

// Poisson is the mean of [losses.Poisson].
type Poisson struct{ Averaged }

// Update takes a batch into account.
func (m *Poisson) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, losses.Poisson{}.Call, truth, predicted, weights)
}

// BinaryCrossentropy is the mean of [losses.BinaryCrossentropy].
type BinaryCrossentropy struct {
	Averaged
	// FromLogits means that the predictions are logits. Default: probabilities.
	FromLogits bool
	// LabelSmoothing moves the truth this far towards ½. Default: 0.
	LabelSmoothing float64
}

// Update takes a batch into account.
func (m *BinaryCrossentropy) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	l := losses.BinaryCrossentropy{FromLogits: m.FromLogits, LabelSmoothing: m.LabelSmoothing}
	m.average(s, l.Call, truth, predicted, weights)
}

// CategoricalCrossentropy is the mean of [losses.CategoricalCrossentropy].
type CategoricalCrossentropy struct {
	Averaged
	// FromLogits means that the predictions are logits. Default: probabilities.
	FromLogits bool
	// LabelSmoothing takes this part of each distribution and spreads it evenly. Default:
	// 0.
	LabelSmoothing float64
	// Axis is the axis of the classes. Default: -1.
	Axis *int `keras:",default=-1"`
}

// Update takes a batch into account.
func (m *CategoricalCrossentropy) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	l := losses.CategoricalCrossentropy{FromLogits: m.FromLogits, LabelSmoothing: m.LabelSmoothing, Axis: m.Axis}
	m.average(s, l.Call, truth, predicted, weights)
}

// SparseCategoricalCrossentropy is the mean of [losses.SparseCategoricalCrossentropy].
type SparseCategoricalCrossentropy struct {
	Averaged
	// FromLogits means that the predictions are logits. Default: probabilities.
	FromLogits bool
	// IgnoreClass is a class number whose examples count nothing. Default: none.
	IgnoreClass *int
	// Axis is the axis of the classes. Default: -1.
	Axis *int `keras:",default=-1"`
}

// Update takes a batch into account.
func (m *SparseCategoricalCrossentropy) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	l := losses.SparseCategoricalCrossentropy{FromLogits: m.FromLogits, IgnoreClass: m.IgnoreClass, Axis: m.Axis}
	m.average(s, l.Call, truth, predicted, weights)
}
