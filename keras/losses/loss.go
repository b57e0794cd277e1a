package losses

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/internal/samples"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Loss measures how far predictions are from the truth. The first dimension of both is
// the batch's.
type Loss interface {
	// Call returns the losses of the examples, without a reduction. Most losses take the
	// mean along the last dimension.
	Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value
	// Loss returns the reduced loss. weights multiply the losses of the examples; their
	// shape is the losses', or can be broadcast to it. nil means ones. If predicted has
	// a mask, the examples that it hides count nothing.
	Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value
}

// Reduction is the way in which the losses of examples become one number.
type Reduction string

// The reductions. They are strings of tf_keras's configs.
const (
	// AutoReduction is SumOverBatchSize. The empty Reduction is AutoReduction.
	AutoReduction Reduction = "auto"
	// SumOverBatchSize divides the sum of the weighted losses by their count.
	SumOverBatchSize Reduction = "sum_over_batch_size"
	// SumReduction adds the weighted losses.
	SumReduction Reduction = "sum"
	// NoReduction keeps the weighted losses.
	NoReduction Reduction = "none"
)

// UnmarshalConfig reads one of the reductions.
func (r *Reduction) UnmarshalConfig(v any) error {
	name, ok := v.(string)
	if !ok || !Reduction(name).valid() || name == "" {
		return fmt.Errorf("got %.80v, want %q, %q, %q or %q", v, AutoReduction, NoReduction, SumReduction, SumOverBatchSize)
	}
	*r = Reduction(name)
	return nil
}

func (r Reduction) valid() bool { return r.mean() || r == SumReduction || r == NoReduction }

func (r Reduction) mean() bool { return r == "" || r == AutoReduction || r == SumOverBatchSize }

// Reduce weights the losses of examples and joins them, as tf_keras does: weights may have
// one dimension more or less than the losses, the last one, and can be nil. mask, nil for
// none, is that of the predictions; see [base.MaskOf]. A program's own [Loss] calls it.
func Reduce(s *ops.Scope, r Reduction, losses *ops.Value, weights ops.Input, mask *ops.Value) *ops.Value {
	if s.Err() != nil {
		return losses
	}
	if !r.valid() {
		return s.Fail("Loss", fmt.Errorf("unknown reduction %q (want %q, %q or %q)", r, SumOverBatchSize, SumReduction, NoReduction))
	}
	d := losses.DType()
	if own := base.MaskOf(losses); own != nil && mask != nil {
		mask = ops.And(s, mask, own)
	} else if own != nil {
		mask = own
	}
	if !d.IsFloating() {
		losses = ops.Cast(s, losses, tensor.Float32)
	}
	f := losses.DType()
	if r.mean() {
		mask = samples.Evened(s, mask, f)
	}
	if w := samples.Masked(s, weights, mask, f); w != nil {
		losses = ops.Mul(s, losses, samples.MatchWeights(s, losses, w))
	}
	if s.Err() != nil {
		return losses
	}
	switch {
	case r.mean():
		losses = mean(s, losses)
	case r == SumReduction:
		losses = ops.Sum(s, losses)
	}
	if d != f {
		losses = ops.Cast(s, losses, d)
	}
	return losses
}

// mean divides the sum of all elements by their count, 0 for none.
func mean(s *ops.Scope, x *ops.Value) *ops.Value {
	sum := ops.Sum(s, x)
	if n, ok := x.Fact().Shape.NumElements(); ok && n > 0 {
		return ops.Div(s, sum, float64(n))
	}
	return ops.DivNoNan(s, sum, ops.Cast(s, ops.Size(s, x), sum.DType()))
}

// reduced returns the loss of f with a reduction. The methods Loss of this package call it: it takes
// the mask of the predictions and matches the ranks, as tf_keras's LossFunctionWrapper.call.
func reduced(s *ops.Scope, f Func, r Reduction, truth, predicted, weights ops.Input) *ops.Value {
	t, p := ops.Const(s, truth), ops.Const(s, predicted)
	if s.Err() != nil {
		return p
	}
	mask := base.MaskOf(p)
	t, q := samples.MatchRanks(s, t, p)
	return Reduce(s, r, f(s, t, q), weights, mask)
}

// Func computes the losses of examples. As a [Loss] its reduction is [SumOverBatchSize].
// It has no config.
type Func func(s *ops.Scope, truth, predicted ops.Input) *ops.Value

// Call calls f.
func (f Func) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	return f(s, truth, predicted)
}

// Loss returns the mean of the losses of f.
func (f Func) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, f, SumOverBatchSize, truth, predicted, weights)
}

// pair returns the truth, in the type of the predictions, and the predictions.
func pair(s *ops.Scope, truth, predicted ops.Input) (t, p *ops.Value) {
	p = ops.Const(s, predicted)
	t = ops.Const(s, truth)
	if s.Err() != nil {
		return t, p
	}
	return samples.CastTo(s, t, p.DType()), p
}

// or returns *p, or the default.
func or[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}
