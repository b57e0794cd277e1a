package losses

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// BinaryCrossentropy is the cross-entropy of yes and no, for each element; the mean along
// an axis.
type BinaryCrossentropy struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "binary_crossentropy".
	Name string
	// FromLogits means that the predictions are logits. Default: probabilities. The logits of
	// [activations.Sigmoid]'s outputs are used in any case.
	FromLogits bool
	// LabelSmoothing moves the truth this far towards ½. Default: 0.
	LabelSmoothing float64
	// Axis is the axis of the mean. Default: -1.
	Axis *int     `keras:",default=-1"`
	_    struct{} `keras:"fn,const=binary_crossentropy"` // tf_keras's configs of losses name their functions
}

// Call returns the losses of the examples.
func (l BinaryCrossentropy) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	t, p := pair(s, truth, predicted)
	t = smoothedBinary(s, t, l.LabelSmoothing)
	return ops.Mean(s, binary(s, t, p, l.FromLogits), or(l.Axis, -1))
}

// Loss returns the reduced loss.
func (l BinaryCrossentropy) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}

// binary returns the cross-entropy of each element: tf_keras's backend.binary_crossentropy, which
// adds epsilon in the same places.
func binary(s *ops.Scope, t, p *ops.Value, fromLogits bool) *ops.Value {
	if x := activations.LogitsOf(p); x != nil {
		p, fromLogits = x, true
	}
	if fromLogits {
		return ops.SigmoidCrossEntropy(s, t, p)
	}
	p = clipped(s, p)
	yes := ops.Mul(s, t, ops.Log(s, ops.Add(s, p, epsilon)))
	no := ops.Mul(s, ops.Sub(s, 1, t), ops.Log(s, ops.Add(s, ops.Sub(s, 1, p), epsilon)))
	return ops.Neg(s, ops.Add(s, yes, no))
}

func smoothedBinary(s *ops.Scope, t *ops.Value, smoothing float64) *ops.Value {
	if smoothing == 0 {
		return t
	}
	return ops.Add(s, ops.Mul(s, t, 1-smoothing), 0.5*smoothing)
}

// CategoricalCrossentropy is the cross-entropy of distributions over classes.
type CategoricalCrossentropy struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "categorical_crossentropy".
	Name string
	// FromLogits means that the predictions are logits. Default: probabilities, which are
	// divided by their sum. The logits of [activations.Softmax]'s outputs are used in any
	// case.
	FromLogits bool
	// LabelSmoothing takes this part of each distribution and spreads it evenly. Default:
	// 0.
	LabelSmoothing float64
	// Axis is the axis of the classes. Default: -1.
	Axis *int     `keras:",default=-1"`
	_    struct{} `keras:"fn,const=categorical_crossentropy"`
}

// Call returns the losses of the examples.
func (l CategoricalCrossentropy) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	t, p := pair(s, truth, predicted)
	axis := or(l.Axis, -1)
	t = smoothed(s, t, l.LabelSmoothing, axis)
	p, fromLogits := logits(p, l.FromLogits)
	if !fromLogits {
		p = distribution(s, p, axis)
		return ops.Neg(s, ops.Sum(s, ops.Mul(s, t, ops.Log(s, p)), axis))
	}
	return ops.SoftmaxCrossEntropy(s, toLast(s, t, axis), toLast(s, p, axis))
}

// Loss returns the reduced loss.
func (l CategoricalCrossentropy) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}

// logits returns the logits that the predictions were made from by Softmax, or the
// predictions.
func logits(p *ops.Value, fromLogits bool) (x *ops.Value, isLogits bool) {
	if x := activations.LogitsOf(p); x != nil {
		return x, true
	}
	return p, fromLogits
}

// distribution makes the sum along an axis 1 and keeps 0 and 1 out.
func distribution(s *ops.Scope, p *ops.Value, axis int) *ops.Value {
	p = ops.Div(s, p, ops.SumKeep(s, p, axis))
	return clipped(s, p)
}

// clipped returns p between epsilon and 1-epsilon, which is computed in the type of p.
func clipped(s *ops.Scope, p *ops.Value) *ops.Value {
	return ops.Clip(s, p, epsilon, ops.Sub(s, 1, ops.Cast(s, epsilon, dtypeOf(p))))
}

