package keras

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Loss measures how far predictions are from the truth. The first dimension of
// both is the batch's.
type Loss interface {
	// Loss compares predictions with the truth, in this order of arguments.
	Loss(s *ops.Scope, truth, predicted ops.Input) *ops.Value
	// WeightedLoss multiplies each example's loss by its weight first. The
	// weights' shape is the losses', or can be broadcast to it.
	WeightedLoss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value
}

// Reduction is what becomes of the examples' losses.
type Reduction int

// The reductions.
const (
	MeanReduction Reduction = iota // their mean, also where they are weighted (Keras' sum_over_batch_size)
	SumReduction                   // their sum
	NoReduction                    // they stay as they are
)

// epsilon keeps logarithms and quotients of probabilities finite; Keras' value.
const epsilon = 1e-7

// reduce weights and joins the examples' losses.
func (r Reduction) reduce(s *ops.Scope, losses *ops.Value, weights ops.Input) *ops.Value {
	if weights != nil {
		losses = ops.Mul(s, losses, weights)
	}
	switch r {
	case MeanReduction:
		return ops.Mean(s, losses)
	case SumReduction:
		return ops.Sum(s, losses)
	case NoReduction:
		return losses
	}
	return s.Fail("Loss", fmt.Errorf("there is no reduction %d", r))
}

// MeanAbsoluteError is the mean of |predicted-truth| along the last axis.
type MeanAbsoluteError struct {
	Reduction Reduction // MeanReduction
}

// Loss compares predictions with the truth.
func (l MeanAbsoluteError) Loss(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	return l.WeightedLoss(s, truth, predicted, nil)
}

// WeightedLoss weights the examples.
func (l MeanAbsoluteError) WeightedLoss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return l.Reduction.reduce(s, ops.Mean(s, ops.Abs(s, ops.Sub(s, predicted, truth)), -1), weights)
}

// MeanSquaredError is the mean of (predicted-truth)² along the last axis.
type MeanSquaredError struct {
	Reduction Reduction // MeanReduction
}

// Loss compares predictions with the truth.
func (l MeanSquaredError) Loss(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	return l.WeightedLoss(s, truth, predicted, nil)
}

// WeightedLoss weights the examples.
func (l MeanSquaredError) WeightedLoss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return l.Reduction.reduce(s, ops.Mean(s, ops.SquaredDifference(s, predicted, truth), -1), weights)
}

// Huber is half the squared error up to Delta and grows linearly behind it;
// the mean along the last axis.
type Huber struct {
	Delta     float64   // where it becomes linear; 1 where it is 0
	Reduction Reduction // MeanReduction
}

// Loss compares predictions with the truth.
func (l Huber) Loss(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	return l.WeightedLoss(s, truth, predicted, nil)
}

// WeightedLoss weights the examples.
func (l Huber) WeightedLoss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	delta := cmp.Or(l.Delta, 1)
	diff := ops.Sub(s, predicted, truth)
	size := ops.Abs(s, diff)
	losses := ops.Where(s, ops.LessEqual(s, size, delta),
		ops.Mul(s, ops.Square(s, diff), 0.5),
		ops.Sub(s, ops.Mul(s, size, delta), 0.5*delta*delta))
	return l.Reduction.reduce(s, ops.Mean(s, losses, -1), weights)
}

// CategoricalCrossentropy is the cross-entropy of distributions over classes,
// the last dimension.
type CategoricalCrossentropy struct {
	// FromLogits says that the predictions are logits. Default: probabilities,
	// which are made to add up to 1.
	FromLogits bool
	// LabelSmoothing takes this part of each distribution and spreads it evenly.
	// Default: 0.
	LabelSmoothing float64
	Reduction      Reduction // MeanReduction
}

// Loss compares predictions with the truth.
func (l CategoricalCrossentropy) Loss(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	return l.WeightedLoss(s, truth, predicted, nil)
}

