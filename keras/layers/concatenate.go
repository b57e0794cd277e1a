package layers

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
)

// Concatenate joins its inputs along a dimension. All other sizes must be equal.
type Concatenate struct {
	base.Layer
	// Axis is the dimension, counted from the end if it is negative. Default: -1.
	Axis *int `keras:",default=-1"`
}

// TakesSparse marks a layer that takes sparse inputs.
func (l *Concatenate) TakesSparse() {}

// MapsElements allows ragged inputs: innermost rows are joined.
func (l *Concatenate) MapsElements() (string, error) {
	if *l.Axis != -1 {
		return "", fmt.Errorf("the inputs are ragged and Axis is %d, want -1", *l.Axis)
	}
	return "rows", nil
}

// Call joins the inputs xs, a []*ops.Value.
func (l *Concatenate) Call(s *ops.Scope, xs ops.Input) *ops.Value { return l.Run(s, l, xs, nil) }

// ComputeAll joins the inputs.
func (l *Concatenate) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	if err := c.CheckArgs(); err != nil || len(c.Inputs) == 0 {
		if err == nil {
			err = fmt.Errorf("got no input, want one or more")
		}
		return []*ops.Value{s.Fail("Concatenate", err)}
	}
	if base.FormOf(c.Inputs[0]) == "sparse" {
		return []*ops.Value{l.sparse(s, c.Inputs)}
	}
	return []*ops.Value{ops.Concat(s, c.Inputs, *l.Axis)}
}

// sparse joins sparse tensors.
func (l *Concatenate) sparse(s *ops.Scope, xs []*ops.Value) *ops.Value {
	var indices, values, shapes []ops.Input
	for i, x := range xs {
		t, ok := base.SparseOf(x)
		if !ok {
			return s.Fail("Concatenate", fmt.Errorf("input %d isn't sparse as input 0 is", i))
		}
		indices, values, shapes = append(indices, t.Indices), append(values, t.Values), append(shapes, t.Shape)
	}
	i, v, shape := raw.SparseConcat(s, indices, values, shapes, int64(*l.Axis))
	return base.Sparse{Indices: i, Values: v, Shape: shape}.Value(s)
}

// ComputeMask joins the masks. An input without one has a mask that ignores nothing. The
// result is nil if no input has one.
func (l *Concatenate) ComputeMask(s *ops.Scope, c *base.Invocation, _ []*ops.Value) []*ops.Value {
	if !slices.ContainsFunc(c.Masks, func(m *ops.Value) bool { return m != nil }) {
		return nil
	}
	masks := make([]*ops.Value, len(c.Inputs))
	for i, x := range c.Inputs {
		m := c.Masks[i]
		switch {
		case m == nil:
			masks[i] = ops.Cast(s, ops.OnesLike(s, x), tensor.Bool)
		case m.Fact().Shape.Rank() < x.Fact().Shape.Rank():
			masks[i] = ops.ExpandDims(s, m, -1)
		default:
			masks[i] = m
		}
	}
	return []*ops.Value{ops.All(s, ops.Concat(s, masks, *l.Axis), -1)}
}
