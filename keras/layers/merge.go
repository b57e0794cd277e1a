package layers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// merge computes one output of all inputs of a call, f of two at a time from the first, as tf_keras's
// _Merge. Inputs broadcast. An input with fewer dimensions gets dimensions of size 1 after the batch
// dimension. Add, Multiply, Maximum and the other merging layers use it.
func merge(s *ops.Scope, op string, c *base.Invocation, f func(s *ops.Scope, x, y ops.Input) *ops.Value) *ops.Value {
	if err := c.CheckArgs(); err != nil {
		return s.Fail(op, err)
	}
	inputs, err := sameRank(s, c.Inputs)
	if err != nil {
		return s.Fail(op, err)
	}
	y := inputs[0]
	for _, x := range inputs[1:] {
		y = f(s, y, x)
	}
	return y
}

// sameRank expands all values to the largest rank among them.
func sameRank(s *ops.Scope, xs []*ops.Value) ([]*ops.Value, error) {
	if len(xs) == 0 {
		return nil, fmt.Errorf("got no input, want one or more")
	}
	rank, same := 0, true
	for _, x := range xs {
		in := x.Fact().Shape
		if !in.HasRank() || in.Rank() == 0 {
			return nil, fmt.Errorf("an input has the shape %v, want a known rank and a batch's dimension", in)
		}
		rank, same = max(rank, in.Rank()), same && in.Rank() == xs[0].Fact().Shape.Rank()
	}
	if same {
		return xs, nil
	}
	out := make([]*ops.Value, len(xs))
	for i, x := range xs {
		out[i] = x
		for range rank - x.Fact().Shape.Rank() {
			out[i] = ops.ExpandDims(s, out[i], 1)
		}
	}
	return out, nil
}

// allMasks returns the mask of time steps that all inputs use, nil if none has a mask.
func allMasks(s *ops.Scope, c *base.Invocation) []*ops.Value {
	var all *ops.Value
	for _, m := range c.Masks {
		switch {
		case m == nil:
		case all == nil:
			all = m
		default:
			all = ops.And(s, all, m)
		}
	}
	return []*ops.Value{all}
}
