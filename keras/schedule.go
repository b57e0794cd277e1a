package keras

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Schedule is a learning rate that depends on the step. It is computed by ops, so
// a traced function computes it anew in every call. One that is a pointer to a struct
// with variables is part of the optimizer's checkpoints.
type Schedule interface {
	// Rate returns the learning rate, a float32 scalar, after that many steps: step
	// is a scalar, 0 for the first step, an int64 or of the type of the variable to
	// train.
	Rate(s *ops.Scope, step *ops.Value) *ops.Value
}

// ScheduleFunc lets a function be a [Schedule].
type ScheduleFunc func(s *ops.Scope, step *ops.Value) *ops.Value

// Rate calls f.
func (f ScheduleFunc) Rate(s *ops.Scope, step *ops.Value) *ops.Value { return f(s, step) }

// float32Step returns the step as schedules compute with it.
func float32Step(s *ops.Scope, step *ops.Value) *ops.Value { return ops.Cast(s, step, tensor.Float32) }

// fraction returns step/steps, cut to whole numbers where staircase is set.
func fraction(s *ops.Scope, step *ops.Value, steps int64, staircase bool) *ops.Value {
	p := ops.Div(s, float32Step(s, step), float64(steps))
	if staircase {
		p = ops.Floor(s, p)
	}
	return p
}

// float32Of returns a Go number as a float32, the type of TensorFlow's Python
// numbers.
func float32Of(s *ops.Scope, x float64) *ops.Value { return ops.ConstOf(s, tensor.Float32, x) }

// ExponentialDecay multiplies the rate by Factor every Steps steps:
// Initial * Factor^(step/Steps).
type ExponentialDecay struct {
	Initial float64
	Steps   int64
	Factor  float64
	// Staircase keeps the rate between multiples of Steps. Default: it falls with
	// every step.
	Staircase bool
}

// Rate returns the rate after that many steps.
func (e ExponentialDecay) Rate(s *ops.Scope, step *ops.Value) *ops.Value {
	return ops.Mul(s, e.Initial, ops.Pow(s, e.Factor, fraction(s, step, e.Steps, e.Staircase)))
}

// InverseTimeDecay divides the rate by a number that grows with the step:
// Initial / (1 + Factor*step/Steps).
type InverseTimeDecay struct {
	Initial float64
	Steps   int64
	Factor  float64
	// Staircase keeps the rate between multiples of Steps. Default: it falls with
	// every step.
	Staircase bool
}

// Rate returns the rate after that many steps.
func (d InverseTimeDecay) Rate(s *ops.Scope, step *ops.Value) *ops.Value {
	p := fraction(s, step, d.Steps, d.Staircase)
	return ops.Div(s, d.Initial, ops.Add(s, 1, ops.Mul(s, d.Factor, p)))
}

// PolynomialDecay falls from Initial to End in Steps steps and stays there:
// (Initial-End) * (1-step/Steps)^Power + End.
type PolynomialDecay struct {
	Initial float64
	Steps   int64
	End     float64
	// Power bends the way down. Default: 1, a straight line.
	Power float64
	// Cycle starts again with twice, thrice, … the Steps when they are over.
	// Default: the rate stays at End.
	Cycle bool
}

// Rate returns the rate after that many steps.
func (d PolynomialDecay) Rate(s *ops.Scope, step *ops.Value) *ops.Value {
	power := d.Power
	if power == 0 {
		power = 1
	}
	at, steps := float32Step(s, step), float32Of(s, float64(d.Steps))
	if d.Cycle {
		// At step 0 the first cycle is under way already.
		cycles := ops.Where(s, ops.Equal(s, at, 0), float32Of(s, 1), ops.Ceil(s, ops.Div(s, at, float64(d.Steps))))
		steps = ops.Mul(s, steps, cycles)
	} else {
		at = ops.Minimum(s, at, steps)
	}
	p := ops.Div(s, at, steps)
	span := ops.Sub(s, float32Of(s, d.Initial), float32Of(s, d.End))
	return ops.Add(s, ops.Mul(s, span, ops.Pow(s, ops.Sub(s, 1, p), power)), d.End)
}

