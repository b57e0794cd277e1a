package schedules

import (
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
)

// CosineDecayRestarts falls along half a cosine wave again and again: the first
// time in FirstDecaySteps steps, each further time in TMul times as many, from MMul
// times as high.
type CosineDecayRestarts struct {
	// InitialLearningRate is the rate of the first step.
	InitialLearningRate float64
	// FirstDecaySteps is the number of steps of the first fall.
	FirstDecaySteps Steps
	// TMul is the factor of the number of steps. Default: 2.
	TMul *float64 `keras:",default=2.0"`
	// MMul is the factor of the highest rate. Default: 1.
	MMul *float64 `keras:",default=1.0"`
	// Alpha is the part of InitialLearningRate that remains at each end. Default: 0.
	Alpha float64
	// Name names the schedule's ops in TensorFlow. Default: none.
	Name *string
}

// Rate returns the rate after the given number of steps.
func (c CosineDecayRestarts) Rate(s *ops.Scope, step *ops.Value) *ops.Value {
	if v, failed := c.FirstDecaySteps.fail(s, "CosineDecayRestarts", "FirstDecaySteps"); failed {
		return v
	}
	c = config.Completed(c)
	p := ops.Div(s, float32Step(s, step), float64(c.FirstDecaySteps))
	var restarts *ops.Value
	if *c.TMul == 1 {
		restarts = ops.Floor(s, p)
		p = ops.Sub(s, p, restarts)
	} else {
		mul := float32Of(s, *c.TMul)
		rest := ops.Sub(s, 1, mul)
		restarts = ops.Floor(s, ops.Div(s, ops.Log(s, ops.Sub(s, 1, ops.Mul(s, p, rest))), ops.Log(s, mul)))
		grown := ops.Pow(s, mul, restarts)
		before := ops.Div(s, ops.Sub(s, 1, grown), rest)
		p = ops.Div(s, ops.Sub(s, p, before), grown)
	}
	height := ops.Mul(s, 0.5, ops.Pow(s, *c.MMul, restarts))
	return ops.Mul(s, c.InitialLearningRate, above(s, cosine(s, p, height), c.Alpha))
}
