package optimizers

import "github.com/cairnml/cairn/ops"

// AdamW is tf_keras.optimizers.AdamW: [Adam] with decoupled weight decay. Before Adam's
// step, WeightDecay*rate*variable is subtracted from each variable. It has the new layout,
// because the legacy family has no AdamW.
type AdamW struct {
	Base
	// Beta1 is the decay of the first moments. Default of NewAdamW: 0.9.
	Beta1 float64 `keras:"beta_1"`
	// Beta2 is the decay of the second moments. Default of NewAdamW: 0.999.
	Beta2 float64 `keras:"beta_2"`
	// Epsilon keeps the divisor from 0. Default of NewAdamW: 1e-7.
	Epsilon float64
	// AMSGrad divides by the largest second moment so far. Default: false.
	AMSGrad bool `keras:"amsgrad"`
}

// NewAdamW returns the optimizer with a learning rate, 0.001 in Keras, and Keras's other
// defaults, a WeightDecay of 0.004 among them.
func NewAdamW(rate float64) *AdamW {
	a := &AdamW{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-7}
	a.Init(a, rate)
	a.WeightDecay = new(0.004)
	a.newOnly = true
	a.layout.Store(int32(NewLayout))
	return a
}

// SlotKinds lists the kinds of slots.
func (a *AdamW) SlotKinds() []SlotKind { return adamSlots(a.AMSGrad) }

// UpdateStep changes a variable by its gradient.
func (a *AdamW) UpdateStep(s *ops.Scope, u *Update) { adamStep(s, u, a.Beta1, a.Beta2, a.Epsilon) }

// UpdateRows changes a variable by a gradient of slices. All rows change, as adamRows says.
func (a *AdamW) UpdateRows(s *ops.Scope, u *Update, x ops.IndexedSlices) {
	adamRows(s, u, x, a.Beta1, a.Beta2, a.Epsilon)
}
