package base

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
)

// ShapeOf returns the shape of the tensor that a value represents, as [ops.Value.Shape] does:
// of a sparse or a ragged tensor that of the whole tensor, with -1 for sizes that differ or
// aren't known.
func ShapeOf(v *ops.Value) tensor.Shape {
	if x, ok := SparseOf(v); ok {
		if shape, known, err := x.Shape.Fact().AsShape(); err == nil && known && shape.HasRank() {
			return shape.Anonymous().Dims()
		}
		shape := x.Indices.Fact().Shape
		if !shape.HasRank() || shape.Dim(-1) < 0 {
			return nil
		}
		return unknown(shape.Dim(-1))
	}
	if x, ok := RaggedOf(v); ok {
		inner := x.Values.Fact().Shape
		if !inner.HasRank() || inner.Rank() == 0 {
			return nil
		}
		shape := unknown(1 + len(x.Splits))
		if n := x.Splits[0].Fact().Shape; n.HasRank() && n.Dim(0) > 0 {
			shape[0] = n.Dim(0) - 1
		}
		return append(shape, x.Values.Shape()[1:]...)
	}
	return v.Shape()
}

// unknown returns a shape of a rank whose sizes aren't known.
func unknown(rank int) tensor.Shape {
	shape := make(tensor.Shape, rank)
	for i := range shape {
		shape[i] = -1
	}
	return shape
}

// FormOf returns "sparse" or "ragged" for a value that represents such a tensor, else "".
func FormOf(v *ops.Value) string {
	if _, ok := SparseOf(v); ok {
		return "sparse"
	}
	if _, ok := RaggedOf(v); ok {
		return "ragged"
	}
	return ""
}

// RaggedRank returns the number of ragged dimensions of a tensor, tf.RaggedTensor's ragged_rank:
// the index of the last size of shape that isn't known. It is 0 if all sizes after the batch's are
// known.
func RaggedRank(shape tensor.Shape) int {
	for i := len(shape) - 1; i > 0; i-- {
		if shape[i] < 0 {
			return i
		}
	}
	return 0
}

// FormInput adds an input of tensors of a form to the model, as [Graph.Input] does: "sparse" or
// "ragged".
func (g *Graph) FormInput(layer Callable, form string, d tensor.DType, shape tensor.Shape) (*ops.Value, error) {
	g.name(layer)
	v, err := formArg(g.scope, g.trace, form, d, shape)
	if err != nil {
		return nil, err
	}
	g.add(&Node{Layer: layer, Outputs: []*ops.Value{v}})
	return v, nil
}

// formArg adds the arguments of a trace that make a tensor of a form.
func formArg(s *ops.Scope, trace *ops.Trace, form string, d tensor.DType, shape tensor.Shape) (*ops.Value, error) {
	arg := func(d tensor.DType, dims ...int) *ops.Value {
		v, err := trace.Arg("", graph.Fact{DType: d, Shape: graph.ShapeOf(dims...)})
		if err != nil {
			return s.Fail("Input", err)
		}
		return v
	}
	if len(shape) == 0 {
		return nil, fmt.Errorf("the shape of a %s input isn't known", form)
	}
	var v *ops.Value
	if form == "sparse" {
		values, indices, given := arg(d, -1), arg(tensor.Int64, -1, len(shape)), arg(tensor.Int64, len(shape))
		dims := make([]ops.Input, len(shape)) // those that are known, for the layers that are built
		for i, n := range shape {
			if dims[i] = int64(n); n < 0 {
				dims[i] = ops.StridedSlice(s, given, ops.At(i))
			}
		}
		v = Sparse{indices, values, ops.Stack(s, dims, 0)}.Value(s)
		return v, s.Err()
	}
	rank := RaggedRank(shape)
	if rank == 0 {
		return nil, fmt.Errorf("the shape %v has no size that differs from row to row; write -1 for it", shape)
	}
	values := arg(d, append(tensor.Shape{-1}, shape[rank+1:]...)...)
	splits := make([]*ops.Value, rank)
	for i := range splits {
		n := -1
		if i == 0 && shape[0] >= 0 {
			n = shape[0] + 1
		}
		splits[i] = arg(tensor.Int64, n)
	}
	v = Ragged{values, splits}.Value(s)
	return v, s.Err()
}

// elementMapper is implemented by layers that compute each element of a tensor, or each
// innermost row, by itself. The elements of ragged tensors are such tensors, with one
// dimension in place of the batch and the ragged ones.
type elementMapper interface {
	// MapsElements returns the parts of a tensor that the layer processes independently:
	// "elements" or "rows", or an error.
	MapsElements() (unit string, err error)
}

// raggedSequencer is implemented by layers that go over the steps of sequences. RaggedSteps
// returns how many of the first outputs have a step for each of the input, and whether these
// begin with the last step, or an error if the layer's settings allow no ragged input.
type raggedSequencer interface {
	RaggedSteps() (outputs int, backwards bool, err error)
}

