package layers

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// GroupNormalization normalizes each group of channels of each example to the mean 0
// and the variance 1, then scales and shifts each channel.
type GroupNormalization struct {
	base.Layer
	// Groups is the number of groups, -1 for as many as channels. Default: 32.
	Groups int `keras:",default=32"`
	// Axis is the dimension of the channels, not the batch's. Default: -1.
	Axis int `keras:",default=-1"`
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

	channels int // of the inputs that the layer was built for
}

// Weights lists gamma and beta.
func (g *GroupNormalization) Weights(in base.Shapes) ([]base.Weight, error) {
	n := -1
	if len(in) > 0 && in[0] != nil {
		axis, err := fromFront(constraints.Axes{g.Axis}, len(in[0]))
		switch {
		case err != nil:
			return nil, err
		case axis[0] == 0:
			return nil, errors.New("the batch's dimension has no channels")
		}
		n = in[0][axis[0]]
	}
	switch {
	case g.Groups < -1 || g.Groups == 0:
		return nil, fmt.Errorf("the number of groups is %d, want 1 or more, or -1", g.Groups)
	case n >= 0 && g.Groups > 0 && (n < g.Groups || n%g.Groups != 0):
		return nil, fmt.Errorf("the channels can't be divided into groups (got %d channels and %d groups)", n, g.Groups)
	}
	var list []base.Weight
	if !g.NoScale {
		list = append(list, base.Weight{To: &g.Gamma, Edge: "gamma", Shape: tensor.Shape{n},
			Init: g.GammaInitializer, Regularizer: g.GammaRegularizer, Constraint: g.GammaConstraint})
	}
	if !g.NoCenter {
		list = append(list, base.Weight{To: &g.Beta, Edge: "beta", Shape: tensor.Shape{n},
			Init: g.BetaInitializer, Regularizer: g.BetaRegularizer, Constraint: g.BetaConstraint})
	}
	return list, nil
}

// BuildLayer sets the number of groups if it is that of the channels.
func (g *GroupNormalization) BuildLayer(_ *ops.Scope, in base.Shapes) error {
	if len(in) == 0 || in[0] == nil {
		return errors.New("the input has an unknown rank")
	}
	axis, err := fromFront(constraints.Axes{g.Axis}, len(in[0]))
	if err != nil {
		return err
	}
	n := in[0][axis[0]]
	if n < 0 {
		return errors.New("the number of channels isn't known")
	}
	if g.Groups == -1 {
		g.Groups = n
	}
	g.channels = n
	return nil
}

// PassesMask marks a layer whose output has the mask of its input.
func (g *GroupNormalization) PassesMask() {}

// Call returns the normalized x.
func (g *GroupNormalization) Call(s *ops.Scope, x ops.Input) *ops.Value { return g.Run(s, g, x, nil) }

// ComputeAll returns the normalized input. Elements that its mask ignores don't count for
// means and variances; the mask broadcasts to the input's shape.
func (g *GroupNormalization) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	fail := func(err error) []*ops.Value { return []*ops.Value{s.Fail("GroupNormalization", err)} }
	if err := c.CheckArgs(); err != nil {
		return fail(err)
	}
	if len(c.Inputs) != 1 {
		return fail(fmt.Errorf("got %d inputs, want 1", len(c.Inputs)))
	}
	x, shape := c.Inputs[0], ops.Shape(s, c.Inputs[0])
	rank := x.Fact().Shape.Rank()
	if rank < 0 {
		return fail(errors.New("the input has an unknown rank"))
	}
	axis := g.Axis
	if axis < 0 {
		axis += rank
	}
	n := g.channels
	groups := ops.Concat(s, []ops.Input{ops.StridedSlice(s, shape, ops.To(axis)), []int32{int32(g.Groups), int32(n / g.Groups)},
		ops.StridedSlice(s, shape, ops.From(axis+1))}, 0)
	var reduced []int
	broadcast := slices.Repeat([]int{1}, rank+1)
	for i := 1; i <= rank; i++ {
		if i != axis {
			reduced = append(reduced, i)
		}
	}
	broadcast[axis], broadcast[axis+1] = g.Groups, n/g.Groups
	given := x.DType()
	var mean, variance *ops.Value
	grouped := ops.ReshapeTo(s, x, groups)
	whole := grouped
	if given == tensor.Float16 || given == tensor.BFloat16 {
		whole = ops.Cast(s, grouped, tensor.Float32)
	}
	if mask := c.Masks[0]; mask != nil {
		weights := s.Emit1("BroadcastTo", nil, ops.Cast(s, mask, whole.DType()), shape)
		mean, variance = weightedMoments(s, whole, ops.ReshapeTo(s, weights, groups), reduced)
	} else {
		mean, variance = ops.MomentsKeep(s, whole, reduced...)
	}
	wide := func(v *trackable.Variable) ops.Input {
		if v == nil {
			return nil
		}
		return ops.Reshape(s, g.Read(s, v), broadcast...)
	}
	y := normalize(s, grouped, ops.Cast(s, mean, given), ops.Cast(s, variance, given), wide(g.Gamma), wide(g.Beta), *g.Epsilon)
	return []*ops.Value{ops.ReshapeTo(s, y, shape)}
}
