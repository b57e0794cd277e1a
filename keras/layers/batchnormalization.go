package layers

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
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

// BatchNormalization normalizes each channel to the mean 0 and the variance 1, then
// scales and shifts it. In training it uses the mean and variance of the batch and
// updates moving averages of them; otherwise, and if NotTrainable is set, it uses the
// averages.
type BatchNormalization struct {
	base.Layer
	// Axis is the dimension of the channels, or several. Default: the last one.
	Axis constraints.Axes `keras:",default=-1"`
	// Momentum is the part of a moving average that stays in a step. Default: 0.99.
	Momentum *float64 `keras:",default=0.99"`
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
	// MovingMeanInitializer makes the first value of the moving mean. Default: Zeros.
	MovingMeanInitializer initializers.Initializer `keras:",default=Zeros"`
	// MovingVarianceInitializer makes the first value of the moving variance. Default: Ones.
	MovingVarianceInitializer initializers.Initializer `keras:",default=Ones"`
	// BetaRegularizer and GammaRegularizer add losses of the weights. Default: none.
	BetaRegularizer, GammaRegularizer regularizers.Regularizer
	// BetaConstraint and GammaConstraint project the weights after a step. Default: none.
	BetaConstraint, GammaConstraint constraints.Constraint
	// Renorm corrects the batch's mean and variance towards moving ones in training.
	Renorm bool `keras:",omitempty"`
	// RenormClipping limits the correction by "rmax", "rmin" and "dmax". Default: no limits.
	RenormClipping map[string]float64 `keras:",omitempty"`
	// RenormMomentum is the Momentum of Renorm's averages. Default: 0.99.
	RenormMomentum *float64 `keras:",omitempty"`
	// VirtualBatchSize normalizes parts of a batch of this size by themselves in training.
	// It divides the batch's size. Default: the whole batch.
	VirtualBatchSize int `keras:",omitempty"`
	// Fused computes with TensorFlow's op of that name, which ignores masks and divides the
	// batch's variance by one element less for the moving average. Default: true for images
	// and volumes of one channel dimension, unless another setting prevents it.
	Fused *bool `keras:"-"`
	// Synchronized excludes the fused op, as for layers whose batch is spread over devices.
	Synchronized bool `keras:"-"`
	// V1 stays in training if NotTrainable is set, as TensorFlow 1's layer does.
	V1 bool `keras:"-"`

	// Gamma, Beta, MovingMean and MovingVariance are nil until the layer is built.
	Gamma, Beta, MovingMean, MovingVariance *trackable.Variable `cairn:"-"`
	// MovingStddev, RenormMean and RenormStddev are the averages of Renorm.
	MovingStddev, RenormMean, RenormStddev *trackable.Variable `cairn:"-"`

	listed bool // the axis of the config is a list
}

// CompleteConfig sets the defaults of Renorm.
func (b *BatchNormalization) CompleteConfig() {
	if b.Renorm && b.RenormClipping == nil {
		b.RenormClipping = map[string]float64{}
	}
	if b.Renorm && b.RenormMomentum == nil {
		b.RenormMomentum = new(0.99)
	}
}

// EncodeConfig returns the fields; the axis of a built layer is a list.
func (b *BatchNormalization) EncodeConfig(e *config.Encoder) (config.Fields, error) {
	return listAxis(e, b, b.listed, b.Axis)
}

// DecodeConfig reads the fields.
func (b *BatchNormalization) DecodeConfig(d *config.Decoder, fields map[string]any) error {
	_, b.listed = fields["axis"].([]any)
	return d.Fields("BatchNormalization", b, fields)
}

// listAxis returns the fields of a layer, with an axis that is a list even if it is one.
func listAxis(e *config.Encoder, layer any, listed bool, axis constraints.Axes) (config.Fields, error) {
	fields, err := e.Fields(layer)
	for i := range fields {
		if fields[i].Name == "axis" && listed {
			fields[i].Value = []int(axis)
		}
	}
	return fields, err
}

// fromFront returns axes that count from the front, for an input of a rank.
func fromFront(axes constraints.Axes, rank int) (constraints.Axes, error) {
	out := make(constraints.Axes, len(axes))
	for i, a := range axes {
		if out[i] = a; a < 0 {
			out[i] += rank
		}
		if out[i] < 0 || out[i] >= rank || slices.Contains(out[:i], out[i]) {
			return nil, fmt.Errorf("the axis is wrong (got %v, want different dimensions of %d)", []int(axes), rank)
		}
	}
	if len(axes) == 0 {
		return nil, errors.New("there is no axis")
	}
	return out, nil
}

// paramType returns the type of the weights, which is float32 for shorter floats.
func (b *BatchNormalization) paramType() tensor.DType {
	if d := b.DType.Variables(); d != tensor.Float16 && d != tensor.BFloat16 {
		return d
	}
	return tensor.Float32
}

