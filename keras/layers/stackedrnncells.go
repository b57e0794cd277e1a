package layers

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// StackedRNNCells is a cell made of cells: the input of each is the output of the one
// before. Its states are those of all cells, in their order.
type StackedRNNCells struct {
	base.Layer
	// Cells are the cells. At least one is required.
	Cells []Cell
}

// CompleteLayer checks that there are cells.
func (c *StackedRNNCells) CompleteLayer() error {
	if len(c.Cells) == 0 {
		return errors.New("there are no cells")
	}
	for _, cell := range c.Cells {
		if cell == nil {
			return errors.New("a cell is nil")
		}
		if _, ok := cell.(OutputShaper); !ok && len(cell.StateShapes(nil)) == 0 {
			return fmt.Errorf("the cell %T has neither a state nor a method OutputShape", cell)
		}
	}
	return nil
}

// BuildLayer builds the cells.
func (c *StackedRNNCells) BuildLayer(s *ops.Scope, in base.Shapes) error {
	shape := in[0]
	if shape == nil {
		return errors.New("the rank of the input isn't known")
	}
	for _, cell := range c.Cells {
		if err := base.Build(s, cell, shape); err != nil {
			return err
		}
		shape = append(tensor.Shape{shape[0]}, outputShape(cell, shape)...)
	}
	return nil
}

// outputShape returns the shape of a cell's output without the batch's dimension.
func outputShape(cell Cell, in tensor.Shape) tensor.Shape {
	if o, ok := cell.(OutputShaper); ok {
		return o.OutputShape(in)
	}
	if shapes := cell.StateShapes(in); len(shapes) > 0 {
		return shapes[0]
	}
	return nil
}

// StateShapes returns the shapes of the states of all cells.
func (c *StackedRNNCells) StateShapes(in tensor.Shape) []tensor.Shape {
	var all []tensor.Shape
	for _, cell := range c.Cells {
		all = append(all, cell.StateShapes(in)...)
		in = c.after(cell, in)
	}
	return all
}

// after returns the shape of a cell's output with the batch's dimension of in.
func (c *StackedRNNCells) after(cell Cell, in tensor.Shape) tensor.Shape {
	batch := -1
	if len(in) > 0 {
		batch = in[0]
	}
	return append(tensor.Shape{batch}, outputShape(cell, in)...)
}

// OutputShape returns the shape of the last cell's output.
func (c *StackedRNNCells) OutputShape(in tensor.Shape) tensor.Shape {
	for _, cell := range c.Cells {
		in = c.after(cell, in)
	}
	return in[1:]
}

// UsesConstants marks a cell that uses constants: it passes them to its cells.
func (c *StackedRNNCells) UsesConstants() {}

// Call returns the output of one step from states of zeros.
func (c *StackedRNNCells) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// ComputeAll computes one step from the states in the argument "states", by default zeros.
// It returns the output and the new states.
func (c *StackedRNNCells) ComputeAll(s *ops.Scope, i *base.Invocation) []*ops.Value {
	return stepOnce(s, c, i)
}

// Begin returns the function that computes one step of all cells.
func (c *StackedRNNCells) Begin(s *ops.Scope, call *CellCall) Step {
	return c.join(s, call, func(first Cell, call *CellCall) Step { return first.Begin(s, call) })
}

// project computes the part of the first cell that can be computed for all steps
// at once.
func (c *StackedRNNCells) project(s *ops.Scope, call *CellCall, xs *ops.Value) (*ops.Value, Step) {
	step := c.join(s, call, func(first Cell, call *CellCall) (step Step) {
		p, ok := first.(projector)
		if !ok {
			return first.Begin(s, call)
		}
		xs, step = p.project(s, call, castTo(s, first.AsLayer(), xs))
		return step
	})
	return xs, step
}

// join begins all cells, the first one by a function, and returns the step of all.
func (c *StackedRNNCells) join(s *ops.Scope, call *CellCall, begin func(first Cell, call *CellCall) Step) Step {
	steps := make([]Step, len(c.Cells))
	counts := make([]int, len(c.Cells))
	x, states := call.Input, call.States
	for i, cell := range c.Cells {
		x = castTo(s, cell.AsLayer(), x)
		n := len(cell.StateShapes(x.Shape()))
		one := &CellCall{Input: x, States: states[:n]}
		if _, ok := cell.(ConstantUser); ok {
			one.Constants = call.Constants
		}
		if counts[i] = n; i == 0 {
			steps[i] = begin(cell, one)
		} else {
			steps[i] = cell.Begin(s, one)
		}
		x, states = zerosFor(s, x, outputShape(cell, x.Shape())), states[n:]
		if s.Err() != nil {
			return nil
		}
	}
	return func(s *ops.Scope, x *ops.Value, states []*ops.Value) (*ops.Value, []*ops.Value) {
		var all []*ops.Value
		for i, step := range steps {
			var next []*ops.Value
			x = castTo(s, c.Cells[i].AsLayer(), x)
			if x, next = step(s, x, states[:counts[i]]); s.Err() != nil {
				return nil, nil
			}
			states, all = states[counts[i]:], append(all, next...)
		}
		return x, all
	}
}
