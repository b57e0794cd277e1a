package metrics

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/internal/samples"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Curve is the curve of an [AUC].
type Curve string

// The curves.
const (
	// ROC is the recall over the part of the negatives that are taken as positive.
	ROC Curve = "ROC"
	// PR is the precision over the recall.
	PR Curve = "PR"
	// PRGain is the gain of precision over that of recall.
	PRGain Curve = "PR_GAIN"
)

// UnmarshalConfig reads a name of the curve, as tf_keras takes it.
func (c *Curve) UnmarshalConfig(v any) error {
	switch v {
	case "roc", "ROC":
		*c = ROC
	case "pr", "PR":
		*c = PR
	case "pr_gain", "prgain", "PR_GAIN", "PRGAIN":
		*c = PRGain
	default:
		return fmt.Errorf("unknown curve %.80v (want %q, %q or %q)", v, ROC, PR, PRGain)
	}
	return nil
}

// SummationMethod is the height of an [AUC]'s area between two thresholds.
type SummationMethod string

// The methods.
const (
	// Interpolation takes the mean, or for [PR] the interpolated true positives.
	Interpolation SummationMethod = "interpolation"
	// Majoring takes the larger height.
	Majoring SummationMethod = "majoring"
	// Minoring takes the smaller height.
	Minoring SummationMethod = "minoring"
)

// UnmarshalConfig reads a name of the method, as tf_keras takes it.
func (m *SummationMethod) UnmarshalConfig(v any) error {
	switch v {
	case "interpolation", "Interpolation":
		*m = Interpolation
	case "majoring", "Majoring":
		*m = Majoring
	case "minoring", "Minoring":
		*m = Minoring
	default:
		return fmt.Errorf("unknown summation method %.80v (want %q, %q or %q)", v, Interpolation, Majoring, Minoring)
	}
	return nil
}

// AUC is the area under a curve, approximated by a sum over thresholds.
type AUC struct {
	Base
	matrix
	// NumThresholds is the number of thresholds, at equal distances from 0 to 1. Default:
	// 200; with Thresholds two more than these.
	NumThresholds int `keras:",default=200"`
	// Curve is the curve. Default: ROC.
	Curve Curve `keras:",default=ROC"`
	// SummationMethod is the height between thresholds. Default: Interpolation.
	SummationMethod SummationMethod `keras:",default=interpolation"`
	// MultiLabel computes an area for each label, the last dimension, and takes the mean.
	// Default: one area over all predictions.
	MultiLabel bool
	// NumLabels is the number of labels, with MultiLabel. Default: that of the first update,
	// which makes the variables then.
	NumLabels *int
	// LabelWeights weight the labels. Default: ones.
	LabelWeights []float64
	// FromLogits means that the predictions are logits. Default: probabilities.
	FromLogits bool
	// Thresholds are thresholds between 0 and 1 that replace those of NumThresholds. 0 and 1
	// are added to them. Default: none.
	Thresholds []float64 `keras:",omitempty"`
}

// CompleteConfig sorts Thresholds and sets NumThresholds by them.
func (m *AUC) CompleteConfig() {
	if m.Thresholds != nil {
		m.NumThresholds = len(m.Thresholds) + 2
		m.Thresholds = slices.Sorted(slices.Values(m.Thresholds))
	}
}

// EncodeConfig returns the fields.
func (m *AUC) EncodeConfig(e *config.Encoder) (config.Fields, error) {
	return encodeArray(e, m, "label_weights", m.LabelWeights, m.dtype().String())
}

// DecodeConfig reads the fields.
func (m *AUC) DecodeConfig(d *config.Decoder, conf map[string]any) error {
	return decodeArray(d, "AUC", m, "label_weights", conf)
}

// BuildConfig returns the shape that the variables were made for, nil before that and
// without MultiLabel.
func (m *AUC) BuildConfig() config.Fields {
	if m.MultiLabel && m.NumLabels != nil && *m.NumLabels != 0 {
		return inputShape(tensor.Shape{-1, *m.NumLabels})
	}
	if !m.MultiLabel {
		return nil
	}
	return inputShape(m.shapeOfUpdate())
}

// limits returns the thresholds, and whether they have equal distances. As in tf_keras the first is
// 1e-7 below 0 and the last 1e-7 above 1, so that predictions of 0 and 1 are inside.
func (m *AUC) limits() ([]float64, bool) {
	n := m.NumThresholds
	if n == 0 {
		n = 200
	}
	list, even := []float64(nil), true
	if m.Thresholds != nil {
		list = append(append([]float64{0}, slices.Sorted(slices.Values(m.Thresholds))...), 1)
		even = evenly(list)
	} else {
		list = spread(n)
	}
	list[0], list[len(list)-1] = -1e-7, 1+1e-7
	return list, even
}

