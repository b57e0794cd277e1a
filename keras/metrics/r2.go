package metrics

import (
	"fmt"

	"github.com/cairnml/cairn/keras/internal/samples"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// ClassAggregation is the way in which the scores of an [R2Score]'s outputs become one
// number.
type ClassAggregation string

// The aggregations.
const (
	// UniformAverage is the mean.
	UniformAverage ClassAggregation = "uniform_average"
	// VarianceWeightedAverage is the mean weighted by the variance of the truth.
	VarianceWeightedAverage ClassAggregation = "variance_weighted_average"
	// NoAggregation keeps a score for each output.
	NoAggregation ClassAggregation = "none"
)

// MarshalConfig returns nil for NoAggregation, else the name.
func (a ClassAggregation) MarshalConfig() (any, error) {
	if a == NoAggregation {
		return nil, nil
	}
	return string(a), nil
}

// UnmarshalConfig reads nil or a name.
func (a *ClassAggregation) UnmarshalConfig(v any) error {
	switch v {
	case nil:
		*a = NoAggregation
	case "uniform_average":
		*a = UniformAverage
	case "variance_weighted_average":
		*a = VarianceWeightedAverage
	default:
		return fmt.Errorf("got %.80v, want null, %q or %q", v, UniformAverage, VarianceWeightedAverage)
	}
	return nil
}

// R2Score is the coefficient of determination: 1 minus the part of the truth's variance that
// the predictions leave. Truths and predictions have two dimensions, examples and outputs.
type R2Score struct {
	Base
	// ClassAggregation joins the outputs' scores. Default: UniformAverage.
	ClassAggregation ClassAggregation `keras:",default=uniform_average"`
	// NumRegressors is the number of independent variables, for the adjusted score.
	// Default: 0, the score that isn't adjusted.
	NumRegressors int

	NumSamples *trackable.Variable `cairn:"-"` // the number of true values, an int32
	SquaredSum *trackable.Variable `cairn:"-"` // the sum of the squares of the truth
	Sum        *trackable.Variable `cairn:"-"` // the sum of the truth
	TotalMSE   *trackable.Variable `cairn:"-"` // the sum of the squared errors
	Count      *trackable.Variable `cairn:"-"` // the sum of the weights
}

func (m *R2Score) defaultName() string { return "r2_score" }

// States lists the variables.
func (m *R2Score) States(in tensor.Shape) ([]State, error) {
	shape := tensor.Shape{-1}
	switch m.ClassAggregation {
	case "", UniformAverage, VarianceWeightedAverage, NoAggregation:
	default:
		return nil, fmt.Errorf("unknown ClassAggregation %q (want %q, %q or %q)", m.ClassAggregation, UniformAverage, VarianceWeightedAverage, NoAggregation)
	}
	switch {
	case m.NumRegressors < 0:
		return nil, fmt.Errorf("NumRegressors is %d, want 0 or more", m.NumRegressors)
	case in != nil && (len(in) != 2 || in[1] < 0):
		return nil, fmt.Errorf("the predictions have shape %v, want two dimensions and a known number of outputs", in)
	case in != nil:
		shape = tensor.Shape{in[1]}
	}
	return []State{
		{To: &m.NumSamples, Edge: "num_samples", DType: tensor.Int32},
		{To: &m.SquaredSum, Edge: "squared_sum", Shape: shape, Late: true},
		{To: &m.Sum, Edge: "sum", Shape: shape, Late: true},
		{To: &m.TotalMSE, Edge: "residual", Also: "total_mse", Shape: shape, Late: true},
		{To: &m.Count, Edge: "count", Shape: shape, Late: true},
	}, nil
}

// Update takes a batch into account.
func (m *R2Score) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	d := m.dtype()
	t, p := samples.CastTo(s, truth, d), samples.CastTo(s, predicted, d)
	if s.Err() != nil || !m.ReadyFor(s, m, known(p)) {
		return
	}
	w := ops.OnesLike(s, t)
	if samples.Given(weights) {
		v := samples.CastTo(s, weights, d)
		if s.Err() == nil && v.Fact().Shape.HasRank() && v.Fact().Shape.Rank() == 1 {
			v = ops.ExpandDims(s, v, 1)
		}
		w = ops.Mul(s, v, w)
	}
	if s.Err() != nil {
		return
	}
	wt := ops.Mul(s, t, w)
	ops.AssignAdd(s, m.Sum, ops.Sum(s, wt, 0))
	ops.AssignAdd(s, m.SquaredSum, ops.Sum(s, ops.Mul(s, t, wt), 0))
	ops.AssignAdd(s, m.TotalMSE, ops.Sum(s, ops.Mul(s, ops.Square(s, ops.Sub(s, t, p)), w), 0))
	ops.AssignAdd(s, m.Count, ops.Sum(s, w, 0))
	ops.AssignAdd(s, m.NumSamples, ops.Size(s, t))
}

// Reset forgets all updates.
func (m *R2Score) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the score, or one for each output. Before the first update it fails.
func (m *R2Score) Result(s *ops.Scope) *ops.Value {
	if !m.Ready(s, m) || m.Sum == nil {
		return s.Fail("R2Score", errUnmade)
	}
	total := ops.Sub(s, m.SquaredSum, ops.Mul(s, m.Sum, ops.Div(s, m.Sum, m.Count)))
	scores := ops.Sub(s, 1, ops.Div(s, m.TotalMSE, total))
	scores = ops.Where(s, ops.IsInf(s, scores), ops.ZerosLike(s, scores), scores)
	switch m.ClassAggregation {
	case NoAggregation:
	case VarianceWeightedAverage:
		scores = ops.Div(s, ops.Sum(s, ops.Mul(s, total, scores)), ops.Sum(s, total))
	default:
		scores = ops.Mean(s, scores)
	}
	if m.NumRegressors == 0 || s.Err() != nil {
		return scores
	}
	// With too few values the score isn't adjusted.
	d := scores.DType()
	n := ops.Cast(s, m.NumSamples, d)
	free := ops.Sub(s, ops.Sub(s, n, float64(m.NumRegressors)), 1)
	adjusted := ops.Sub(s, 1, ops.Div(s, ops.Mul(s, ops.Sub(s, 1, scores), ops.Sub(s, n, 1)), free))
	return ops.Where(s, ops.Greater(s, free, 0), adjusted, scores)
}
