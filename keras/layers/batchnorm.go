package layers

import (
	"errors"
	"slices"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// This file computes the outputs of BatchNormalization: by the fused op, or by single ops in the order
// of tf_keras's BatchNormalizationBase.call, which decides the last bit.

// fused reports whether the fused op normalizes inputs of a rank.
func (b *BatchNormalization) fused(rank int) (bool, error) {
	d := b.DType.Compute()
	can := (rank == 4 || rank == 5) && len(b.Axis) == 1 && (b.Axis[0] == 1 || b.Axis[0] == rank-1) &&
		!b.Renorm && b.VirtualBatchSize == 0 && !b.Synchronized &&
		(d == tensor.Float32 || d == tensor.Float16 || d == tensor.BFloat16)
	if b.Fused == nil {
		return can, nil
	}
	if *b.Fused && !can {
		return false, errors.New("the fused op takes images and volumes of float32, float16 or bfloat16 with one channel dimension, without Renorm, VirtualBatchSize and Synchronized")
	}
	return *b.Fused, nil
}

// fuse normalizes images or volumes by TensorFlow's fused op. The op takes images only, so two
// dimensions of a volume become one.
func (b *BatchNormalization) fuse(s *ops.Scope, x *ops.Value, training bool) *ops.Value {
	o := &ops.BatchNormOptions{Epsilon: *b.Epsilon, Training: training, Momentum: *b.Momentum}
	shape := ops.Shape(s, x)
	volumes := x.Fact().Shape.Rank() == 5
	images := x
	join := func(at int) *ops.Value { // two dimensions of a volume become one
		parts := []ops.Input{ops.StridedSlice(s, shape, ops.To(at)), []int32{-1}, ops.StridedSlice(s, shape, ops.From(at+2))}
		return ops.ReshapeTo(s, x, ops.Concat(s, parts, 0))
	}
	if b.Axis[0] == 1 {
		o.Format = ops.ChannelsFirst
		if volumes {
			images = join(2)
		}
	} else if volumes {
		images = join(1)
	}
	channels := b.MovingMean.Shape()[0]
	gamma, beta := ops.Input(b.Gamma), ops.Input(b.Beta)
	if b.Gamma == nil {
		gamma = ops.Ones(s, b.paramType(), channels)
	}
	if b.Beta == nil {
		beta = ops.Zeros(s, b.paramType(), channels)
	}
	y, mean, variance := ops.BatchNorm(s, images, gamma, beta, b.MovingMean, b.MovingVariance, o)
	if training && s.Err() == nil {
		ops.Assign(s, b.MovingMean, mean)
		ops.Assign(s, b.MovingVariance, variance)
	}
	if volumes {
		y = ops.ReshapeTo(s, y, shape)
	}
	return y
}

// plain normalizes inputs of any shape by single ops. mask is that of the input, nil for none.
func (b *BatchNormalization) plain(s *ops.Scope, x, mask *ops.Value, training bool) *ops.Value {
	given, shape := x.DType(), ops.Shape(s, x)
	axes := slices.Clone(b.Axis)
	virtual := b.VirtualBatchSize != 0
	if virtual {
		parts := []int32{-1, 1}
		if training {
			parts = []int32{int32(b.VirtualBatchSize), -1}
		}
		x = ops.ReshapeTo(s, x, ops.Concat(s, []ops.Input{parts, ops.StridedSlice(s, shape, ops.From(1))}, 0))
		for i := range axes {
			axes[i]++
		}
	}
	x = ops.Cast(s, x, b.paramType())
	rank := x.Fact().Shape.Rank()
	if rank < 0 {
		return s.Fail("BatchNormalization", errors.New("the input has an unknown rank"))
	}
	var reduced []int
	broadcast := slices.Repeat([]int{1}, rank)
	for i := range rank {
		if slices.Contains(axes, i) {
			broadcast[i] = -1
		} else if i != 1 || !virtual {
			reduced = append(reduced, i)
		}
	}
	keep := virtual || len(axes) > 1
	wide := func(v ops.Input) ops.Input { // with a dimension for each of x's
		if v == nil || keep || axes[0] == rank-1 {
			return v
		}
		return ops.Reshape(s, v, broadcast...)
	}
	gamma, beta := wide(inputOf(b.Gamma)), wide(inputOf(b.Beta))
	if !training {
		return b.finish(s, ops.Cast(s, normalize(s, x, wide(b.MovingMean), wide(b.MovingVariance), gamma, beta, *b.Epsilon), given), shape, virtual)
	}
	momentsOf := moments
	if b.Synchronized {
		momentsOf = sumsMoments
	}
	mean, variance := momentsOf(s, x, mask, keep, reduced)
	newMean, newVariance := mean, variance
	if virtual {
		newMean, newVariance = ops.MeanKeep(s, mean, 1), ops.MeanKeep(s, variance, 1)
	}
	if b.Renorm {
		r, d := b.correction(s, newMean, newVariance)
		scale, shift := wide(r), wide(d)
		if gamma != nil {
			scale, shift = ops.Mul(s, scale, gamma), ops.Mul(s, shift, gamma)
		}
		if beta != nil {
			shift = ops.Add(s, shift, beta)
		}
		gamma, beta = scale, shift
	}
	move(s, b.MovingMean, newMean, *b.Momentum)
	if b.Renorm {
		move(s, b.MovingStddev, ops.Sqrt(s, ops.Add(s, newVariance, *b.Epsilon)), *b.Momentum)
		ops.Assign(s, b.MovingVariance, ops.Relu(s, ops.Sub(s, ops.Square(s, b.MovingStddev), *b.Epsilon)))
	} else {
		move(s, b.MovingVariance, newVariance, *b.Momentum)
	}
	y := normalize(s, x, wide(mean), wide(variance), gamma, beta, *b.Epsilon)
	return b.finish(s, ops.Cast(s, y, given), shape, virtual)
}

// finish returns y. If virtual is set, y is a batch of parts, and finish restores the input's shape.
func (b *BatchNormalization) finish(s *ops.Scope, y, shape *ops.Value, virtual bool) *ops.Value {
	if virtual {
		return ops.ReshapeTo(s, y, shape)
	}
	return y
}

// correction returns the factor and the shift of Renorm, and moves its averages.
func (b *BatchNormalization) correction(s *ops.Scope, mean, variance *ops.Value) (r, d *ops.Value) {
	deviation := ops.Sqrt(s, ops.Add(s, variance, *b.Epsilon))
	moving := ops.Maximum(s, b.RenormStddev, ops.Sqrt(s, ops.Cast(s, *b.Epsilon, mean.DType())))
	r = ops.Div(s, deviation, moving)
	d = ops.Div(s, ops.Sub(s, mean, b.RenormMean), moving)
	if least, ok := b.RenormClipping["rmin"]; ok {
		r = ops.Maximum(s, r, least)
	}
	if most, ok := b.RenormClipping["rmax"]; ok {
		r = ops.Minimum(s, r, most)
	}
	if most, ok := b.RenormClipping["dmax"]; ok {
		d = ops.Minimum(s, ops.Maximum(s, d, -most), most)
	}
	move(s, b.RenormMean, mean, *b.RenormMomentum)
	move(s, b.RenormStddev, deviation, *b.RenormMomentum)
	return ops.StopGradient(s, r), ops.StopGradient(s, d)
}

// move moves an average towards a value.
func move(s *ops.Scope, average *trackable.Variable, value *ops.Value, momentum float64) {
	ops.AssignSub(s, average, ops.Mul(s, ops.Sub(s, average, value), 1-momentum))
}

// inputOf returns a variable as an input, nil for none.
func inputOf(v *trackable.Variable) ops.Input {
	if v == nil {
		return nil
	}
	return v
}

// moments returns the mean and the variance of x over axes, weighted by a mask of x
// without its last dimension if there is one. keep keeps the axes with size 1.
func moments(s *ops.Scope, x, mask *ops.Value, keep bool, axes []int) (mean, variance *ops.Value) {
	switch {
	case mask != nil:
		weights := ops.ExpandDims(s, ops.Cast(s, mask, x.DType()), -1)
		mean, variance = weightedMoments(s, x, weights, axes)
		if !keep {
			mean, variance = ops.Squeeze(s, mean, axes...), ops.Squeeze(s, variance, axes...)
		}
		return mean, variance
	case keep:
		return ops.MomentsKeep(s, x, axes...)
	}
	return ops.Moments(s, x, axes...)
}

// sumsMoments returns the moments as moments does, but as tf_keras computes them from the sums that
// devices exchange: the variance is the mean of the squares minus the square of the mean.
func sumsMoments(s *ops.Scope, x, mask *ops.Value, keep bool, axes []int) (mean, variance *ops.Value) {
	count := ops.OnesLike(s, x)
	if mask != nil {
		weights := ops.ExpandDims(s, ops.Cast(s, mask, x.DType()), -1)
		x, count = ops.Mul(s, x, weights), ops.BroadcastToShape(s, weights, ops.Shape(s, x))
	}
	count = ops.SumKeep(s, count, axes...)
	part := func(v *ops.Value) *ops.Value { return s.Emit1("DivNoNan", nil, ops.SumKeep(s, v, axes...), count) }
	mean = part(x)
	variance = ops.Maximum(s, ops.Sub(s, part(ops.Square(s, x)), ops.Square(s, mean)), ops.ConstOf(s, x.DType(), 0))
	if !keep {
		mean, variance = ops.Squeeze(s, mean, axes...), ops.Squeeze(s, variance, axes...)
	}
	return mean, variance
}

// weightedMoments returns the mean and the variance of x over axes, which stay with size 1.
func weightedMoments(s *ops.Scope, x *ops.Value, weights ops.Input, axes []int) (mean, variance *ops.Value) {
	all := ops.Add(s, weights, ops.ZerosLike(s, x))
	sum := ops.SumKeep(s, all, axes...)
	mean = ops.Div(s, ops.SumKeep(s, ops.Mul(s, all, x), axes...), sum)
	variance = ops.Div(s, ops.SumKeep(s, ops.Mul(s, all, ops.SquaredDifference(s, x, mean)), axes...), sum)
	return mean, variance
}

// normalize returns (x-mean)/√(variance+epsilon)·scale+offset. scale and offset may be nil. The order
// of the ops is that of tf.nn.batch_normalization. GroupNormalization and LayerNormalization use it.
func normalize(s *ops.Scope, x *ops.Value, mean, variance, scale, offset ops.Input, epsilon float64) *ops.Value {
	factor := ops.Rsqrt(s, ops.Add(s, variance, epsilon))
	if scale != nil {
		factor = ops.Mul(s, factor, scale)
	}
	shift := ops.Neg(s, ops.Mul(s, mean, factor))
	if offset != nil {
		shift = ops.Add(s, offset, shift)
	}
	return ops.Add(s, ops.Mul(s, x, factor), shift)
}
