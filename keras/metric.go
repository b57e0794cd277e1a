package keras

import (
	"errors"
	"fmt"
	"math"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// MeanMetric is the mean of all values that it was given, over any number of
// steps: tf_keras.metrics.Mean. Its sums are variables, so a checkpoint that
// holds it goes on counting. NewMean makes one.
type MeanMetric struct {
	trackable.Base
	Total *trackable.Scalar[float32] // the sum of the values, each times its weight
	Count *trackable.Scalar[float32] // the sum of the weights
}

var errUnmadeMetric = errors.New("the metric is a zero value; NewMean makes one")

// NewMean makes a mean of nothing.
func NewMean() *MeanMetric {
	m := new(MeanMetric)
	m.init()
	return m
}

func (m *MeanMetric) init() {
	m.Total, m.Count = trackable.NewScalar[float32](0), trackable.NewScalar[float32](0)
	m.Total.Named("total").SetTrainable(false)
	m.Count.Named("count").SetTrainable(false)
}

// Update takes all elements of values into the mean.
func (m *MeanMetric) Update(s *ops.Scope, values ops.Input) { m.WeightedUpdate(s, values, nil) }

// WeightedUpdate multiplies the values by weights, which must have their shape
// or be such that they can be broadcast to it.
func (m *MeanMetric) WeightedUpdate(s *ops.Scope, values, weights ops.Input) {
	if m.Total == nil || m.Count == nil {
		s.Fail("MeanMetric", errUnmadeMetric)
		return
	}
	v := ops.Const(s, values)
	if s.Err() != nil {
		return
	}
	if v.DType() != tensor.Float32 {
		v = ops.Cast(s, v, tensor.Float32)
	}
	count := ops.OnesLike(s, v)
	if weights != nil {
		w := ops.Cast(s, weights, tensor.Float32)
		v, count = ops.Mul(s, v, w), ops.Mul(s, count, w)
	}
	ops.AssignAdd(s, m.Total, ops.Sum(s, v))
	ops.AssignAdd(s, m.Count, ops.Sum(s, count))
}

// Mean returns the mean at this point of a function, a float32 scalar: 0 before
// the first value.
func (m *MeanMetric) Mean(s *ops.Scope) *ops.Value {
	if m.Total == nil || m.Count == nil {
		return s.Fail("MeanMetric", errUnmadeMetric)
	}
	return ops.DivNoNan(s, &m.Total.Variable, &m.Count.Variable)
}

// Result returns the mean now, 0 before the first value. It is for code outside
// of functions, which have [MeanMetric.Mean]: a number that goes into a trace
// stays what it was, so while a function is traced it panics, which is the
// trace's error.
func (m *MeanMetric) Result() float64 {
	if err := outside("Result", "Mean"); err != nil {
		panic(err)
	}
	if m.Total == nil || m.Count == nil {
		return 0
	}
	total, count := float64(m.Total.Get()), float64(m.Count.Get())
	if count == 0 || math.IsNaN(count) {
		return 0
	}
	return float64(float32(total / count))
}

// Clear forgets the values at this point of a function.
func (m *MeanMetric) Clear(s *ops.Scope) {
	if m.Total == nil || m.Count == nil {
		s.Fail("MeanMetric", errUnmadeMetric)
		return
	}
	ops.Assign(s, m.Total, 0)
	ops.Assign(s, m.Count, 0)
}

// Reset forgets the values. It is for code outside of functions, which have
// [MeanMetric.Clear]: in a trace it would happen once, so it panics there, which
// is the trace's error.
func (m *MeanMetric) Reset() {
	if err := outside("Reset", "Clear"); err != nil {
		panic(err)
	}
	if m.Total != nil && m.Count != nil {
		m.Total.Set(0)
		m.Count.Set(0)
	}
}

// Accuracy is the part of the predictions that are right: tf_keras' metrics of
// that kind. One of its constructors makes it.
type Accuracy struct {
	MeanMetric
	right func(s *ops.Scope, truth, predicted ops.Input) *ops.Value
}

func newAccuracy(right func(s *ops.Scope, truth, predicted ops.Input) *ops.Value) *Accuracy {
	a := &Accuracy{right: right}
	a.init()
	// Keras keeps the function's arguments in a dictionary, which is a node
	// without children. Nothing is pending yet, so nothing can fail.
	_ = a.Attach("_fn_kwargs", trackable.NewMap[*trackable.Variable]())
	return a
}

// NewSparseCategoricalAccuracy compares class numbers with the largest of the
// predictions along the last axis.
func NewSparseCategoricalAccuracy() *Accuracy {
	return newAccuracy(func(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
		t, p := ops.Cast(s, truth, tensor.Int64), ops.Const(s, predicted)
		if s.Err() != nil {
			return t
		}
		said := ops.ArgMax(s, p, -1)
		if t.Fact().Shape.HasRank() && p.Fact().Shape.HasRank() {
			t = withoutLast(s, t, p)
		} else {
			t = ops.ReshapeTo(s, t, ops.Shape(s, said))
		}
		return ops.Equal(s, t, said)
	})
}

// NewCategoricalAccuracy compares the largest of the truth, a one-hot vector or
// a distribution, with the largest of the predictions along the last axis.
func NewCategoricalAccuracy() *Accuracy {
	return newAccuracy(func(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
		return ops.Equal(s, ops.ArgMax(s, truth, -1), ops.ArgMax(s, predicted, -1))
	})
}

// NewBinaryAccuracy takes predictions above one half as 1 and the others as 0,
// and gives the mean along the last axis.
func NewBinaryAccuracy() *Accuracy {
	return newAccuracy(func(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
		yes := ops.Greater(s, predicted, 0.5)
		said := ops.Cast(s, yes, tensor.Float32)
		return ops.Mean(s, ops.Cast(s, ops.Equal(s, ops.Cast(s, truth, tensor.Float32), said), tensor.Float32), -1)
	})
}

// Update counts the predictions that are right.
func (a *Accuracy) Update(s *ops.Scope, truth, predicted ops.Input) {
	a.WeightedUpdate(s, truth, predicted, nil)
}

// WeightedUpdate multiplies each example by its weight.
func (a *Accuracy) WeightedUpdate(s *ops.Scope, truth, predicted, weights ops.Input) {
	if a.right == nil {
		s.Fail("Accuracy", fmt.Errorf("the metric is a zero value; make it with its constructor"))
		return
	}
	a.MeanMetric.WeightedUpdate(s, a.right(s, truth, predicted), weights)
}