// dtypeOf returns the type of p, float32 after a failure.
func dtypeOf(p *ops.Value) tensor.DType {
	if d := p.DType(); d != tensor.Invalid {
		return d
	}
	return tensor.Float32
}

// smoothed spreads a part of each distribution evenly.
func smoothed(s *ops.Scope, t *ops.Value, smoothing float64, axis int) *ops.Value {
	if smoothing == 0 || s.Err() != nil {
		return t
	}
	if t.Fact().Shape.HasRank() && t.Fact().Shape.Rank() == 0 {
		return s.Fail("CategoricalCrossentropy", errors.New("the truth needs a dimension for the classes"))
	}
	classes := ops.Cast(s, ops.StridedSlice(s, ops.Shape(s, t), ops.At(axis)), t.DType())
	return ops.Add(s, ops.Mul(s, t, 1-smoothing), ops.Div(s, smoothing, classes))
}

// toLast moves an axis to the end.
func toLast(s *ops.Scope, x *ops.Value, axis int) *ops.Value {
	if axis == -1 || s.Err() != nil {
		return x
	}
	shape := x.Fact().Shape
	if !shape.HasRank() {
		return s.Fail("crossentropy", fmt.Errorf("the axis is %d, and the rank isn't known; use -1", axis))
	}
	n := shape.Rank()
	if axis < 0 {
		axis += n
	}
	if axis < 0 || axis >= n {
		return s.Fail("crossentropy", fmt.Errorf("the axis is out of range for rank %d", n))
	}
	if axis == n-1 {
		return x
	}
	perm := make([]int, 0, n)
	for i := range n {
		if i != axis {
			perm = append(perm, i)
		}
	}
	return ops.Transpose(s, x, append(perm, axis)...)
}

// SparseCategoricalCrossentropy is [CategoricalCrossentropy] for a truth of class numbers,
// one an example. It may have a last dimension of 1.
type SparseCategoricalCrossentropy struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "sparse_categorical_crossentropy".
	Name string
	// FromLogits means that the predictions are logits. Default: probabilities. The logits of
	// [activations.Softmax]'s outputs are used in any case.
	FromLogits bool
	// IgnoreClass is a class number whose examples count nothing. Default: none.
	IgnoreClass *int
	// Axis is the axis of the classes. tf_keras's class has none, so the config has none.
	// Default: -1.
	Axis *int     `keras:"-"`
	_    struct{} `keras:"fn,const=sparse_categorical_crossentropy"`
}

// Call returns the losses of the examples.
func (l SparseCategoricalCrossentropy) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	t, p := ops.Const(s, truth), ops.Const(s, predicted)
	if s.Err() != nil {
		return t
	}
	if t.DType() != tensor.Int64 && (t.DType() != tensor.Int32 || l.IgnoreClass != nil) {
		t = ops.Cast(s, t, tensor.Int64)
	}
	p, fromLogits := logits(p, l.FromLogits)
	if !fromLogits {
		p = ops.Log(s, clipped(s, p))
	}
	p = toLast(s, p, or(l.Axis, -1))
	if s.Err() != nil {
		return p
	}
	ts, ps := t.Fact().Shape, p.Fact().Shape
	if ts.HasRank() && ps.HasRank() && ps.Rank() == ts.Rank()+1 {
		return l.ignoring(s, t, p)
	}
	// One class number a row, whatever the dimensions.
	rows := ops.StridedSlice(s, ops.Shape(s, p), ops.To(-1))
	return l.ignoring(s, ops.ReshapeTo(s, t, rows), p)
}

// ignoring returns the losses, 0 and masked for the ignored class.
func (l SparseCategoricalCrossentropy) ignoring(s *ops.Scope, t, logits *ops.Value) *ops.Value {
	if l.IgnoreClass == nil {
		return ops.SparseSoftmaxCrossEntropy(s, t, logits)
	}
	valid := ops.NotEqual(s, t, int64(*l.IgnoreClass))
	losses := ops.SparseSoftmaxCrossEntropy(s, ops.Where(s, valid, t, ops.ZerosLike(s, t)), logits)
	return base.WithMask(s, ops.Where(s, valid, losses, ops.ZerosLike(s, losses)), valid)
}

// Loss returns the reduced loss.
func (l SparseCategoricalCrossentropy) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}