// States lists the variables.
func (m *AUC) States(in tensor.Shape) ([]State, error) {
	n := m.NumThresholds
	switch {
	case m.Thresholds != nil:
		n = len(m.Thresholds) + 2
	case n == 0:
		n = 200
	}
	switch {
	case n < 2 || n > maxThresholds:
		return nil, fmt.Errorf("NumThresholds is %d, want 2 to %d", n, maxThresholds)
	case !slices.Contains([]Curve{"", ROC, PR, PRGain}, m.Curve):
		return nil, fmt.Errorf("unknown Curve %q", m.Curve)
	case !slices.Contains([]SummationMethod{"", Interpolation, Majoring, Minoring}, m.SummationMethod):
		return nil, fmt.Errorf("unknown SummationMethod %q", m.SummationMethod)
	case !m.MultiLabel && m.NumLabels != nil && *m.NumLabels != 0:
		return nil, fmt.Errorf("NumLabels is %d; it is for MultiLabel only", *m.NumLabels)
	case !m.MultiLabel:
		return m.all(tensor.Shape{n}, false), nil
	case m.NumLabels != nil && *m.NumLabels != 0:
		if *m.NumLabels < 1 || *m.NumLabels > maxThresholds/n {
			return nil, fmt.Errorf("NumLabels is %d, want 1 to %d", *m.NumLabels, maxThresholds/n)
		}
		return m.all(tensor.Shape{n, *m.NumLabels}, false), nil
	case in == nil:
		return m.all(tensor.Shape{n, -1}, true), nil
	case len(in) != 2 || in[1] < 0:
		return nil, fmt.Errorf("the predictions have shape %v, want two dimensions and a known number of labels", in)
	}
	return m.all(tensor.Shape{n, in[1]}, true), nil
}

// Update takes a batch into account.
func (m *AUC) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	p := ops.Const(s, predicted)
	if s.Err() != nil || !m.ReadyFor(s, m, p.Shape()) {
		return
	}
	if m.FromLogits {
		p = ops.Sigmoid(s, p)
	}
	list, even := m.limits()
	c := counting{thresholds: list, even: even}
	if m.MultiLabel {
		c.labels = m.TruePositives.Shape()[1]
	} else {
		c.labelWeights = m.LabelWeights
	}
	c.count(s, m.dtype(), m.cells(), truth, p, weights)
}

// Reset forgets all updates.
func (m *AUC) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the area.
func (m *AUC) Result(s *ops.Scope) *ops.Value {
	if !m.Ready(s, m) || m.TruePositives == nil {
		return s.Fail("AUC", errUnmade)
	}

	tp, tn, fp, fn := ops.Identity(s, m.TruePositives), ops.Identity(s, m.TrueNegatives), ops.Identity(s, m.FalsePositives), ops.Identity(s, m.FalseNegatives)
	if m.Curve == PR && (m.SummationMethod == "" || m.SummationMethod == Interpolation) {
		return m.overLabels(s, interpolatedPR(s, tp, fp, fn))
	}
	recall := share(s, tp, fn)
	var x, y *ops.Value
	switch m.Curve {
	case PR:
		x, y = recall, share(s, tp, fp)
	case PRGain:
		scale := ops.DivNoNan(s, ops.Add(s, tp, fn), ops.Add(s, fp, tn))
		none := ops.Equal(s, tp, 0)
		gain := func(wrong *ops.Value) *ops.Value {
			return ops.Sub(s, 1, ops.Mul(s, scale, ops.DivNoNan(s, wrong, tp)))
		}
		x = ops.Maximum(s, ops.Where(s, none, ops.ZerosLike(s, tp), gain(fn)), 0)
		y = ops.Where(s, none, ops.OnesLike(s, tp), gain(fp))
	default:
		x, y = share(s, fp, tn), recall
	}
	var heights *ops.Value
	switch m.SummationMethod {
	case Majoring:
		heights = ops.Maximum(s, before(s, y), after(s, y))
	case Minoring:
		heights = ops.Minimum(s, before(s, y), after(s, y))
	default:
		heights = ops.Div(s, ops.Add(s, before(s, y), after(s, y)), 2)
	}
	return m.overLabels(s, ops.Mul(s, ops.Sub(s, before(s, x), after(s, x)), heights))
}

// before returns all but the last row, after all but the first one.
func before(s *ops.Scope, x *ops.Value) *ops.Value { return ops.StridedSlice(s, x, ops.To(-1)) }
func after(s *ops.Scope, x *ops.Value) *ops.Value  { return ops.StridedSlice(s, x, ops.From(1)) }

// interpolatedPR returns the areas under the precision-recall curve between thresholds, for
// true positives that grow linearly: tf_keras's AUC.interpolate_pr_auc.
func interpolatedPR(s *ops.Scope, tp, fp, fn *ops.Value) *ops.Value {
	dtp := ops.Sub(s, before(s, tp), after(s, tp))
	p := ops.Add(s, tp, fp)
	dp := ops.Sub(s, before(s, p), after(s, p))
	slope := ops.DivNoNan(s, dtp, ops.Maximum(s, dp, 0))
	intercept := ops.Sub(s, after(s, tp), ops.Mul(s, slope, after(s, p)))
	both := ops.And(s, ops.Greater(s, before(s, p), 0), ops.Greater(s, after(s, p), 0))
	ratio := ops.Where(s, both, ops.DivNoNan(s, before(s, p), ops.Maximum(s, after(s, p), 0)), ops.OnesLike(s, after(s, p)))
	return ops.DivNoNan(s, ops.Mul(s, slope, ops.Add(s, dtp, ops.Mul(s, intercept, ops.Log(s, ratio)))),
		ops.Maximum(s, ops.Add(s, after(s, tp), after(s, fn)), 0))
}

// overLabels adds the areas between thresholds, and takes the weighted mean of the labels.
func (m *AUC) overLabels(s *ops.Scope, areas *ops.Value) *ops.Value {
	if !m.MultiLabel {
		return ops.Sum(s, areas)
	}
	byLabel := ops.Sum(s, areas, 0)
	if m.LabelWeights == nil {
		return ops.Mean(s, byLabel)
	}
	w := samples.CastTo(s, m.LabelWeights, m.dtype())
	return ops.DivNoNan(s, ops.Sum(s, ops.Mul(s, byLabel, w)), ops.Sum(s, w))
}
