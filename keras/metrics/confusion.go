package metrics

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/keras/internal/samples"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// negInf is the prediction to which tf_keras sets all but the largest ones.
const negInf = -1e10

// cells are the cells of a confusion matrix for each threshold. A nil one isn't counted.
type cells struct{ tp, tn, fp, fn *trackable.Variable }

// counting describes how cells are counted.
type counting struct {
	thresholds   []float64
	even         bool      // the thresholds have equal distances from 0 to 1
	topK         *int      // the number of largest predictions that count; nil for all
	classID      *int      // the only class that counts; nil for all
	labels       int       // the number of labels, each with a separate matrix; 0 for one matrix of all
	labelWeights []float64 // the weights of the labels in one matrix; nil for ones
}

// count takes a batch into the cells, as tf_keras's metrics_utils.update_confusion_matrix_variables.
// d is the metric's type. Truths that aren't 0 are positive. weights may be nil.
func (c *counting) count(s *ops.Scope, d tensor.DType, to cells, truth, predicted, weights ops.Input) {
	t, p := samples.CastTo(s, truth, d), samples.CastTo(s, predicted, d)
	if s.Err() != nil {
		return
	}
	t, p = samples.MatchRanks(s, t, p)
	var w *ops.Value
	if samples.Given(weights) {
		w = samples.MatchWeights(s, p, samples.CastTo(s, weights, d))
	}
	if s.Err() != nil {
		return
	}
	if !t.Fact().Shape.Compatible(p.Fact().Shape) {
		s.Fail("confusion matrix", fmt.Errorf("the truth has shape %v, the predictions %v; they must be equal", t.Fact().Shape, p.Fact().Shape))
		return
	}
	if c.topK != nil {
		p = largest(s, p, *c.topK)
	}
	if c.classID != nil {
		t, p = c.class(s, t), c.class(s, p)
	}
	if w != nil {
		w = ops.Mul(s, w, ops.OnesLike(s, p))
	}
	if c.labelWeights != nil {
		l := ops.ExpandDims(s, samples.CastTo(s, c.labelWeights, d), 0)
		l = ops.Mul(s, l, ops.OnesLike(s, p))
		if w == nil {
			w = l
		} else {
			w = ops.Mul(s, w, l)
		}
	}
	t = ops.Cast(s, ops.Cast(s, t, tensor.Bool), d)
	if c.labels == 0 {
		flat := func(x *ops.Value) *ops.Value {
			if x == nil {
				return nil
			}
			return ops.Reshape(s, x, -1, 1)
		}
		t, p, w = flat(t), flat(p), flat(w)
	}
	if s.Err() != nil {
		return
	}
	yes, no := t, ops.Sub(s, 1, t)
	if w != nil {
		yes, no = ops.Mul(s, yes, w), ops.Mul(s, no, w)
	}
	add := func(v *trackable.Variable, x func() *ops.Value) {
		if v != nil {
			y := x()
			if c.labels == 0 {
				y = ops.Reshape(s, y, len(c.thresholds))
			}
			ops.AssignAdd(s, v, y)
		}
	}
	if c.even {
		c.addBuckets(s, to, p, yes, no, add)
		return
	}
	// [thresholds, examples, labels]
	over := ops.Cast(s, ops.Greater(s, ops.ExpandDims(s, p, 0), ops.Reshape(s, samples.CastTo(s, c.thresholds, d), -1, 1, 1)), d)
	under := ops.Sub(s, 1, over)
	sum := func(x, y *ops.Value) func() *ops.Value {
		return func() *ops.Value { return ops.Sum(s, ops.Mul(s, x, ops.ExpandDims(s, y, 0)), 1) }
	}
	add(to.tp, sum(over, yes))
	add(to.fn, sum(under, yes))
	add(to.fp, sum(over, no))
	add(to.tn, sum(under, no))
}

