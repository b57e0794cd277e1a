package layers

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Cell is a layer that computes one time step of a recurrent layer. [RNN] goes over the
// time steps with any Cell.
type Cell interface {
	base.LayerLike
	// StateShapes returns the shapes of the states without the batch's dimension. in is
	// the shape of the input of one step with the batch's dimension, nil if it isn't known;
	// a size that depends on it is -1 then.
	StateShapes(in tensor.Shape) []tensor.Shape
	// Begin returns the function that computes each step of one call. It reads the
	// variables and draws the masks of dropout, which all steps share.
	Begin(s *ops.Scope, c *CellCall) Step
}

// CellCall is one call of a recurrent layer, as its cell sees it.
type CellCall struct {
	// Input is the input of one step. It represents all of them: only its type and shape count.
	Input *ops.Value
	// States are the states before the first step.
	States []*ops.Value
	// Constants are further values that all steps use. A cell that uses them is a
	// [ConstantUser].
	Constants []*ops.Value

	dropped bool // the layer has applied dropout to the inputs of all steps; the cell draws no masks for inputs
}

// Step computes the output of one time step and the states after it, of the same types
// and shapes as those before it. x is [batch, …].
type Step func(s *ops.Scope, x *ops.Value, states []*ops.Value) (out *ops.Value, next []*ops.Value)

// ConstantUser is implemented by cells that use [CellCall].Constants.
type ConstantUser interface{ UsesConstants() }

// OutputShaper is implemented by cells that have no state, or whose output has another
// shape than their first state. OutputShape returns the output's shape without the batch's
// dimension. in is as in StateShapes.
type OutputShaper interface {
	OutputShape(in tensor.Shape) tensor.Shape
}

// projector is implemented by cells that compute a part of all steps at once, which is faster and
// keeps the numbers. xs is [time, batch, …]; the step takes slices of the result.
type projector interface {
	project(s *ops.Scope, c *CellCall, xs *ops.Value) (*ops.Value, Step)
}

// stepOnce computes one step from the states in the argument "states", zeros by default. Every
// cell's ComputeAll calls it. The results are the output and the new states.
func stepOnce(s *ops.Scope, cell Cell, c *base.Invocation) []*ops.Value {
	const op = "Cell"
	if err := c.CheckArgs("states", "constants"); err != nil {
		return []*ops.Value{s.Fail(op, err)}
	}
	if len(c.Inputs) != 1 {
		return []*ops.Value{s.Fail(op, fmt.Errorf("got %d inputs, want 1", len(c.Inputs)))}
	}
	x := c.Inputs[0]
	states, err := argument(s, cell.AsLayer(), c, "states")
	if err != nil {
		return []*ops.Value{s.Fail(op, err)}
	}
	constants, err := argument(s, cell.AsLayer(), c, "constants")
	if err != nil {
		return []*ops.Value{s.Fail(op, err)}
	}
	if states == nil {
		states = zeroStates(s, cell, x)
	}
	if err := checkStates(cell, x, states, constants); err != nil {
		return []*ops.Value{s.Fail(op, err)}
	}
	out, next := cell.Begin(s, &CellCall{Input: x, States: states, Constants: constants})(s, x, states)
	return append([]*ops.Value{out}, next...)
}

// checkStates returns an error if a cell can't begin with these states and constants.
func checkStates(cell Cell, x *ops.Value, states, constants []*ops.Value) error {
	shapes := cell.StateShapes(x.Shape())
	if _, ok := cell.(OutputShaper); len(shapes) == 0 && !ok {
		return fmt.Errorf("the cell %T has neither a state nor a method OutputShape", cell)
	}
	if len(states) != len(shapes) {
		return fmt.Errorf("got %d states, the cell has %d", len(states), len(shapes))
	}
	for i, v := range states {
		got := v.Fact().Shape
		if got.HasRank() && got.Rank() != len(shapes[i])+1 {
			return fmt.Errorf("state %d has the shape %v, want a batch's dimension and %v", i, got, shapes[i])
		}
		for k, n := range shapes[i] {
			if got.HasRank() && n >= 0 && got.Dim(k+1) >= 0 && got.Dim(k+1) != n {
				return fmt.Errorf("state %d has the shape %v, want a batch's dimension and %v", i, got, shapes[i])
			}
		}
	}
	if _, ok := cell.(ConstantUser); len(constants) > 0 && !ok {
		return fmt.Errorf("got constants, which the cell %T doesn't use", cell)
	}
	return nil
}

