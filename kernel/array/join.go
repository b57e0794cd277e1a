package array

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/parts"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of Concat, ConcatV2, ParallelConcat, Pack, Unpack, Split, SplitV
// and Tile. An axis below 0 counts from the last dimension.

// sameTypes checks that inputs 0 to n-1 are tensors of one type.
func sameTypes(c *engine.Call, n int) error {
	if n < 1 {
		return fmt.Errorf("takes at least one input")
	}
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	for i := 1; i < n; i++ {
		if a, b := c.In(0).DType(), c.In(i).DType(); a != b {
			return fmt.Errorf("input %d is %v, the first %v", i, b, a)
		}
	}
	return nil
}

// concat joins tensors; the axis is the last input.
func concat(c *engine.Call) error {
	n := c.NumIn() - 1
	if err := sameTypes(c, n); err != nil {
		return err
	}
	return joinAlong(c, n, 0, n)
}

// concatV1 joins tensors; the axis is the first input.
func concatV1(c *engine.Call) error {
	n := c.NumIn() - 1
	if n < 1 {
		return fmt.Errorf("takes an axis and tensors, %d inputs were given", n+1)
	}
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	for k := 2; k <= n; k++ {
		if a, b := c.In(1).DType(), c.In(k).DType(); a != b {
			return fmt.Errorf("input %d is %v, the first tensor %v", k, b, a)
		}
	}
	return joinAlong(c, 0, 1, n)
}

// joinAlong joins n inputs from the given one on along the axis in input axisAt.
func joinAlong(c *engine.Call, axisAt, from, n int) error {
	i, err := shapes.Int(c.In(axisAt), "the axis")
	if err != nil {
		return err
	}
	first := c.In(from)
	axis, err := shape.Axis(i, len(first.Shape()))
	if err != nil {
		return err
	}
	var room shapes.Room[int]
	dims, err := shape.Concat(room[:0], n, func(k int) tensor.Shape { return c.In(from + k).Shape() }, axis)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, first.DType(), dims)
	if err != nil {
		return err
	}
	// Each input is a matrix, whose rows are copied to parts of the result's
	// rows.
	rows, inner := shapes.Count(dims[:axis]), shapes.Count(dims[axis+1:])
	width := dims[axis] * inner
	// A copy of a few small parts is faster without workers.
	few := rows <= 8 && !c.Large(rows*width, 0.25)
	at := 0
	for k := range n {
		x := c.In(from + k)
		n := x.Shape()[axis] * inner
		if few || rows <= 8 && !c.Large(rows*n, 0.25) {
			for i := range rows {
				parts.Copy(out, x, i*width+at, i*n, n)
			}
		} else {
			move(c, out, x, []int{rows, n}, view{at, []int{width, 1}}, view{strides: []int{n, 1}})
		}
		at += n
	}
	return nil
}

// parallelConcat joins tensors of one row each.
func parallelConcat(c *engine.Call) error {
	if err := sameTypes(c, c.NumIn()); err != nil {
		return err
	}
	want, _ := c.Attrs().Shape("shape")
	dims, ok := want.Tensor()
	if !ok || len(dims) == 0 || dims[0] != c.NumIn() {
		return fmt.Errorf("the attribute shape is %v, of %d rows", want, c.NumIn())
	}
	row := append(tensor.Shape{1}, dims[1:]...)
	out, err := c.Alloc(0, c.In(0).DType(), dims)
	if err != nil {
		return err
	}
	n := shapes.Count(row)
	for k := range c.NumIn() {
		if s := c.In(k).Shape(); !s.Equal(row) {
			return fmt.Errorf("input %d has shape %v, not %v", k, s, row)
		}
		parts.Copy(out, c.In(k), k*n, 0, n)
	}
	return nil
}

// pack stacks tensors of one shape along a new axis.
func pack(c *engine.Call) error {
	n := c.NumIn()
	if err := sameTypes(c, n); err != nil {
		return err
	}
	first := c.In(0).Shape()
	for k := 1; k < n; k++ {
		if s := c.In(k).Shape(); !s.Equal(first) {
			return fmt.Errorf("input %d has shape %v, the first %v", k, s, first)
		}
	}
	dims, axis, err := shape.Pack(first, n, c.Attrs().Int("axis", 0))
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, c.In(0).DType(), dims)
	if err != nil {
		return err
	}
	all := shapes.Strides(dims)
	strides := append(append([]int{}, all[:axis]...), all[axis+1:]...)
	for k := range n {
		move(c, out, c.In(k), first, view{k * all[axis], strides}, view{strides: shapes.Strides(first)})
	}
	return nil
}

