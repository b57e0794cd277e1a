package metrics

import (
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/ops"
)

// Hinge is the mean of [losses.Hinge].
type Hinge struct{ Averaged }

// Update takes a batch into account.
func (m *Hinge) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, losses.Hinge{}.Call, truth, predicted, weights)
}

// SquaredHinge is the mean of [losses.SquaredHinge].
type SquaredHinge struct{ Averaged }

// Update takes a batch into account.
func (m *SquaredHinge) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, losses.SquaredHinge{}.Call, truth, predicted, weights)
}

// CategoricalHinge is the mean of [losses.CategoricalHinge].
type CategoricalHinge struct{ Averaged }

// Update takes a batch into account.
func (m *CategoricalHinge) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.average(s, losses.CategoricalHinge{}.Call, truth, predicted, weights)
}
