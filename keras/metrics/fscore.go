package metrics

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/keras/internal/samples"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Average is the way in which the scores of classes become one number.
type Average string

// The averages.
const (
	// PerClass keeps a score for each class.
	PerClass Average = ""
	// Micro is the score of all classes' counts together.
	Micro Average = "micro"
	// Macro is the mean of the scores.
	Macro Average = "macro"
	// Weighted is the mean of the scores, weighted by the number of true examples.
	Weighted Average = "weighted"
)

// MarshalConfig returns nil for PerClass, else the name.
func (a Average) MarshalConfig() (any, error) {
	if a == PerClass {
		return nil, nil
	}
	return string(a), nil
}

// UnmarshalConfig reads nil or a name.
func (a *Average) UnmarshalConfig(v any) error {
	name, ok := v.(string)
	if v != nil && (!ok || name == "" || !Average(name).valid()) {
		return fmt.Errorf("got %.80v, want null, %q, %q or %q", v, Micro, Macro, Weighted)
	}
	*a = Average(name)
	return nil
}

func (a Average) valid() bool {
	return slices.Contains([]Average{PerClass, Micro, Macro, Weighted}, a)
}

// fscore counts right and wrong predictions of classes.
type fscore struct {
	Base
	TruePositives       *trackable.Variable `cairn:"-"`
	FalsePositives      *trackable.Variable `cairn:"-"`
	FalseNegatives      *trackable.Variable `cairn:"-"`
	IntermediateWeights *trackable.Variable `cairn:"-"` // the number of true examples
}

func (m *fscore) statesFor(in tensor.Shape, a Average, beta float64, threshold *float64) ([]State, error) {
	shape := tensor.Shape{-1}
	switch {
	case !a.valid():
		return nil, fmt.Errorf("unknown Average %q (want %q, %q, %q or %q)", a, PerClass, Micro, Macro, Weighted)
	case !(beta > 0):
		return nil, fmt.Errorf("the Beta is %v, want more than 0", beta)
	case threshold != nil && !(*threshold > 0 && *threshold <= 1):
		return nil, fmt.Errorf("Threshold is %v, want more than 0, up to 1", *threshold)
	case in != nil && (len(in) != 2 || in[1] < 0):
		return nil, fmt.Errorf("the predictions have shape %v, want two dimensions and a known number of classes", in)
	case a == Micro:
		shape = nil
	case in != nil:
		shape = tensor.Shape{in[1]}
	}
	return []State{
		{To: &m.TruePositives, Edge: "true_positives", Shape: shape, Late: true},
		{To: &m.FalsePositives, Edge: "false_positives", Shape: shape, Late: true},
		{To: &m.FalseNegatives, Edge: "false_negatives", Shape: shape, Late: true},
		{To: &m.IntermediateWeights, Edge: "intermediate_weights", Shape: shape, Late: true},
	}, nil
}

func (m *fscore) update(s *ops.Scope, self any, a Average, threshold *float64, truth, predicted, weights ops.Input) {
	d := m.dtype()
	t, p := samples.CastTo(s, truth, d), samples.CastTo(s, predicted, d)
	if s.Err() != nil || !m.ReadyFor(s, self, known(p)) {
		return
	}
	var yes *ops.Value
	if threshold == nil {
		yes = ops.And(s, ops.GreaterEqual(s, p, ops.MaxKeep(s, p, -1)), ops.Greater(s, ops.Abs(s, p), 1e-9))
	} else {
		yes = ops.Greater(s, p, *threshold)
	}
	p = ops.Cast(s, yes, d)
	sum := func(x *ops.Value) *ops.Value {
		if samples.Given(weights) {
			x = ops.Mul(s, x, ops.ExpandDims(s, samples.CastTo(s, weights, d), 1))
		}
		if a == Micro {
			return ops.Sum(s, x)
		}
		return ops.Sum(s, x, 0)
	}
	ops.AssignAdd(s, m.TruePositives, sum(ops.Mul(s, p, t)))
	ops.AssignAdd(s, m.FalsePositives, sum(ops.Mul(s, p, ops.Sub(s, 1, t))))
	ops.AssignAdd(s, m.FalseNegatives, sum(ops.Mul(s, ops.Sub(s, 1, p), t)))
	ops.AssignAdd(s, m.IntermediateWeights, sum(t))
}

// known returns the shape of an update, never nil: nil would mean that there is no update yet.
func known(v *ops.Value) tensor.Shape { return append(tensor.Shape{}, v.Shape()...) }

func (m *fscore) score(s *ops.Scope, self any, a Average, beta float64) *ops.Value {
	if !m.Ready(s, self) || m.TruePositives == nil {
		return s.Fail(className(self), errUnmade)
	}
	precision, recall := share(s, m.TruePositives, m.FalsePositives), share(s, m.TruePositives, m.FalseNegatives)
	square := float64(float32(beta) * float32(beta))
	mean := ops.DivNoNan(s, ops.Mul(s, precision, recall), ops.Add(s, ops.Mul(s, square, precision), recall))
	score := ops.Mul(s, mean, 1+square)
	switch a {
	case Weighted:
		w := ops.DivNoNan(s, m.IntermediateWeights, ops.Sum(s, m.IntermediateWeights))
		return ops.Sum(s, ops.Mul(s, score, w))
	case PerClass:
		return score
	}
	return ops.Mean(s, score)
}

// FBetaScore is the weighted harmonic mean of precision and recall:
// (1+Beta²)*precision*recall / (Beta²*precision+recall). Truths and predictions have two
// dimensions, examples and classes.
type FBetaScore struct {
	fscore
	// Average joins the classes' scores. Default: PerClass.
	Average Average
	// Beta weights the recall. Default: 1.
	Beta *float64 `keras:",default=1.0"`
	// Threshold is the limit above which a prediction is positive. Default: the largest
	// prediction of an example is, and no other.
	Threshold *float64
}

func (m *FBetaScore) defaultName() string { return "fbeta_score" }

// States lists the variables.
func (m *FBetaScore) States(in tensor.Shape) ([]State, error) {
	return m.statesFor(in, m.Average, or(m.Beta, 1), m.Threshold)
}

// Update takes a batch into account.
func (m *FBetaScore) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.update(s, m, m.Average, m.Threshold, truth, predicted, weights)
}

// Reset forgets all updates.
func (m *FBetaScore) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the score, or one for each class. Before the first update it fails.
func (m *FBetaScore) Result(s *ops.Scope) *ops.Value {
	return m.score(s, m, m.Average, or(m.Beta, 1))
}

// F1Score is [FBetaScore] with a Beta of 1.
type F1Score struct {
	fscore
	// Average joins the classes' scores. Default: PerClass.
	Average Average
	// Threshold is the limit above which a prediction is positive. Default: the largest
	// prediction of an example is, and no other.
	Threshold *float64
}

// States lists the variables.
func (m *F1Score) States(in tensor.Shape) ([]State, error) {
	return m.statesFor(in, m.Average, 1, m.Threshold)
}

// Update takes a batch into account.
func (m *F1Score) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.update(s, m, m.Average, m.Threshold, truth, predicted, weights)
}

// Reset forgets all updates.
func (m *F1Score) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the score, or one for each class. Before the first update it fails.
func (m *F1Score) Result(s *ops.Scope) *ops.Value { return m.score(s, m, m.Average, 1) }
