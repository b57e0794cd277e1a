package keras

import "math"

// Schedule is a learning rate that depends on the step.
type Schedule interface {
	// Rate is the learning rate after that many steps, 0 for the first step.
	Rate(iterations int64) float64
}

// ScheduleFunc lets a function be a [Schedule].
type ScheduleFunc func(iterations int64) float64

// Rate calls f.
func (f ScheduleFunc) Rate(iterations int64) float64 { return f(iterations) }

// ExponentialDecay multiplies the rate by Factor every Steps steps:
// Initial * Factor^(iterations/Steps).
type ExponentialDecay struct {
	Initial float64
	Steps   int64
	Factor  float64
	// Staircase keeps the rate between multiples of Steps. Default: it falls with
	// every step.
	Staircase bool
}

// Rate is the rate after that many steps.
func (e ExponentialDecay) Rate(iterations int64) float64 {
	p := float64(iterations) / float64(e.Steps)
	if e.Staircase {
		p = math.Floor(p)
	}
	return e.Initial * math.Pow(e.Factor, p)
}

// CosineDecay falls from Initial to Alpha*Initial in Steps steps along half a
// cosine wave, and stays there.
type CosineDecay struct {
	Initial float64
	Steps   int64
	Alpha   float64 // the part of Initial that remains; 0
}

// Rate is the rate after that many steps.
func (c CosineDecay) Rate(iterations int64) float64 {
	p := float64(min(iterations, c.Steps)) / float64(c.Steps)
	wave := 0.5 * (1 + math.Cos(math.Pi*p))
	return c.Initial * ((1-c.Alpha)*wave + c.Alpha)
}

// PiecewiseConstant is Rates[i] up to and including step Boundaries[i], and the
// last of Rates after that; Rates is one longer than Boundaries.
type PiecewiseConstant struct {
	Boundaries []int64
	Rates      []float64
}

// Rate is the rate after that many steps.
func (p PiecewiseConstant) Rate(iterations int64) float64 {
	for i, b := range p.Boundaries {
		if iterations <= b && i < len(p.Rates) {
			return p.Rates[i]
		}
	}
	if len(p.Rates) == 0 {
		return 0
	}
	return p.Rates[len(p.Rates)-1]
}
