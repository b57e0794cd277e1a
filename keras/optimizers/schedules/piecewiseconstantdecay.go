package schedules

import (
	"fmt"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// PiecewiseConstantDecay is Values[i] up to and including step Boundaries[i], and the
// last of Values after that.
type PiecewiseConstantDecay struct {
	// Boundaries are the last steps of all values but the last, rising.
	Boundaries []Steps
	// Values are the rates, one more than Boundaries.
	Values []float64
	// Name names the schedule's ops in TensorFlow. Default: none.
	Name *string
}

// Rate returns the rate after the given number of steps.
func (p PiecewiseConstantDecay) Rate(s *ops.Scope, step *ops.Value) *ops.Value {
	if len(p.Values) != len(p.Boundaries)+1 {
		return s.Fail("PiecewiseConstantDecay", fmt.Errorf("got %d Values for %d Boundaries, want one more than those", len(p.Values), len(p.Boundaries)))
	}
	rate := float32Of(s, p.Values[len(p.Boundaries)])
	for i := len(p.Boundaries) - 1; i >= 0; i-- {
		// TensorFlow rounds boundaries to the type of the step.
		boundary := ops.Cast(s, ops.ConstOf(s, tensor.Float64, float64(p.Boundaries[i])), step.DType())
		rate = ops.Where(s, ops.LessEqual(s, step, boundary), float32Of(s, p.Values[i]), rate)
	}
	return rate
}
