package schedules

import "github.com/cairnml/cairn/ops"

// ExponentialDecay multiplies the rate by DecayRate every DecaySteps steps:
// InitialLearningRate * DecayRate^(step/DecaySteps).
type ExponentialDecay struct {
	// InitialLearningRate is the rate of the first step.
	InitialLearningRate float64
	// DecaySteps is the number of steps in which the rate is multiplied once.
	DecaySteps Steps
	// DecayRate is the factor.
	DecayRate float64
	// Staircase keeps the rate between multiples of DecaySteps. Default: it falls with
	// every step.
	Staircase bool
	// Name names the schedule's ops in TensorFlow. Default: none.
	Name *string
}

// Rate returns the rate after the given number of steps.
func (e ExponentialDecay) Rate(s *ops.Scope, step *ops.Value) *ops.Value {
	if v, failed := e.DecaySteps.fail(s, "ExponentialDecay", "DecaySteps"); failed {
		return v
	}
	return ops.Mul(s, e.InitialLearningRate, ops.Pow(s, e.DecayRate, fraction(s, step, e.DecaySteps, e.Staircase)))
}