// addBuckets counts by the interval between thresholds that a prediction falls into:
// _update_confusion_matrix_variables_optimized, in time that doesn't depend on the number of thresholds.
func (c *counting) addBuckets(s *ops.Scope, to cells, p, yes, no *ops.Value, add func(*trackable.Variable, func() *ops.Value)) {
	n, labels := len(c.thresholds), max(c.labels, 1)
	bucket := ops.Sub(s, ops.Ceil(s, ops.Mul(s, ops.Clip(s, p, 0, 1), float64(n-1))), 1)
	if c.thresholds[0] < 0 || c.thresholds[n-1] > 1 {
		bucket = ops.Relu(s, bucket)
	}
	bucket = ops.Cast(s, bucket, tensor.Int32)
	first := make([]int32, labels) // the first bucket of each label
	for i := range first {
		first[i] = int32(i * n)
	}
	ids := ops.Where(s, ops.Less(s, bucket, 0), bucket, ops.Add(s, bucket, ops.Const(s, first)))
	sums := func(x *ops.Value) *ops.Value {
		v := ops.UnsortedSegmentSum(s, ops.Reshape(s, x, -1), ops.Reshape(s, ids, -1), n*labels)
		return ops.Transpose(s, ops.CumSum(s, ops.Reshape(s, v, labels, n), 1, &ops.CumulativeOptions{Reverse: true}), 1, 0)
	}
	tp, fp := sums(yes), sums(no)
	add(to.tp, func() *ops.Value { return tp })
	add(to.fp, func() *ops.Value { return fp })
	add(to.tn, func() *ops.Value { return ops.Sub(s, ops.Sum(s, no, 0), fp) })
	add(to.fn, func() *ops.Value { return ops.Sub(s, ops.Sum(s, yes, 0), tp) })
}

// class returns the elements of one class, in a last dimension of 1.
func (c *counting) class(s *ops.Scope, x *ops.Value) *ops.Value {
	return ops.StridedSlice(s, x, ops.Ellipsis(), ops.At(*c.classID), ops.NewAxis())
}

// largest keeps the k largest predictions along the last axis and makes the others negInf.
func largest(s *ops.Scope, p *ops.Value, k int) *ops.Value {
	_, at := ops.TopK(s, p, k)
	if s.Err() != nil {
		return p
	}
	n := p.Fact().Shape.Dim(-1)
	if n < 0 {
		return s.Fail("TopK", errors.New("the number of classes must be known"))
	}
	mask := ops.Sum(s, ops.OneHot(s, at, n, p.DType()), -2)
	return ops.Add(s, ops.Mul(s, p, mask), ops.Mul(s, negInf, ops.Sub(s, 1, mask)))
}

// counter is embedded by metrics that count one cell.
type counter struct {
	Base
	// Thresholds are the thresholds of the predictions. Default: 0.5.
	Thresholds Thresholds

	Accumulator *trackable.Variable `cairn:"-"` // the count for each threshold
}

// States lists the variables.
func (m *counter) States(tensor.Shape) ([]State, error) {
	return append(m.Thresholds.nodes(), State{To: &m.Accumulator, Edge: "accumulator", Shape: tensor.Shape{len(m.Thresholds.or(0.5))}}), m.Thresholds.check()
}

func (m *counter) count(s *ops.Scope, to func(v *trackable.Variable) cells, truth, predicted, weights ops.Input) {
	if m.Ready(s, m) {
		list := m.Thresholds.or(0.5)
		c := counting{thresholds: list, even: evenly(list)}
		c.count(s, m.dtype(), to(m.Accumulator), truth, predicted, weights)
	}
}

// Reset forgets all updates.
func (m *counter) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the counts: a number for one threshold.
func (m *counter) Result(s *ops.Scope) *ops.Value {
	if !m.Ready(s, m) {
		return s.Fail("metric", errUnmade)
	}
	return perThreshold(s, ops.Identity(s, m.Accumulator), len(m.Thresholds.or(0.5)))
}

// perThreshold returns the element of a vector of one, and other vectors as they are.
func perThreshold(s *ops.Scope, v *ops.Value, n int) *ops.Value {
	if n == 1 {
		return ops.StridedSlice(s, v, ops.At(0))
	}
	return v
}

// TruePositives is the number of examples whose truth and prediction are positive.
type TruePositives struct{ counter }

// Update takes a batch into account.
func (m *TruePositives) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.count(s, func(v *trackable.Variable) cells { return cells{tp: v} }, truth, predicted, weights)
}

// TrueNegatives is the number of examples whose truth and prediction are negative.
type TrueNegatives struct{ counter }

// Update takes a batch into account.
func (m *TrueNegatives) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.count(s, func(v *trackable.Variable) cells { return cells{tn: v} }, truth, predicted, weights)
}

// FalsePositives is the number of examples whose truth is negative and whose prediction is
// positive.
type FalsePositives struct{ counter }

// Update takes a batch into account.
func (m *FalsePositives) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.count(s, func(v *trackable.Variable) cells { return cells{fp: v} }, truth, predicted, weights)
}

// FalseNegatives is the number of examples whose truth is positive and whose prediction is
// negative.
type FalseNegatives struct{ counter }

// Update takes a batch into account.
func (m *FalseNegatives) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.count(s, func(v *trackable.Variable) cells { return cells{fn: v} }, truth, predicted, weights)
}