// unpack returns the parts of a tensor along an axis, without that axis.
func unpack(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	rest, axis, err := shape.Unpack(s, c.Attrs().Int("num", -1), c.Attrs().Int("axis", 0))
	if err != nil {
		return err
	}
	all := shapes.Strides(s)
	strides := append(append([]int{}, all[:axis]...), all[axis+1:]...)
	for k := range s[axis] {
		out, err := c.Alloc(k, x.DType(), rest)
		if err != nil {
			return err
		}
		move(c, out, x, rest, view{strides: shapes.Strides(rest)}, view{k * all[axis], strides})
	}
	return nil
}

// split cuts a tensor into num_split parts of one size.
func split(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	i, err := shapes.Int(c.In(0), "the axis")
	if err != nil {
		return err
	}
	s := c.In(1).Shape()
	axis, err := shape.Axis(i, len(s))
	if err != nil {
		return err
	}
	n := c.Attrs().Int("num_split", 0)
	part, err := shape.Split(s, axis, n)
	if err != nil {
		return err
	}
	var room shapes.Room[int]
	sizes := room[:0]
	for range n {
		sizes = append(sizes, part)
	}
	return cut(c, c.In(1), sizes, axis)
}

// splitV cuts a tensor into parts of the sizes in input 1. One of them may be
// -1, for the rest.
func splitV(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	i, err := shapes.Int(c.In(2), "the axis")
	if err != nil {
		return err
	}
	s := c.In(0).Shape()
	axis, err := shape.Axis(i, len(s))
	if err != nil {
		return err
	}
	sizes, err := shapes.Dims(c.In(1), "the list of sizes", -1)
	if err != nil {
		return err
	}
	if n := int(c.Attrs().Int("num_split", int64(len(sizes)))); len(sizes) != n {
		return fmt.Errorf("there are %d sizes for %d outputs", len(sizes), n)
	}
	if sizes, err = shape.SplitV(sizes, axis, s[axis]); err != nil {
		return err
	}
	return cut(c, c.In(0), sizes, axis)
}

// cut sets the outputs to parts of x along an axis. sizes are the numbers of
// elements of the outputs along it.
func cut(c *engine.Call, x *tensor.Tensor, sizes []int, axis int) error {
	var room shapes.Room[int]
	s := x.Shape()
	dims, at := append(room[:0], s...), 0
	inner, outer := shapes.Count(s[axis+1:]), shapes.Count(s[:axis])
	for k, n := range sizes {
		dims[axis] = n
		out, err := c.Alloc(k, x.DType(), dims)
		if err != nil {
			return err
		}
		if size := n * inner; !c.Large(outer*size, 0.25) {
			for i := range outer {
				parts.Copy(out, x, i*size, i*s[axis]*inner+at, size)
			}
		} else {
			move(c, out, x, []int{outer, size}, view{strides: []int{size, 1}}, view{at, []int{s[axis] * inner, 1}})
		}
		at += n * inner
	}
	return nil
}

// tile repeats a tensor along each axis as often as input 1 contains for it.
func tile(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	times, err := shapes.Dims(c.In(1), "the list of multiples", 0)
	if err != nil {
		return err
	}
	dims, err := shape.Tile(s, times)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, x.DType(), dims)
	if err != nil {
		return err
	}
	// Each axis becomes two: one for the repeats, with stride 0 in x, and x's
	// axis.
	block := make([]int, 0, 2*len(s))
	to, from := view{}, view{}
	os, is := shapes.Strides(dims), shapes.Strides(s)
	for i := range s {
		block = append(block, times[i], s[i])
		to.strides = append(to.strides, s[i]*os[i], os[i])
		from.strides = append(from.strides, 0, is[i])
	}
	move(c, out, x, block, to, from)
	return nil
}