// Weights lists gamma, beta and the moving averages.
func (b *BatchNormalization) Weights(in base.Shapes) ([]base.Weight, error) {
	shape := tensor.Shape{-1}
	switch whole := len(b.Axis) > 1 || b.VirtualBatchSize != 0; {
	case b.VirtualBatchSize < 0:
		return nil, fmt.Errorf("the virtual batch size is %d, want 1 or more", b.VirtualBatchSize)
	case len(in) > 0 && in[0] != nil:
		axes, err := fromFront(b.Axis, len(in[0]))
		if err != nil {
			return nil, err
		}
		shape[0] = in[0][axes[0]]
		if whole {
			shape = slices.Repeat(tensor.Shape{1}, len(in[0]))
			for _, a := range axes {
				if a == 0 && b.VirtualBatchSize != 0 {
					return nil, errors.New("with a virtual batch size the batch is no axis")
				}
				shape[a] = in[0][a]
			}
		}
		if b.VirtualBatchSize != 0 {
			shape = slices.Insert(shape, 1, 1)
		}
	case whole:
		return nil, errors.New("the shape of the weights depends on the input's")
	}
	weight := func(to **trackable.Variable, edge string, init initializers.Initializer) base.Weight {
		return base.Weight{To: to, Edge: edge, Shape: slices.Clone(shape), DType: b.paramType(), Init: init}
	}
	average := func(to **trackable.Variable, edge string, init initializers.Initializer) base.Weight {
		w := weight(to, edge, init)
		w.NotTrainable = true
		return w
	}
	var list []base.Weight
	if !b.NoScale {
		w := weight(&b.Gamma, "gamma", b.GammaInitializer)
		w.Regularizer, w.Constraint = b.GammaRegularizer, b.GammaConstraint
		list = append(list, w)
	}
	if !b.NoCenter {
		w := weight(&b.Beta, "beta", b.BetaInitializer)
		w.Regularizer, w.Constraint = b.BetaRegularizer, b.BetaConstraint
		list = append(list, w)
	}
	list = append(list, average(&b.MovingMean, "moving_mean", b.MovingMeanInitializer),
		average(&b.MovingVariance, "moving_variance", b.MovingVarianceInitializer))
	if b.Renorm {
		deviation := rootOf{b.MovingVarianceInitializer}
		list = append(list, average(&b.MovingStddev, "moving_stddev", deviation),
			average(&b.RenormMean, "renorm_mean", b.MovingMeanInitializer), average(&b.RenormStddev, "renorm_stddev", deviation))
	}
	return list, nil
}

// rootOf makes the square root of another initializer's value: the first one of Renorm's deviations.
type rootOf struct{ initializers.Initializer }

// Init returns the square root.
func (r rootOf) Init(g *rand.Rand, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	t, err := r.Initializer.Init(g, d, shape)
	if err != nil {
		return nil, err
	}
	wide, err := tensor.Cast(t, tensor.Float64)
	if err != nil {
		return nil, err
	}
	roots := slices.Clone(tensor.Values[float64](wide))
	for i, x := range roots {
		roots[i] = math.Sqrt(x)
	}
	if wide, err = tensor.New(roots, shape...); err != nil {
		return nil, err
	}
	return tensor.Cast(wide, d)
}

// BuildLayer makes the axes count from the front, as the config of a built layer has them.
func (b *BatchNormalization) BuildLayer(_ *ops.Scope, in base.Shapes) error {
	if len(in) == 0 || in[0] == nil {
		return errors.New("the input has an unknown rank")
	}
	axes, err := fromFront(b.Axis, len(in[0]))
	if err == nil {
		b.Axis, b.listed = axes, true
	}
	return err
}

// PassesMask marks a layer whose output has the mask of its input.
func (b *BatchNormalization) PassesMask() {}

// Call returns the normalized x.
func (b *BatchNormalization) Call(s *ops.Scope, x ops.Input) *ops.Value { return b.Run(s, b, x, nil) }

// ComputeAll returns the normalized input.
func (b *BatchNormalization) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	err := c.CheckArgs()
	if err == nil && len(c.Inputs) != 1 {
		err = fmt.Errorf("got %d inputs, want 1", len(c.Inputs))
	}
	if err == nil && !c.Inputs[0].Fact().Shape.HasRank() {
		err = errors.New("the input has an unknown rank")
	}
	fused := false
	if err == nil {
		fused, err = b.fused(c.Inputs[0].Fact().Shape.Rank())
	}
	if err != nil {
		return []*ops.Value{s.Fail("BatchNormalization", err)}
	}
	training := s.Training() && (b.V1 || !b.NotTrainable)
	if fused {
		return []*ops.Value{b.fuse(s, c.Inputs[0], training)}
	}
	return []*ops.Value{b.plain(s, c.Inputs[0], c.Masks[0], training)}
}
