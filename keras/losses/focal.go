package losses

import (
	"encoding/json"
	"fmt"

	"github.com/cairnml/cairn/keras/internal/samples"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// BinaryFocalCrossentropy is [BinaryCrossentropy] times (1-p)^Gamma; p is the
// probability of the true answer: easy examples count less.
type BinaryFocalCrossentropy struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "binary_focal_crossentropy".
	Name string
	// ApplyClassBalancing weights yes by Alpha and no by 1-Alpha. Default: false.
	ApplyClassBalancing bool
	// Alpha is the weight of yes. Default: 0.25.
	Alpha *float64 `keras:",default=0.25"`
	// Gamma is the exponent. Default: 2.
	Gamma *float64 `keras:",default=2.0"`
	// FromLogits means that the predictions are logits. Default: probabilities.
	FromLogits bool
	// LabelSmoothing moves the truth this far towards ½. Default: 0.
	LabelSmoothing float64
	// Axis is the axis of the mean. Default: -1.
	Axis *int     `keras:",default=-1"`
	_    struct{} `keras:"fn,const=binary_focal_crossentropy"` // tf_keras's configs of losses name their functions
}

// Call returns the losses of the examples.
func (l BinaryFocalCrossentropy) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	t, p := pair(s, truth, predicted)
	t = smoothedBinary(s, t, l.LabelSmoothing)
	sure := p
	if l.FromLogits {
		sure = ops.Sigmoid(s, p)
	}
	right := ops.Add(s, ops.Mul(s, t, sure), ops.Mul(s, ops.Sub(s, 1, t), ops.Sub(s, 1, sure)))
	losses := ops.Mul(s, ops.Pow(s, ops.Sub(s, 1, right), or(l.Gamma, 2)), binary(s, t, p, l.FromLogits))
	if l.ApplyClassBalancing {
		alpha := or(l.Alpha, 0.25)
		losses = ops.Mul(s, ops.Add(s, ops.Mul(s, t, alpha), ops.Mul(s, ops.Sub(s, 1, t), 1-alpha)), losses)
	}
	return ops.Mean(s, losses, or(l.Axis, -1))
}

// Loss returns the reduced loss.
func (l BinaryFocalCrossentropy) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}

// CategoricalFocalCrossentropy is [CategoricalCrossentropy] whose classes are weighted by
// Alpha*(1-p)^Gamma; p is the class's probability.
type CategoricalFocalCrossentropy struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "categorical_focal_crossentropy".
	Name string
	// Alpha is the factor of each class: one number, or one a class. Default: 0.25.
	Alpha Factors
	// Gamma is the exponent. Default: 2.
	Gamma *float64 `keras:",default=2.0"`
	// FromLogits means that the predictions are logits. Default: probabilities.
	FromLogits bool
	// LabelSmoothing takes this part of each distribution and spreads it evenly. Default:
	// 0.
	LabelSmoothing float64
	// Axis is the axis of the classes. Default: -1.
	Axis *int     `keras:",default=-1"`
	_    struct{} `keras:"fn,const=categorical_focal_crossentropy"`
}

// Call returns the losses of the examples.
func (l CategoricalFocalCrossentropy) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	t, p := pair(s, truth, predicted)
	axis := or(l.Axis, -1)
	t = smoothed(s, t, l.LabelSmoothing, -1) // along the last axis whatever Axis is, as tf_keras
	p, fromLogits := logits(p, l.FromLogits)
	if fromLogits {
		p = softmax(s, p, axis)
	}
	p = distribution(s, p, axis)
	losses := ops.Mul(s, ops.Neg(s, t), ops.Log(s, p))
	weights := ops.Mul(s, ops.Pow(s, ops.Sub(s, 1, p), or(l.Gamma, 2)), l.Alpha.value(s, dtypeOf(p)))
	return ops.Sum(s, ops.Mul(s, weights, losses), axis)
}

// softmax computes the softmax along an axis.
func softmax(s *ops.Scope, x *ops.Value, axis int) *ops.Value {
	if axis == -1 || s.Err() != nil {
		return ops.Softmax(s, x)
	}
	y := ops.Exp(s, ops.Sub(s, x, ops.StopGradient(s, ops.MaxKeep(s, x, axis))))
	return ops.Div(s, y, ops.SumKeep(s, y, axis))
}

// Loss returns the reduced loss.
func (l CategoricalFocalCrossentropy) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}

// Factors are one factor for all classes, or one for each. The config of one is a number.
type Factors []float64

func (f Factors) orDefault() Factors {
	if len(f) == 0 {
		return Factors{0.25}
	}
	return f
}

func (f Factors) value(s *ops.Scope, d tensor.DType) *ops.Value {
	f = f.orDefault()
	if len(f) == 1 {
		return ops.ConstOf(s, d, f[0])
	}
	return samples.CastTo(s, []float64(f), d)
}

// MarshalConfig returns a number, or a list of several.
func (f Factors) MarshalConfig() (any, error) {
	if f = f.orDefault(); len(f) == 1 {
		return f[0], nil
	}
	return []float64(f), nil
}

// UnmarshalConfig reads a number or a list of numbers.
func (f *Factors) UnmarshalConfig(v any) error {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	out := make(Factors, len(list))
	for i, x := range list {
		n, ok := x.(json.Number)
		if !ok {
			return fmt.Errorf("got %.80v, want a number or a list of numbers", v)
		}
		var err error
		if out[i], err = n.Float64(); err != nil {
			return fmt.Errorf("got %.80v, want a number", x)
		}
	}
	*f = out
	return nil
}
