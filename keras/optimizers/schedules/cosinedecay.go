package schedules

import (
	"math"

	"github.com/cairnml/cairn/ops"
)

// CosineDecay falls from InitialLearningRate to Alpha*InitialLearningRate in DecaySteps
// steps along half a cosine wave, and stays there. With a WarmupTarget the rate first
// rises to that in WarmupSteps steps, and falls from there.
type CosineDecay struct {
	// InitialLearningRate is the rate of the first step.
	InitialLearningRate float64
	// DecaySteps is the number of steps of the fall.
	DecaySteps Steps
	// Alpha is the part of the highest rate that remains at the end. Default: 0.
	Alpha float64
	// Name names the schedule's ops in TensorFlow. Default: none.
	Name *string
	// WarmupTarget is the rate after the warmup. Default: there is no warmup.
	WarmupTarget *float64
	// WarmupSteps is the number of steps of the warmup. Default: 0.
	WarmupSteps Steps
}

// Rate returns the rate after the given number of steps.
func (c CosineDecay) Rate(s *ops.Scope, step *ops.Value) *ops.Value {
	if v, failed := c.DecaySteps.fail(s, "CosineDecay", "DecaySteps"); failed {
		return v
	}
	at := float32Step(s, step)
	if c.WarmupTarget == nil {
		return c.fall(s, ops.Minimum(s, at, float64(c.DecaySteps)), c.InitialLearningRate)
	}
	at = ops.Minimum(s, at, float64(float32(c.DecaySteps)+float32(c.WarmupSteps)))
	from, to := float32(c.InitialLearningRate), float32(*c.WarmupTarget)
	rise := ops.Add(s, ops.Mul(s, to-from, ops.Div(s, at, float64(c.WarmupSteps))), from)
	fall := c.fall(s, ops.Sub(s, at, float64(c.WarmupSteps)), *c.WarmupTarget)
	return ops.Where(s, ops.Less(s, at, float64(c.WarmupSteps)), rise, fall)
}

// fall returns the rate at a step of the fall.
func (c CosineDecay) fall(s *ops.Scope, at *ops.Value, from float64) *ops.Value {
	wave := cosine(s, ops.Div(s, at, float64(c.DecaySteps)), float32Of(s, 0.5))
	return ops.Mul(s, from, above(s, wave, c.Alpha))
}

// cosine returns height*(1+cos(pi*p)).
func cosine(s *ops.Scope, p, height *ops.Value) *ops.Value {
	return ops.Mul(s, height, ops.Add(s, 1, ops.Cos(s, ops.Mul(s, math.Pi, p))))
}

// above returns wave, lifted so that it ends at alpha instead of 0.
func above(s *ops.Scope, wave *ops.Value, alpha float64) *ops.Value {
	return ops.Add(s, ops.Mul(s, 1-alpha, wave), alpha)
}
