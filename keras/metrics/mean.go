package metrics

import (
	"fmt"

	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/internal/samples"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Mean is the mean of all values that it was given, each times its weight, divided by the
// sum of the weights.
type Mean struct {
	Base
	Total *trackable.Variable `cairn:"-"` // the sum of the values, each times its weight
	Count *trackable.Variable `cairn:"-"` // the sum of the weights
}

// States lists the variables.
func (m *Mean) States(tensor.Shape) ([]State, error) {
	return []State{{To: &m.Total, Edge: "total"}, {To: &m.Count, Edge: "count"}}, nil
}

// Update takes all elements of values into the mean. weights, nil for ones, have the
// shape of values or can be broadcast to it. If they have fewer dimensions, the mean of
// the values along the others is taken first.
func (m *Mean) Update(s *ops.Scope, values, weights ops.Input) { m.add(s, m, values, weights) }

// add takes values into the mean, for the metric self that embeds m.
func (m *Mean) add(s *ops.Scope, self any, values, weights ops.Input) {
	if !m.Ready(s, self) {
		return
	}
	v, w := weighted(s, values, weights, m.dtype(), ops.Mean)
	if s.Err() != nil {
		return
	}
	var count *ops.Value
	if w == nil {
		count = ops.Cast(s, ops.Size(s, v), m.dtype())
	} else {
		count = ops.Sum(s, w)
	}
	ops.AssignAdd(s, m.Total, ops.Sum(s, v))
	ops.AssignAdd(s, m.Count, count)
}

// Reset forgets all values.
func (m *Mean) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the mean, 0 before the first value.
func (m *Mean) Result(s *ops.Scope) *ops.Value {
	if !m.Ready(s, m) {
		return s.Fail("Mean", errUnmade)
	}
	return ops.DivNoNan(s, m.Total, m.Count)
}

// Sum is the sum of all values that it was given, each times its weight.
type Sum struct {
	Base
	Total *trackable.Variable `cairn:"-"` // the sum
}

// States lists the variables.
func (m *Sum) States(tensor.Shape) ([]State, error) {
	return []State{{To: &m.Total, Edge: "total"}}, nil
}

// Update adds all elements of values. weights are those of [Mean.Update], except that
// values are added along dimensions that the weights lack.
func (m *Sum) Update(s *ops.Scope, values, weights ops.Input) {
	if !m.Ready(s, m) {
		return
	}
	v, _ := weighted(s, values, weights, m.dtype(), ops.Sum)
	if s.Err() == nil {
		ops.AssignAdd(s, m.Total, ops.Sum(s, v))
	}
}

// Reset forgets all values.
func (m *Sum) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the sum.
func (m *Sum) Result(s *ops.Scope) *ops.Value {
	if !m.Ready(s, m) {
		return s.Fail("Sum", errUnmade)
	}
	return ops.Identity(s, m.Total)
}

// MeanTensor is the mean of tensors of one shape, element by element.
type MeanTensor struct {
	Base
	// Shape is the shape of the values. Default: that of the first update.
	Shape tensor.Shape        `keras:"-"`
	Total *trackable.Variable `cairn:"-"` // the sums of the values, each times its weight
	Count *trackable.Variable `cairn:"-"` // the sums of the weights
}

// States lists the variables.
func (m *MeanTensor) States(in tensor.Shape) ([]State, error) {
	shape := in
	if m.Shape != nil {
		shape = m.Shape
	}
	late := m.Shape == nil
	return []State{{To: &m.Total, Edge: "total", Also: "_total", Shape: shape, Late: late}, {To: &m.Count, Edge: "count", Also: "_count", Shape: shape, Late: late}}, nil
}

// BuildConfig returns the shape of the values, nil before the first update.
func (m *MeanTensor) BuildConfig() config.Fields {
	if m.Shape != nil {
		return inputShape(m.Shape)
	}
	return inputShape(m.shapeOfUpdate())
}

// Update takes values into the means. weights are those of [Mean.Update].
func (m *MeanTensor) Update(s *ops.Scope, values, weights ops.Input) {
	v := samples.CastTo(s, values, m.dtype())
	if s.Err() != nil {
		return
	}
	shape := v.Shape()
	if shape == nil || !shape.Known() {
		s.Fail("MeanTensor", fmt.Errorf("the shape of the values must be known (got %v)", v.Fact().Shape))
		return
	}
	if !m.ReadyFor(s, m, append(tensor.Shape{}, shape...)) {
		return
	}
	if !m.Total.Shape().Equal(shape) {
		s.Fail("MeanTensor", fmt.Errorf("the values have shape %v, want %v as before", shape, m.Total.Shape()))
		return
	}
	count := ops.OnesLike(s, v)
	v, w := weighted(s, v, weights, m.dtype(), ops.Mean)
	if w != nil {
		count = ops.Mul(s, count, w)
	}
	if s.Err() == nil {
		ops.AssignAdd(s, m.Total, v)
		ops.AssignAdd(s, m.Count, count)
	}
}

// Reset forgets all values.
func (m *MeanTensor) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the means. Before the first update it fails, unless Shape is set.
func (m *MeanTensor) Result(s *ops.Scope) *ops.Value {
	if !m.Ready(s, m) || m.Total == nil {
		return s.Fail("MeanTensor", errUnmade)
	}
	return ops.DivNoNan(s, m.Total, m.Count)
}

// weighted converts the values and the weights to type d and multiplies them. w is nil
// without weights, and otherwise has the values' shape. Dimensions of the values that the
// weights lack are reduced first.
func weighted(s *ops.Scope, values, weights ops.Input, d tensor.DType, reduce func(s *ops.Scope, x ops.Input, axes ...int) *ops.Value) (v, w *ops.Value) {
	v = samples.CastTo(s, values, d)
	if !samples.Given(weights) || s.Err() != nil {
		return v, nil
	}
	w = samples.MatchWeights(s, v, samples.CastTo(s, weights, d))
	if s.Err() != nil {
		return v, w
	}
	vs, ws := v.Fact().Shape, w.Fact().Shape
	if vs.HasRank() && ws.HasRank() && !broadcasts(ws.Dims(), vs.Dims()) && ws.Rank() < vs.Rank() {
		var axes []int
		for i := ws.Rank(); i < vs.Rank(); i++ {
			axes = append(axes, i)
		}
		v = reduce(s, v, axes...)
	}
	w = ops.Mul(s, w, ops.OnesLike(s, v))
	return ops.Mul(s, v, w), w
}

// broadcasts reports whether weights of a shape can weight values of another one as
// tf_keras takes it: they are a scalar, or of the same rank with equal sizes or 1.
func broadcasts(weights, values tensor.Shape) bool {
	if len(weights) == 0 {
		return true
	}
	if len(weights) != len(values) {
		return false
	}
	for i, n := range weights {
		if n != 1 && n >= 0 && values[i] >= 0 && n != values[i] {
			return false
		}
	}
	return true
}
