package list

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/variant"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of TensorListStack, TensorListGather, TensorListConcat and
// TensorListConcatV2.

// stack makes one tensor of all elements, which must have one shape.
func stack(c *engine.Call) error {
	l, err := need(c, 2)
	if err != nil {
		return err
	}
	if n := c.Attrs().Int("num_elements", -1); n != -1 && n != int64(len(l.Items)) {
		return fmt.Errorf("the list has %d elements, not %d", len(l.Items), n)
	}
	return join(c, l, l.Items, 1)
}

// gather makes one tensor of the elements at the indices in input 1.
func gather(c *engine.Call) error {
	l, err := need(c, 3)
	if err == nil {
		err = c.NeedTensors(1)
	}
	if err != nil {
		return err
	}
	at, _, err := indices(c, 1)
	if err != nil {
		return err
	}
	c.Fits(len(at), engine.ValueSize)
	picked := make([]engine.Value, len(at))
	for k, i := range at {
		if err := variant.Ended(c, k); err != nil {
			return err
		}
		if int(i) >= len(l.Items) {
			return errIndex(int(i), l)
		}
		picked[k] = l.Items[i]
	}
	return join(c, l, picked, 2)
}

// join sets output 0 to vs, elements of l, stacked along a new first dimension,
// with zeros for those that aren't set. The shape in input shapeAt completes
// that of the elements.
func join(c *engine.Call, l *variant.List, vs []engine.Value, shapeAt int) error {
	want, err := shapeIn(c, shapeAt)
	if err != nil {
		return err
	}
	p, err := (&variant.List{Shape: l.Shape, Items: vs}).ElementShape(want)
	if err == nil && !p.Known() {
		p, err = l.ElementShape(want)
	}
	if err != nil {
		return err
	}
	s, ok := p.Tensor()
	if !ok {
		return fmt.Errorf("no element defines the elements' shape %v fully", p)
	}
	if l.DType == tensor.Variant {
		return joinVariants(c, s, vs)
	}
	out, err := c.Alloc(0, l.DType, append(tensor.Shape{len(vs)}, s...))
	if err != nil {
		return err
	}
	size, looks := shapes.Count(s), looks{ctx: c.Context()}
	for i, v := range vs {
		if err := looks.at(size * max(1, l.DType.Size())); err != nil {
			return err
		}
		if v.Tensor != nil && !v.Tensor.Shape().Equal(s) {
			return fmt.Errorf("element %d has shape %v, others %v", i, v.Tensor.Shape(), s)
		}
		put(out, i*size, size, v.Tensor)
	}
	return nil
}

// put writes t, or zeros if t is nil, to the n elements of dst from at on.
func put(dst *tensor.Tensor, at, n int, t *tensor.Tensor) {
	d := dst.DType()
	switch {
	case !d.Fixed():
		if t != nil {
			copy(dst.Strings()[at:at+n], t.Strings())
		}
	case t == nil:
		clear(dst.Bytes()[at*d.Size() : (at+n)*d.Size()])
	default:
		copy(dst.Bytes()[at*d.Size():(at+n)*d.Size()], t.Bytes())
	}
}

// joinVariants makes one tensor of elements that are variants, or tensors of
// variants. s is the shape of an element if vs is empty.
func joinVariants(c *engine.Call, s tensor.Shape, vs []engine.Value) error {
	h := &engine.Handles{Items: make([]any, 0, len(vs))}
	for i, v := range vs {
		if err := variant.Ended(c, i); err != nil {
			return err
		}
		if v.Object == nil {
			return fmt.Errorf("element %d was not set, and there are no zeros of a variant", i)
		}
		c.Refs().Retain(v)
		shape, objects := tensor.Shape{}, []any{v.Object}
		if many, ok := v.Object.(*engine.Handles); ok {
			shape, objects = many.Shape, many.Items
		}
		if i == 0 {
			s = shape
		}
		if !s.Equal(shape) {
			return fmt.Errorf("element %d has shape %v, others %v", i, shape, s)
		}
		h.Items = append(h.Items, objects...)
	}
	h.Shape = append(tensor.Shape{len(vs)}, s...)
	c.SetObject(0, h)
	return nil
}

// concat joins the elements along their first dimension, which may differ.
// An element that isn't set has the length of the elements' shape, or else, for
// TensorListConcatV2, the one in input 2. Output 1 has the lengths.
func concat(c *engine.Call) error {
	n, shapeAt := 1, -1
	if c.Op() == "TensorListConcatV2" {
		n, shapeAt = 3, 1
	}
	l, err := need(c, n)
	if err != nil {
		return err
	}
	var want graph.PartialShape
	var leading []int64
	if shapeAt > 0 {
		if want, err = shapeIn(c, shapeAt); err != nil {
			return err
		}
		if leading, err = shapes.Ints(c.In(2), "the leading sizes"); err != nil {
			return err
		}
	} else if s, ok := c.Attrs().Shape("element_shape"); ok {
		want = s
	}
	if want, err = l.Shape.Merge(want); err != nil {
		return fmt.Errorf("the elements have shape %v, which doesn't fit", l.Shape)
	}
	if want.HasRank() && want.Rank() == 0 {
		return fmt.Errorf("the elements are scalars, which have no first dimension")
	}
	row := graph.UnknownShape
	if want.HasRank() {
		if row, err = want.From(1, want.Rank()); err != nil {
			return err
		}
	}
	lengths := make([]int64, len(l.Items))
	var total int64
	for i, v := range l.Items {
		if err := variant.Ended(c, i); err != nil {
			return err
		}
		switch {
		case v.Tensor != nil:
			s := v.Tensor.Shape()
			if len(s) == 0 {
				return fmt.Errorf("element %d is a scalar, which has no first dimension", i)
			}
			if row, err = row.Merge(graph.Whole(s[1:])); err != nil {
				return fmt.Errorf("element %d has shape %v, which others don't fit", i, s)
			}
			lengths[i] = int64(s[0])
		case want.HasRank() && want.Dim(0) >= 0:
			lengths[i] = int64(want.Dim(0))
		case i < len(leading) && leading[i] >= 0:
			lengths[i] = leading[i]
		default:
			return fmt.Errorf("element %d was not set, and its length is not known", i)
		}
		total += lengths[i]
		// more rows than any machine has
		if total < 0 || total > 1<<40 {
			return fmt.Errorf("the elements make up a tensor of %d rows", total)
		}
	}
	s, ok := row.Tensor()
	if !ok {
		return fmt.Errorf("no element defines the shape %v of a row fully", row)
	}
	out, err := c.Alloc(0, l.DType, append(tensor.Shape{int(total)}, s...))
	if err != nil {
		return err
	}
	size, at := shapes.Count(s), 0
	looks := looks{ctx: c.Context()}
	for i, v := range l.Items {
		if err := looks.at(int(lengths[i]) * size * max(1, l.DType.Size())); err != nil {
			return err
		}
		put(out, at*size, int(lengths[i])*size, v.Tensor)
		at += int(lengths[i])
	}
	c.Set(1, tensor.Vector(lengths...))
	return nil
}
