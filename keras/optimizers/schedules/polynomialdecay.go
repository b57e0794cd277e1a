package schedules

import (
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
)

// PolynomialDecay falls from InitialLearningRate to EndLearningRate in DecaySteps steps
// and stays there:
// (InitialLearningRate-EndLearningRate) * (1-step/DecaySteps)^Power + EndLearningRate.
type PolynomialDecay struct {
	// InitialLearningRate is the rate of the first step.
	InitialLearningRate float64
	// DecaySteps is the number of steps until the end.
	DecaySteps Steps
	// EndLearningRate is the rate at the end. Default: 0.0001.
	EndLearningRate *float64 `keras:",default=0.0001"`
	// Power bends the curve. Default: 1, a straight line.
	Power *float64 `keras:",default=1.0"`
	// Cycle begins again with twice, three times, … the DecaySteps when they are over.
	// Default: the rate stays at EndLearningRate.
	Cycle bool
	// Name names the schedule's ops in TensorFlow. Default: none.
	Name *string
}

// Rate returns the rate after the given number of steps.
func (d PolynomialDecay) Rate(s *ops.Scope, step *ops.Value) *ops.Value {
	if v, failed := d.DecaySteps.fail(s, "PolynomialDecay", "DecaySteps"); failed {
		return v
	}
	d = config.Completed(d)
	at, steps := float32Step(s, step), float32Of(s, float64(d.DecaySteps))
	if d.Cycle {
		// At step 0 the first cycle has begun.
		cycles := ops.Where(s, ops.Equal(s, at, 0), float32Of(s, 1), ops.Ceil(s, ops.Div(s, at, float64(d.DecaySteps))))
		steps = ops.Mul(s, steps, cycles)
	} else {
		at = ops.Minimum(s, at, steps)
	}
	p := ops.Div(s, at, steps)
	span := ops.Sub(s, float32Of(s, d.InitialLearningRate), float32Of(s, *d.EndLearningRate))
	return ops.Add(s, ops.Mul(s, span, ops.Pow(s, ops.Sub(s, 1, p), *d.Power)), *d.EndLearningRate)
}