// WeightedLoss weights the examples.
func (l CategoricalCrossentropy) WeightedLoss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	p := ops.Const(s, predicted)
	if l.LabelSmoothing != 0 {
		if s.Err() != nil {
			return p
		}
		if p.Fact().Shape.Rank() == 0 {
			return s.Fail("CategoricalCrossentropy", errors.New("the predictions need a dimension for the classes"))
		}
		classes := ops.Cast(s, ops.StridedSlice(s, ops.Shape(s, p), ops.At(-1)), p.DType())
		truth = ops.Add(s, ops.Mul(s, truth, 1-l.LabelSmoothing), ops.Div(s, l.LabelSmoothing, classes))
	}
	if l.FromLogits {
		return l.Reduction.reduce(s, ops.SoftmaxCrossEntropy(s, truth, p), weights)
	}
	p = ops.Div(s, p, ops.SumKeep(s, p, -1))
	p = ops.Clip(s, p, epsilon, 1-epsilon)
	return l.Reduction.reduce(s, ops.Neg(s, ops.Sum(s, ops.Mul(s, ops.Log(s, p), truth), -1)), weights)
}

// SparseCategoricalCrossentropy is [CategoricalCrossentropy] for a truth of
// class numbers (int32 or int64), one an example. It may have a last dimension
// of 1.
type SparseCategoricalCrossentropy struct {
	// FromLogits says that the predictions are logits. Default: probabilities.
	FromLogits bool
	Reduction  Reduction // MeanReduction
}

// Loss compares predictions with the truth.
func (l SparseCategoricalCrossentropy) Loss(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	return l.WeightedLoss(s, truth, predicted, nil)
}

var errLabels = errors.New("the truth must be class numbers, int32 or int64")

// withoutLast removes the last dimension, of size 1, from class numbers that have
// as many dimensions as the predictions. Where a trace doesn't know that, the
// class numbers stay.
func withoutLast(s *ops.Scope, classes, predicted *ops.Value) *ops.Value {
	shape := classes.Fact().Shape
	rank := shape.Rank()
	if rank < 1 || rank != predicted.Fact().Shape.Rank() || shape.Dim(-1) > 1 || shape.Dim(-1) == 0 {
		return classes
	}
	return ops.Squeeze(s, classes, rank-1)
}

// WeightedLoss weights the examples.
func (l SparseCategoricalCrossentropy) WeightedLoss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	t, p := ops.Const(s, truth), ops.Const(s, predicted)
	if s.Err() != nil {
		return t
	}
	if d := t.DType(); !d.IsInteger() {
		return s.Fail("SparseCategoricalCrossentropy", fmt.Errorf("%w, not %v", errLabels, d))
	} else if d != tensor.Int32 && d != tensor.Int64 {
		t = ops.Cast(s, t, tensor.Int64)
	}
	t = withoutLast(s, t, p)
	if !l.FromLogits {
		p = ops.Log(s, ops.Clip(s, p, epsilon, 1-epsilon))
	}
	return l.Reduction.reduce(s, ops.SparseSoftmaxCrossEntropy(s, t, p), weights)
}

// BinaryCrossentropy is the cross-entropy of yes and no, for each element; the
// mean along the last axis.
type BinaryCrossentropy struct {
	// FromLogits says that the predictions are logits. Default: probabilities.
	FromLogits bool
	// LabelSmoothing moves the truth this far towards ½. Default: 0.
	LabelSmoothing float64
	Reduction      Reduction // MeanReduction
}

// Loss compares predictions with the truth.
func (l BinaryCrossentropy) Loss(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	return l.WeightedLoss(s, truth, predicted, nil)
}

// WeightedLoss weights the examples.
func (l BinaryCrossentropy) WeightedLoss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	if l.LabelSmoothing != 0 {
		truth = ops.Add(s, ops.Mul(s, truth, 1-l.LabelSmoothing), 0.5*l.LabelSmoothing)
	}
	if l.FromLogits {
		return l.Reduction.reduce(s, ops.Mean(s, ops.SigmoidCrossEntropy(s, truth, predicted), -1), weights)
	}
	p := ops.Clip(s, predicted, epsilon, 1-epsilon)
	yes := ops.Mul(s, truth, ops.Log(s, ops.Add(s, p, epsilon)))
	no := ops.Mul(s, ops.Sub(s, 1, truth), ops.Log(s, ops.Add(s, ops.Sub(s, 1, p), epsilon)))
	return l.Reduction.reduce(s, ops.Mean(s, ops.Neg(s, ops.Add(s, yes, no)), -1), weights)
}