// computeForms calls the layer's own method. For a ragged first input it passes dense tensors to
// it, and makes the results ragged again, if the layer declares how. A layer that has TakesRagged
// alone gets the ragged values.
func computeForms(s *ops.Scope, self any, c *Invocation) []*ops.Value {
	if len(c.Inputs) == 0 || FormOf(c.Inputs[0]) != "ragged" {
		return computed(s, self, c)
	}
	switch l := self.(type) {
	case elementMapper:
		return mapRagged(s, l, self, c)
	case raggedSequencer:
		return overRagged(s, l, self, c)
	}
	return computed(s, self, c)
}

// mapRagged computes the elements of ragged tensors. All inputs must have rows of the same
// lengths; if only the values of a call show that they don't, an Assert fails. The outputs have
// no mask.
func mapRagged(s *ops.Scope, l elementMapper, self any, c *Invocation) []*ops.Value {
	fail := func(err error) []*ops.Value { return []*ops.Value{s.Fail(className(self), err)} }
	unit, err := l.MapsElements()
	if err != nil {
		return fail(err)
	}
	first, _ := RaggedOf(c.Inputs[0])
	inner := &Invocation{Args: c.Args, Inputs: make([]*ops.Value, len(c.Inputs)), Masks: make([]*ops.Value, len(c.Inputs))}
	for i, v := range c.Inputs {
		x, ok := RaggedOf(v)
		if !ok || len(x.Splits) != len(first.Splits) {
			return fail(fmt.Errorf("input %d isn't ragged as input 0 is, want tensors with the same rows", i))
		}
		for k := range x.Splits {
			if x.Splits[k] != first.Splits[k] {
				raw.Assert(s, ops.All(s, ops.Equal(s, x.Splits[k], first.Splits[k])), []ops.Input{"the rows of ragged tensors differ in their lengths"}, nil)
			}
		}
		if rank := x.Values.Fact().Shape.Rank(); unit == "rows" && rank < 2 {
			return fail(fmt.Errorf("the last dimension of the ragged input %d has rows of different lengths, want one size", i))
		}
		inner.Inputs[i] = ops.Identity(s, v)
	}
	out := computed(s, self, inner)
	for i, v := range out {
		if s.Err() == nil {
			out[i] = Ragged{v, first.Splits}.Value(s)
		}
	}
	clear(c.Masks)
	return out
}

// overRagged calls a layer on sequences of ragged tensors as dense ones with a mask, as
// tf_keras's RNN does. x.Values are [steps, features…], the dense tensor [batch, steps,
// features…]. Outputs after the first "steps" ones, such as states, stay dense.
func overRagged(s *ops.Scope, l raggedSequencer, self any, c *Invocation) []*ops.Value {
	fail := func(err error) []*ops.Value { return []*ops.Value{s.Fail(className(self), err)} }
	steps, backwards, err := l.RaggedSteps()
	if err != nil {
		return fail(err)
	}
	x, _ := RaggedOf(c.Inputs[0])
	switch {
	case len(x.Splits) != 1:
		return fail(fmt.Errorf("the input has %d ragged dimensions, want one, of the steps", len(x.Splits)))
	case c.Masks[0] != nil:
		return fail(fmt.Errorf("the ragged input has a mask; leave it out, since ragged rows have no padding"))
	}
	shape := []int64{-1, -1}
	for _, n := range x.Values.Shape()[1:] {
		shape = append(shape, int64(n))
	}
	dense := x.ToDense(s, shape)
	places := ops.Cast(s, ops.Range(s, ops.Const(s, int32(0)), ops.StridedSlice(s, ops.Shape(s, dense), ops.At(1)), int32(1)), tensor.Int64)
	mask := ops.Less(s, ops.ExpandDims(s, places, 0), ops.ExpandDims(s, x.Lengths(s), 1))
	inner := &Invocation{Args: c.Args, Inputs: append([]*ops.Value{dense}, c.Inputs[1:]...), Masks: append([]*ops.Value{mask}, c.Masks[1:]...)}
	out := computed(s, self, inner)
	there := mask
	if backwards {
		there = ops.Reverse(s, mask, 1)
	}
	for i := range min(steps, len(out)) {
		if s.Err() == nil {
			out[i] = Ragged{ops.GatherND(s, out[i], ops.WhereIndices(s, there)), x.Splits}.Value(s)
		}
	}
	return out
}

// Lengths returns the lengths of the outermost rows, int64.
func (x Ragged) Lengths(s *ops.Scope) *ops.Value {
	return ops.Sub(s, ops.StridedSlice(s, x.Splits[0], ops.From(1)), ops.StridedSlice(s, x.Splits[0], ops.To(-1)))
}

// Rows returns the numbers of the innermost rows that contain the elements, int32.
func (x Ragged) Rows(s *ops.Scope) *ops.Value {
	ends := ops.StridedSlice(s, x.Splits[len(x.Splits)-1], ops.From(1))
	places := ops.Range(s, ops.Const(s, int32(0)), ops.StridedSlice(s, ops.Shape(s, x.Values), ops.At(0)), int32(1))
	return ops.Squeeze(s, raw.UpperBound(s, ops.ExpandDims(s, ends, 0), ops.ExpandDims(s, ops.Cast(s, places, tensor.Int64), 0), nil), 0)
}
