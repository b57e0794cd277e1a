package layers

import (
	"fmt"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TimeDistributed calls another layer with each time step of its inputs [batch, time, …].
// A built-in layer or a model gets all steps at once, as the rows of one larger batch. A
// program's own layer, and a stateful one, gets one step after another if the batch's size is known; as
// in tf_keras, it then gets the first step once more before that.
type TimeDistributed struct {
	base.Layer
	// Inner is the other layer. It is required.
	Inner base.Callable `keras:"layer" cairn:"layer"`
}

// CompleteLayer checks that there is a layer.
func (l *TimeDistributed) CompleteLayer() error { return wrap(l.Inner) }

// BuildLayer builds the inner layer for one time step.
func (l *TimeDistributed) BuildLayer(s *ops.Scope, in base.Shapes) error {
	inner := make(base.Shapes, len(in))
	for i, shape := range in {
		if len(shape) < 3 {
			return fmt.Errorf("input %d has the shape %v, want a batch's dimension, time and features", i, shape)
		}
		inner[i] = append(tensor.Shape{shape[0]}, shape[2:]...)
	}
	return buildInner(s, l.Inner, inner)
}

// Call returns the inner layer's outputs [batch, time, …].
func (l *TimeDistributed) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

// ComputeAll returns the inner layer's outputs [batch, time, …].
func (l *TimeDistributed) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	if err := c.CheckArgs(); err != nil {
		return []*ops.Value{s.Fail("TimeDistributed", err)}
	}
	for i, x := range c.Inputs {
		if shape := x.Fact().Shape; shape.Rank() < 3 {
			return []*ops.Value{s.Fail("TimeDistributed", fmt.Errorf("input %d has the shape %v, want a batch's dimension, time and features", i, shape))}
		}
	}
	if l.stepByStep(c.Inputs[0]) {
		return l.steps(s, c)
	}
	inputs, masks := make([]*ops.Value, len(c.Inputs)), make([]*ops.Value, len(c.Inputs))
	for i, x := range c.Inputs {
		inputs[i] = joinTime(s, x)
		if m := c.Masks[i]; m != nil {
			masks[i] = joinTime(s, m)
		}
	}
	out := base.CallAll(s, l.Inner, inputs, &base.CallOptions{Masks: masks})
	if s.Err() != nil {
		return out
	}
	for i, y := range out {
		mask := base.MaskOf(y)
		out[i] = splitTime(s, y, c.Inputs[0])
		switch given := c.Masks[0]; {
		case mask != nil:
			mask = splitTime(s, mask, c.Inputs[0])
		case given != nil:
			if mask = given; given.Fact().Shape.Rank() > 2 {
				var rest []int
				for axis := 2; axis < given.Fact().Shape.Rank(); axis++ {
					rest = append(rest, axis)
				}
				mask = ops.Any(s, given, rest...)
			}
		}
		out[i] = base.WithMask(s, out[i], mask)
	}
	return out
}

// ComputeMask returns the masks that the outputs have already.
func (l *TimeDistributed) ComputeMask(_ *ops.Scope, _ *base.Invocation, out []*ops.Value) []*ops.Value {
	masks := make([]*ops.Value, len(out))
	for i, y := range out {
		masks[i] = base.MaskOf(y)
	}
	return masks
}

// builtIn returns the classes of this package.
var builtIn = sync.OnceValue(func() *config.Classes { return config.Must(config.New(Classes())) })

// stepByStep reports whether the inner layer gets one time step after another.
func (l *TimeDistributed) stepByStep(x *ops.Value) bool {
	if _, known := builtIn().ClassOf(l.Inner); known || base.IsModel(l.Inner) {
		var seq sequence
		config.CopyFields(&seq, l.Inner)
		if !seq.Stateful {
			return false
		}
	}
	return x.Fact().Shape.Dim(0) > 0
}

// joinTime joins the first two dimensions of x: [batch, time, …] becomes [batch·time, …].
func joinTime(s *ops.Scope, x *ops.Value) *ops.Value {
	shape := x.Fact().Shape
	rest, err := shape.From(2, shape.Rank())
	if err != nil {
		return s.Fail("TimeDistributed", err)
	}
	if dims, ok := rest.Tensor(); ok {
		return ops.Reshape(s, x, append([]int{-1}, dims...)...)
	}
	return ops.ReshapeTo(s, x, ops.Concat(s, []ops.Input{[]int32{-1}, ops.StridedSlice(s, ops.Shape(s, x), ops.From(2))}, 0))
}

// splitTime replaces the first dimension of y by the first two of x.
func splitTime(s *ops.Scope, y, x *ops.Value) *ops.Value {
	outer, inner := x.Fact().Shape, y.Fact().Shape
	rest, err := inner.From(1, inner.Rank())
	if err != nil {
		return s.Fail("TimeDistributed", err)
	}
	if batch, time := max(outer.Dim(0), -1), max(outer.Dim(1), -1); batch >= 0 && time >= 0 || batch < 0 && time > 0 || batch > 0 && time < 0 {
		if dims, ok := rest.Tensor(); ok {
			return ops.Reshape(s, y, append([]int{batch, time}, dims...)...)
		}
	}
	return ops.ReshapeTo(s, y, ops.Concat(s, []*ops.Value{ops.StridedSlice(s, ops.Shape(s, x), ops.To(2)),
		ops.StridedSlice(s, ops.Shape(s, y), ops.From(1))}, 0))
}

// steps calls the inner layer with one time step after another.
func (l *TimeDistributed) steps(s *ops.Scope, c *base.Invocation) []*ops.Value {
	if len(c.Inputs) != 1 {
		return []*ops.Value{s.Fail("TimeDistributed", fmt.Errorf("got %d inputs for a layer that gets one step after another, want 1", len(c.Inputs)))}
	}
	call := func(s *ops.Scope, x *ops.Value) *ops.Value {
		return base.CallAll(s, l.Inner, []*ops.Value{x}, &base.CallOptions{Masks: []*ops.Value{nil}})[0]
	}
	x, mask := swapTime(s, c.Inputs[0]), c.Masks[0]
	first := call(s, ops.StridedSlice(s, x, ops.At(0)))
	loop := &timeLoop{sequence: sequence{ReturnSequences: true}}
	if mask != nil {
		loop.mask = swapTime(s, mask)
	}
	step := func(s *ops.Scope, x *ops.Value, _ []*ops.Value) (*ops.Value, []*ops.Value) { return call(s, x), nil }
	out, _ := loop.over(s, step, x, nil, func() *ops.Value { return ops.ZerosLike(s, first) })
	if s.Err() != nil {
		return []*ops.Value{first}
	}
	return []*ops.Value{base.WithMask(s, swapTime(s, out), mask)}
}
