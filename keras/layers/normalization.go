package layers

import (
	"fmt"
	"iter"
	"slices"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Normalization subtracts the mean of its input and divides by the standard deviation.
// Both are settings, or come from data by Adapt.
type Normalization struct {
	base.Layer
	// Axis are the dimensions that have a mean and a variance for each index; an empty list
	// means one for all. Default: the last one.
	Axis []int `keras:",default=[-1]"`
	// Invert undoes the normalization: it multiplies and adds.
	Invert bool
	// Mean and Variance are one number or one for each index of Axis. Default: Adapt finds
	// them; before that they are 0 and 1.
	Mean, Variance Numbers

	// AdaptMean, AdaptVariance and Count are the results of Adapt, nil until the layer is
	// built and if Mean is set.
	AdaptMean, AdaptVariance, Count *trackable.Variable `cairn:"-"`
}

// Weights lists mean, variance and count.
func (n *Normalization) Weights(in base.Shapes) ([]base.Weight, error) {
	if (n.Mean == nil) != (n.Variance == nil) {
		return nil, fmt.Errorf("there is a mean or a variance, want both or neither")
	}
	var shape tensor.Shape
	if len(in) > 0 {
		kept, err := n.keptAxes(len(in[0]))
		if err != nil {
			return nil, err
		}
		for _, axis := range kept {
			shape = append(shape, in[0][axis])
		}
	} else {
		for range n.Axis {
			shape = append(shape, -1)
		}
	}
	if n.Mean != nil {
		return nil, nil
	}
	d := n.DType.Compute()
	return []base.Weight{
		{To: &n.AdaptMean, Edge: "mean", Or: []string{"adapt_mean"}, Shape: shape, DType: d, Init: initializers.Zeros{}, NotTrainable: true},
		{To: &n.AdaptVariance, Edge: "variance", Or: []string{"adapt_variance"}, Shape: shape, DType: d, Init: initializers.Ones{}, NotTrainable: true},
		{To: &n.Count, Edge: "count", DType: tensor.Int64, Init: initializers.Zeros{}, NotTrainable: true},
	}, nil
}

// keptAxes returns the dimensions of Axis in an input of a rank, in order and from 0.
func (n *Normalization) keptAxes(rank int) ([]int, error) {
	kept := make([]int, len(n.Axis))
	for i, axis := range n.Axis {
		if kept[i] = axis; axis < 0 {
			kept[i] += rank
		}
		if kept[i] < 0 || kept[i] >= rank {
			return nil, fmt.Errorf("there is no axis %d in an input of %d dimensions", axis, rank)
		}
	}
	slices.Sort(kept)
	return slices.Compact(kept), nil
}

// Call returns the normalized x.
func (n *Normalization) Call(s *ops.Scope, x ops.Input) *ops.Value { return n.Run(s, n, x, nil) }

// Compute returns the normalized x. Integers are converted to floats. The least standard deviation,
// 1e-7, is tf_keras's.
func (n *Normalization) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	d := n.DType.Compute()
	mean, deviation := n.moments(s, x, d)
	deviation = ops.Maximum(s, ops.Sqrt(s, deviation), ops.ConstOf(s, d, 1e-7))
	x = ops.Cast(s, x, d)
	if n.Invert {
		return ops.Add(s, mean, ops.Mul(s, x, deviation))
	}
	return ops.Div(s, ops.Sub(s, x, mean), deviation)
}

// moments returns mean and variance in shapes that broadcast to x's.
func (n *Normalization) moments(s *ops.Scope, x *ops.Value, d tensor.DType) (mean, variance *ops.Value) {
	in := x.Fact().Shape
	kept, err := n.keptAxes(in.Rank())
	if !in.HasRank() || err != nil {
		v := s.Fail("Normalization", fmt.Errorf("the input has the shape %v, want a known rank with the axes %v", in, n.Axis))
		return v, v
	}
	shape := make([]int, in.Rank())
	for i := range shape {
		if shape[i] = 1; slices.Contains(kept, i) {
			shape[i] = in.Dim(i)
		}
	}
	if n.Mean == nil {
		return ops.Reshape(s, n.AdaptMean, shape...), ops.Reshape(s, n.AdaptVariance, shape...)
	}
	spread := func(v Numbers) *ops.Value {
		if len(v) == 1 {
			return v.value(s, d)
		}
		sizes := make([]int, len(kept))
		for i, axis := range kept {
			sizes[i] = in.Dim(axis)
		}
		return ops.Reshape(s, ops.BroadcastTo(s, v.value(s, d), sizes...), shape...)
	}
	return spread(n.Mean), spread(n.Variance)
}

// Adapt sets mean and variance to those of all batches, and forgets earlier ones. The
// layer is built for the first batch.
func (n *Normalization) Adapt(s *ops.Scope, batches iter.Seq[*ops.Value]) {
	if n.Mean != nil {
		s.Fail("Normalization", fmt.Errorf("mean and variance are settings, so that there is nothing to adapt"))
		return
	}
	first := true
	for x := range batches {
		if first {
			if n.Call(s, x); s.Err() != nil {
				return
			}
			setAnySizes(&n.Layer, x)
			ops.Assign(s, n.AdaptMean, ops.ZerosLike(s, n.AdaptMean))
			ops.Assign(s, n.AdaptVariance, ops.OnesLike(s, n.AdaptVariance))
			ops.Assign(s, n.Count, ops.ZerosLike(s, n.Count))
			first = false
		}
		if n.update(s, x); s.Err() != nil {
			return
		}
	}
}

// update merges the moments of one batch with those of earlier ones, in the order of operations of
// tf_keras's Normalization.update_state.
func (n *Normalization) update(s *ops.Scope, x *ops.Value) {
	d := n.DType.Compute()
	x = ops.Cast(s, x, d)
	rank := x.Fact().Shape.Rank()
	kept, err := n.keptAxes(rank)
	if err != nil {
		s.Fail("Normalization", err)
		return
	}
	var reduced []int
	count := ops.Const(s, int64(1))
	shape := ops.Cast(s, ops.Shape(s, x), tensor.Int64)
	for axis := range rank {
		if !slices.Contains(kept, axis) {
			reduced = append(reduced, axis)
			count = ops.Mul(s, count, ops.StridedSlice(s, shape, ops.At(axis)))
		}
	}
	mean, variance := x, ops.ZerosLike(s, x)
	if len(reduced) > 0 {
		mean, variance = ops.Moments(s, x, reduced...)
	}
	total := ops.Add(s, n.Count, count)
	weight := ops.Div(s, ops.Cast(s, count, d), ops.Cast(s, total, d))
	before := ops.Sub(s, ops.ConstOf(s, d, 1.0), weight)
	merged := ops.Add(s, ops.Mul(s, n.AdaptMean, before), ops.Mul(s, mean, weight))
	spread := ops.Add(s,
		ops.Mul(s, ops.Add(s, n.AdaptVariance, ops.Square(s, ops.Sub(s, n.AdaptMean, merged))), before),
		ops.Mul(s, ops.Add(s, variance, ops.Square(s, ops.Sub(s, mean, merged))), weight))
	ops.Assign(s, n.AdaptVariance, spread)
	ops.Assign(s, n.AdaptMean, merged)
	ops.Assign(s, n.Count, total)
}
