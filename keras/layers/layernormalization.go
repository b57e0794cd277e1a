package layers

import (
	"errors"
	"slices"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// LayerNormalization normalizes the features of each example to the mean 0 and the variance
// 1, then scales and shifts them.
type LayerNormalization struct {
	base.Layer
	// Axis are the dimensions of the features. Default: the last one.
	Axis constraints.Axes `keras:",default=-1"`
	// Epsilon is added to the variance. Default: 0.001.
	Epsilon *float64 `keras:",default=0.001"`
	// NoCenter leaves out the shift by beta. Default: there is one.
	NoCenter bool `keras:"center,not"`
	// NoScale leaves out the scale by gamma. Default: there is one.
	NoScale bool `keras:"scale,not"`
	// BetaInitializer makes the first value of beta. Default: Zeros.
	BetaInitializer initializers.Initializer `keras:",default=Zeros"`
	// GammaInitializer makes the first value of gamma. Default: Ones.
	GammaInitializer initializers.Initializer `keras:",default=Ones"`
	// BetaRegularizer and GammaRegularizer add losses of the weights. Default: none.
	BetaRegularizer, GammaRegularizer regularizers.Regularizer
	// BetaConstraint and GammaConstraint project the weights after a step. Default: none.
	BetaConstraint, GammaConstraint constraints.Constraint

	// Gamma and Beta are nil until the layer is built.
	Gamma, Beta *trackable.Variable `cairn:"-"`

	listed bool // the axis of the config is a list
}

// EncodeConfig returns the fields; the axis of a built layer is a list.
func (l *LayerNormalization) EncodeConfig(e *config.Encoder) (config.Fields, error) {
	return listAxis(e, l, l.listed, l.Axis)
}

// DecodeConfig reads the fields.
func (l *LayerNormalization) DecodeConfig(d *config.Decoder, fields map[string]any) error {
	_, l.listed = fields["axis"].([]any)
	return d.Fields("LayerNormalization", l, fields)
}

// Weights lists gamma and beta.
func (l *LayerNormalization) Weights(in base.Shapes) ([]base.Weight, error) {
	shape := slices.Repeat(tensor.Shape{-1}, len(l.Axis))
	if len(in) > 0 && in[0] != nil {
		axes, err := fromFront(l.Axis, len(in[0]))
		if err != nil {
			return nil, err
		}
		for i, a := range axes {
			shape[i] = in[0][a]
		}
	}
	var list []base.Weight
	if !l.NoScale {
		list = append(list, base.Weight{To: &l.Gamma, Edge: "gamma", Shape: shape,
			Init: l.GammaInitializer, Regularizer: l.GammaRegularizer, Constraint: l.GammaConstraint})
	}
	if !l.NoCenter {
		list = append(list, base.Weight{To: &l.Beta, Edge: "beta", Shape: slices.Clone(shape),
			Init: l.BetaInitializer, Regularizer: l.BetaRegularizer, Constraint: l.BetaConstraint})
	}
	return list, nil
}

// BuildLayer makes the axes count from the front, as the config of a built layer has them.
func (l *LayerNormalization) BuildLayer(_ *ops.Scope, in base.Shapes) error {
	if len(in) == 0 || in[0] == nil {
		return errors.New("the input has an unknown rank")
	}
	axes, err := fromFront(l.Axis, len(in[0]))
	if err == nil {
		l.Axis, l.listed = axes, true
	}
	return err
}

// PassesMask marks a layer whose output has the mask of its input.
func (l *LayerNormalization) PassesMask() {}

// Call returns the normalized x.
func (l *LayerNormalization) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

// Compute returns the normalized x.
func (l *LayerNormalization) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	given, rank := x.DType(), x.Fact().Shape.Rank()
	if rank < 0 {
		return s.Fail("LayerNormalization", errors.New("the input has an unknown rank"))
	}
	if given == tensor.Float16 || given == tensor.BFloat16 {
		x = ops.Cast(s, x, tensor.Float32)
	}
	broadcast := slices.Repeat([]int{1}, rank)
	wide := func(v *trackable.Variable) ops.Input { // with a dimension for each of x's
		if v == nil {
			return nil
		}
		if len(l.Axis) == 1 && l.Axis[0] == rank-1 {
			return ops.Cast(s, v, x.DType())
		}
		for i, a := range l.Axis {
			broadcast[a] = v.Shape()[i]
		}
		return ops.Cast(s, ops.Reshape(s, v, broadcast...), x.DType())
	}
	mean, variance := ops.MomentsKeep(s, x, l.Axis...)
	return ops.Cast(s, normalize(s, x, mean, variance, wide(l.Gamma), wide(l.Beta), *l.Epsilon), given)
}
