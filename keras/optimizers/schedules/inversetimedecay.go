package schedules

import "github.com/cairnml/cairn/ops"

// InverseTimeDecay divides the rate by a number that grows with the step:
// InitialLearningRate / (1 + DecayRate*step/DecaySteps).
type InverseTimeDecay struct {
	// InitialLearningRate is the rate of the first step.
	InitialLearningRate float64
	// DecaySteps is the number of steps in which the divisor grows by DecayRate.
	DecaySteps Steps
	// DecayRate is the growth of the divisor.
	DecayRate float64
	// Staircase keeps the rate between multiples of DecaySteps. Default: it falls with
	// every step.
	Staircase bool
	// Name names the schedule's ops in TensorFlow. Default: none.
	Name *string
}

// Rate returns the rate after the given number of steps.
func (d InverseTimeDecay) Rate(s *ops.Scope, step *ops.Value) *ops.Value {
	if v, failed := d.DecaySteps.fail(s, "InverseTimeDecay", "DecaySteps"); failed {
		return v
	}
	p := fraction(s, step, d.DecaySteps, d.Staircase)
	return ops.Div(s, d.InitialLearningRate, ops.Add(s, 1, ops.Mul(s, d.DecayRate, p)))
}