// CosineDecay falls from Initial to Alpha*Initial in Steps steps along half a
// cosine wave, and stays there.
type CosineDecay struct {
	Initial float64
	Steps   int64
	Alpha   float64 // the part of Initial that remains; 0
}

// Rate returns the rate after that many steps.
func (c CosineDecay) Rate(s *ops.Scope, step *ops.Value) *ops.Value {
	at := ops.Minimum(s, float32Step(s, step), float64(c.Steps))
	wave := cosine(s, ops.Div(s, at, float64(c.Steps)), float32Of(s, 0.5))
	return ops.Mul(s, c.Initial, above(s, wave, c.Alpha))
}

// cosine returns height*(1+cos(pi*p)).
func cosine(s *ops.Scope, p, height *ops.Value) *ops.Value {
	return ops.Mul(s, height, ops.Add(s, 1, ops.Cos(s, ops.Mul(s, math.Pi, p))))
}

// above returns wave, lifted so that it ends at alpha instead of 0.
func above(s *ops.Scope, wave *ops.Value, alpha float64) *ops.Value {
	return ops.Add(s, ops.Mul(s, 1-alpha, wave), alpha)
}

// CosineDecayRestarts falls along half a cosine wave again and again: the first
// time in Steps steps, each further time in Longer times as many, from Lower
// times as high.
type CosineDecayRestarts struct {
	Initial float64
	Steps   int64
	Longer  float64 // t_mul; 2 where it is 0
	Lower   float64 // m_mul; 1 where it is 0
	Alpha   float64 // the part of Initial that remains; 0
}

// Rate returns the rate after that many steps.
func (c CosineDecayRestarts) Rate(s *ops.Scope, step *ops.Value) *ops.Value {
	longer, lower := c.Longer, c.Lower
	if longer == 0 {
		longer = 2
	}
	if lower == 0 {
		lower = 1
	}
	p := ops.Div(s, float32Step(s, step), float64(c.Steps))
	var restarts *ops.Value
	if longer == 1 {
		restarts = ops.Floor(s, p)
		p = ops.Sub(s, p, restarts)
	} else {
		mul := float32Of(s, longer)
		rest := ops.Sub(s, 1, mul)
		restarts = ops.Floor(s, ops.Div(s, ops.Log(s, ops.Sub(s, 1, ops.Mul(s, p, rest))), ops.Log(s, mul)))
		grown := ops.Pow(s, mul, restarts)
		before := ops.Div(s, ops.Sub(s, 1, grown), rest)
		p = ops.Div(s, ops.Sub(s, p, before), grown)
	}
	height := ops.Mul(s, 0.5, ops.Pow(s, lower, restarts))
	return ops.Mul(s, c.Initial, above(s, cosine(s, p, height), c.Alpha))
}

// PiecewiseConstant is Rates[i] up to and including step Boundaries[i], and the
// last of Rates after that; Rates is one longer than Boundaries.
type PiecewiseConstant struct {
	Boundaries []int64
	Rates      []float64
}

// Rate returns the rate after that many steps.
func (p PiecewiseConstant) Rate(s *ops.Scope, step *ops.Value) *ops.Value {
	if len(p.Rates) != len(p.Boundaries)+1 {
		return s.Fail("PiecewiseConstant", fmt.Errorf("there are %d Rates for %d Boundaries; one more than those is needed", len(p.Rates), len(p.Boundaries)))
	}
	rate := float32Of(s, p.Rates[len(p.Boundaries)])
	for i := len(p.Boundaries) - 1; i >= 0; i-- {
		rate = ops.Where(s, ops.LessEqual(s, step, int(p.Boundaries[i])), float32Of(s, p.Rates[i]), rate)
	}
	return rate
}

var errNoRate = errors.New("the Schedule gave no value; its Rate must return a scalar")

// rateAt returns what a schedule gives outside of any function.
func rateAt(schedule Schedule, step int64) (float32, error) {
	s := ops.NewScope(context.Background(), &ops.ScopeOptions{Kernels: kernel.All()})
	defer func() { _ = s.Close() }()
	v := schedule.Rate(s, ops.Const(s, tensor.Scalar(step)))
	if err := s.Err(); err != nil {
		return 0, err
	}
	if v == nil {
		return 0, errNoRate
	}
	return ops.Item[float32](ops.Cast(s, v, tensor.Float32))
}