// argument returns the values of a call argument in the compute type, nil for none.
func argument(s *ops.Scope, l *base.Layer, c *base.Invocation, name string) ([]*ops.Value, error) {
	var list []*ops.Value
	switch x := c.Args[name].(type) {
	case nil:
		return nil, nil
	case *ops.Value:
		list = []*ops.Value{x}
	case []*ops.Value:
		list = x
	case []*tensor.Tensor:
		for _, t := range x {
			list = append(list, ops.ValueOf(t))
		}
	case []ops.Input:
		for _, v := range x {
			list = append(list, ops.Const(s, v))
		}
	default:
		return nil, fmt.Errorf("the argument %q is a %T, want []*ops.Value", name, x)
	}
	out := make([]*ops.Value, len(list))
	for i, v := range list {
		if v == nil {
			return nil, fmt.Errorf("the argument %q has nil at index %d", name, i)
		}
		out[i] = castTo(s, l, v)
	}
	return out, s.Err()
}

// castTo returns a floating value in the compute type of a layer.
func castTo(s *ops.Scope, l *base.Layer, v *ops.Value) *ops.Value {
	if d := l.DType.Compute(); v.DType() != d && v.DType().IsFloating() && d.IsFloating() {
		return ops.Cast(s, v, d)
	}
	return v
}

// zeroMaker is implemented by cells whose StateShapes may contain -1 even in a call. Its method
// computes the sizes from the value of x, the input of one step. The function zeroStates calls it.
type zeroMaker interface {
	zeroStates(s *ops.Scope, x *ops.Value) []*ops.Value
}

// zeroStates returns states of zeros for the input x of one step.
func zeroStates(s *ops.Scope, cell Cell, x *ops.Value) []*ops.Value {
	if m, ok := cell.(zeroMaker); ok {
		return m.zeroStates(s, x)
	}
	var states []*ops.Value
	for _, shape := range cell.StateShapes(x.Shape()) {
		states = append(states, zerosFor(s, x, shape))
	}
	return states
}

// zerosFor returns zeros of x's type, with x's batch before shape.
func zerosFor(s *ops.Scope, x *ops.Value, shape tensor.Shape) *ops.Value {
	if n := x.Fact().Shape.Dim(0); n >= 0 {
		return ops.Zeros(s, x.DType(), append([]int{n}, shape...)...)
	}
	dims := make([]int32, len(shape))
	for i, n := range shape {
		dims[i] = int32(n)
	}
	batch := ops.StridedSlice(s, ops.Shape(s, x), ops.To(1))
	return s.Emit1("Fill", nil, ops.Concat(s, []ops.Input{batch, dims}, 0), ops.Cast(s, 0, x.DType()))
}

// noise draws the masks of dropout.
type noise struct {
	// Random draws the masks of dropout. It isn't saved. Default: one that differs from
	// run to run, unless the scope has a seed.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// masks draws n masks of x's shape. It returns nil outside of training, and for a rate of 0.
func (r *noise) masks(s *ops.Scope, x *ops.Value, rate float64, n int) []*ops.Value {
	if rate == 0 || !s.Training() {
		return nil
	}
	r.once.Do(func() {
		if r.Random == nil {
			var seed uint64
			base.WithRand(s, func(g *rand.Rand) { seed = g.Uint64() })
			r.Random = ops.NewRandom(seed)
		}
	})
	ones := ops.OnesLike(s, x)
	masks := make([]*ops.Value, n)
	for i := range masks {
		if masks[i] = ops.ZerosLike(s, x); rate < 1 {
			masks[i] = ops.Dropout(s, r.Random, ones, rate)
		}
	}
	return masks
}

// product returns x·kernel, over the last dimension of x. columns is the number of the kernel's
// columns. One mask multiplies x. With n masks the kernel's columns are n equal parts, and part i is
// multiplied by x times mask i.
func product(s *ops.Scope, x *ops.Value, masks []*ops.Value, kernel ops.Input, columns int) *ops.Value {
	times := func(x *ops.Value, kernel ops.Input, columns int) *ops.Value {
		rows, restore := flatten(s, x)
		return restore(ops.MatMul(s, rows, kernel), columns)
	}
	switch len(masks) {
	case 0:
		return times(x, kernel, columns)
	case 1:
		return times(ops.Mul(s, x, masks[0]), kernel, columns)
	}
	parts := ops.Split(s, kernel, len(masks), 1)
	for i := range parts {
		parts[i] = times(ops.Mul(s, x, masks[i]), parts[i], columns/len(masks))
	}
	return ops.Concat(s, parts, -1)
}

// addBias returns x with a bias added to its last dimension, of size columns. A nil bias adds
// nothing.
func addBias(s *ops.Scope, x *ops.Value, bias ops.Input, columns int) *ops.Value {
	if bias == nil {
		return x
	}
	rows, restore := flatten(s, x)
	return restore(ops.BiasAdd(s, rows, bias), columns)
}

// fraction limits a rate of dropout to [0, 1], as tf_keras does.
func fraction(rate *float64) { *rate = min(1, max(0, *rate)) }
