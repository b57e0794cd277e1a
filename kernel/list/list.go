// Package list implements the kernels of containers of values: lists of tensors,
// optionals, tensor maps, tensor arrays and stacks.
//
// Lists and optionals are values: an op that changes one returns a changed
// copy. It works in place only if the value has no other holder, as in a loop
// that sets one element a round. Tensor arrays and stacks are objects that one
// call of a model changes.
package list

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/variant"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	return append(append(append(append([]engine.Kernel{
		{Op: "EmptyTensorList", Run: empty},
		{Op: "TensorListReserve", Run: reserve},
		{Op: "TensorListFromTensor", Run: fromTensor},
		{Op: "TensorListSplit", Run: splitTensor},
		{Op: "TensorListScatter", Run: scatter},
		{Op: "TensorListScatterV2", Run: scatter},
		{Op: "TensorListScatterIntoExistingList", Run: scatterInto},
		{Op: "TensorListStack", Run: stack},
		{Op: "TensorListGather", Run: gather},
		{Op: "TensorListConcat", Run: concat},
		{Op: "TensorListConcatV2", Run: concat},
		{Op: "TensorListConcatLists", Run: concatLists},
		{Op: "TensorListGetItem", Run: getItem},
		{Op: "TensorListSetItem", Run: setItem},
		{Op: "TensorListPushBack", Run: pushBack},
		{Op: "TensorListPushBackBatch", Run: pushBackBatch},
		{Op: "TensorListPopBack", Run: popBack},
		{Op: "TensorListLength", Run: length},
		{Op: "TensorListResize", Run: resize},
		{Op: "TensorListElementShape", Run: elementShape},
	}, append(optionals, composites...)...), arrays...), stacks...), tensorMaps...)
}

// need checks the number of inputs and that input 0 is a list.
func need(c *engine.Call, n int) (*variant.List, error) {
	if c.NumIn() != n {
		return nil, fmt.Errorf("takes %d inputs, %d were given", n, c.NumIn())
	}
	l, err := engine.Object[*variant.List](c, 0)
	if err != nil {
		return nil, err
	}
	if d := c.Attrs().Type("element_dtype", l.DType); d != l.DType {
		return nil, fmt.Errorf("the list holds %v, not %v", l.DType, d)
	}
	return l, nil
}

// shapeIn returns the shape that input i describes: a vector with -1 for
// unknown sizes, or the scalar -1 for any shape.
func shapeIn(c *engine.Call, i int) (graph.PartialShape, error) {
	t := c.In(i)
	if t == nil || t.DType() != tensor.Int32 && t.DType() != tensor.Int64 {
		return graph.PartialShape{}, fmt.Errorf("input %d, the elements' shape, is no integer tensor", i)
	}
	v, err := shapes.AllInts(t, "the elements' shape")
	if err != nil {
		return graph.PartialShape{}, err
	}
	if len(t.Shape()) == 0 {
		if v[0] != -1 {
			return graph.PartialShape{}, fmt.Errorf("the elements' shape is the scalar %d; only -1 may be a scalar", v[0])
		}
		return graph.UnknownShape, nil
	}
	dims := make(tensor.Shape, len(v))
	for i, n := range v {
		if n < -1 || int64(int(n)) != n {
			return graph.PartialShape{}, fmt.Errorf("the elements' shape has the size %d", n)
		}
		dims[i] = int(n)
	}
	return graph.ShapeOf(dims...), nil
}

// intIn returns the integer in input i.
func intIn(c *engine.Call, i int, what string) (int, error) {
	if c.In(i) == nil {
		return 0, fmt.Errorf("%s is no tensor", what)
	}
	n, err := shapes.Int(c.In(i), what)
	if err == nil && int64(int(n)) != n {
		err = fmt.Errorf("%s is %d", what, n)
	}
	return int(n), err
}

// maxItems bounds the length of a list that is made from a number only. The limit is Cairn's,
// not TensorFlow's.
const maxItems = 1 << 26

// items returns n elements that are not set.
func items(c *engine.Call, n int) ([]engine.Value, error) {
	if n < 0 || n > maxItems {
		return nil, fmt.Errorf("a list can't have %d elements", n)
	}
	return c.Refs().Values(n), nil
}

// empty makes a list without elements; input 1 is the largest number of
// elements, 0 or less for no limit.
func empty(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	s, err := shapeIn(c, 0)
	if err != nil {
		return err
	}
	most, err := intIn(c, 1, "the largest number of elements")
	if err != nil {
		return err
	}
	c.SetObject(0, &variant.List{DType: c.Attrs().Type("element_dtype", tensor.Invalid), Shape: s, Max: most})
	return nil
}

// reserve makes a list of elements that aren't set.
func reserve(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	s, err := shapeIn(c, 0)
	if err != nil {
		return err
	}
	n, err := intIn(c, 1, "the number of elements")
	if err != nil {
		return err
	}
	vs, err := items(c, n)
	if err != nil {
		return err
	}
	c.SetObject(0, &variant.List{DType: c.Attrs().Type("element_dtype", tensor.Invalid), Shape: s, Items: vs})
	return nil
}

// fromTensor makes a list of the rows of a tensor, without copying them.
func fromTensor(c *engine.Call) error {
	if h, ok := c.Input(0).Object.(*engine.Handles); ok && c.NumIn() == 2 && len(h.Shape) > 0 {
		row := h.Shape[1:]
		l := &variant.List{DType: tensor.Variant, Shape: graph.Whole(row)}
		for size, i := shapes.Count(row), 0; i < h.Shape[0]; i++ {
			o := h.Items[i*size : (i+1)*size : (i+1)*size]
			if len(row) == 0 {
				l.Items = append(l.Items, engine.HandleOf(o[0]))
			} else {
				l.Items = append(l.Items, engine.HandleOf(&engine.Handles{Shape: row, Items: o}))
			}
		}
		c.SetObject(0, l)
		return nil
	}
	if err := c.Need(2); err != nil {
		return err
	}
	s, err := shapeIn(c, 1)
	if err != nil {
		return err
	}
	t := c.In(0)
	if len(t.Shape()) == 0 {
		return fmt.Errorf("takes a tensor of at least one dimension, to make a list of its rows")
	}
	if !s.Accepts(t.Shape()[1:]) {
		return fmt.Errorf("the rows have shape %v, the elements %v", t.Shape()[1:], s)
	}
	l := &variant.List{DType: t.DType(), Shape: s, Items: c.Refs().Values(t.Shape()[0])}
	if err := c.Refs().Rows(0, l.Items); err != nil {
		return err
	}
	c.SetObject(0, l)
	return nil
}

// splitTensor makes a list of parts of a tensor, of the lengths in input 2.
func splitTensor(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	s, err := shapeIn(c, 1)
	if err != nil {
		return err
	}
	lengths, err := shapes.Ints(c.In(2), "the lengths")
	if err != nil {
		return err
	}
	t := c.In(0)
	ts := t.Shape()
	if len(ts) == 0 {
		return fmt.Errorf("takes a tensor of at least one dimension")
	}
	l := &variant.List{DType: t.DType(), Shape: s, Items: c.Refs().Values(len(lengths))[:0]}
	size, at := shapes.Count(ts[1:]), 0
	for i, n := range lengths {
		if err := variant.Ended(c, i); err != nil {
			return err
		}
		if n < 0 || n > int64(ts[0]-at) {
			return fmt.Errorf("parts of lengths %v don't make up the first size %d", lengths, ts[0])
		}
		part := append(tensor.Shape{int(n)}, ts[1:]...)
		if !s.Accepts(part) {
			return fmt.Errorf("a part has shape %v, the elements %v", part, s)
		}
		v, err := c.Refs().View(0, at*size, int(n)*size, part)
		if err != nil {
			return err
		}
		l.Items = append(l.Items, v)
		at += int(n)
	}
	if at != ts[0] {
		return fmt.Errorf("parts of lengths %v don't make up the first size %d", lengths, ts[0])
	}
	c.SetObject(0, l)
	return nil
}

func length(c *engine.Call) error {
	l, err := need(c, 1)
	if err == nil {
		c.Set(0, tensor.Scalar(int32(len(l.Items))))
	}
	return err
}

// elementShape returns the list's shape of elements; -1 is an unknown size, the
// scalar -1 an unknown rank.
func elementShape(c *engine.Call) error {
	l, err := need(c, 1)
	if err != nil {
		return err
	}
	var dims []int64
	for _, n := range l.Shape.Dims() {
		dims = append(dims, int64(max(n, -1)))
	}
	if !l.Shape.HasRank() {
		if c.Attrs().Type("shape_type", tensor.Int32) == tensor.Int64 {
			c.Set(0, tensor.Scalar(int64(-1)))
		} else {
			c.Set(0, tensor.Scalar(int32(-1)))
		}
		return nil
	}
	if c.Attrs().Type("shape_type", tensor.Int32) == tensor.Int64 {
		c.Set(0, tensor.Vector(dims...))
		return nil
	}
	narrow := make([]int32, len(dims))
	for i, n := range dims {
		narrow[i] = int32(n)
	}
	c.Set(0, tensor.Vector(narrow...))
	return nil
}
