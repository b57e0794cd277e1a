package array

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/vec"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

type number interface {
	vec.Number
	tensor.Element
}

// copyRun copies n elements between tensors of one type.
func copyRun(dst, src *tensor.Tensor, to, from, n int) {
	if size := dst.DType().Size(); size > 0 {
		copy(dst.Bytes()[to*size:(to+n)*size], src.Bytes()[from*size:(from+n)*size])
		return
	}
	copy(dst.Strings()[to:to+n], src.Strings()[from:from+n])
}

func gather(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	x, indices := c.In(0), c.In(1)
	s, is := x.Shape(), indices.Shape()
	i, err := shapes.Int(c.In(2), "the axis")
	if err != nil {
		return err
	}
	axis, err := shapes.Axis(i, len(s))
	if err != nil {
		return err
	}
	b := c.Attrs().Int("batch_dims", 0)
	if b < 0 {
		b += int64(len(is))
	}
	batch := int(b)
	if b < 0 || batch > len(is) || batch > axis {
		return fmt.Errorf("batch_dims %d fits neither axis %d nor indices of %d dimensions", b, axis, len(is))
	}
	if !s[:batch].Equal(is[:batch]) {
		return fmt.Errorf("the batch dimensions differ: %v and %v", s[:batch], is[:batch])
	}
	v, err := shapes.AllInts(indices, "the indices")
	if err != nil {
		return err
	}
	for _, k := range v {
		if k < 0 || k >= int64(s[axis]) {
			return fmt.Errorf("index %d is outside of [0, %d)", k, s[axis])
		}
	}
	dims := append(append(s[:axis].Clone(), is[batch:]...), s[axis+1:]...)
	out, err := c.Alloc(0, x.DType(), dims)
	if err != nil || out.Len() == 0 {
		return err
	}
	batches, outer := shapes.Count(s[:batch]), shapes.Count(s[batch:axis])
	n, inner, per := s[axis], shapes.Count(s[axis+1:]), shapes.Count(is[batch:])
	at := 0
	for bt := range batches {
		for o := range outer {
			base := (bt*outer + o) * n * inner
			for _, k := range v[bt*per : (bt+1)*per] {
				copyRun(out, x, at, base+int(k)*inner, inner)
				at += inner
			}
		}
	}
	return nil
}

// places works out where the index vectors in the last dimension of indices
// point to, in a tensor of shape s: offsets of blocks of size inner.
func places(indices *tensor.Tensor, s tensor.Shape) (at []int, inner int, err error) {
	is := indices.Shape()
	if len(is) == 0 {
		return nil, 0, fmt.Errorf("the indices need at least one dimension")
	}
	depth := is[len(is)-1]
	if depth > len(s) {
		return nil, 0, fmt.Errorf("index vectors of %d entries for %d dimensions", depth, len(s))
	}
	v, err := shapes.AllInts(indices, "the indices")
	if err != nil {
		return nil, 0, err
	}
	strides := shapes.Strides(s)
	at = make([]int, shapes.Count(is[:len(is)-1]))
	for i := range at {
		for d := range depth {
			k := v[i*depth+d]
			if k < 0 || k >= int64(s[d]) {
				return nil, 0, fmt.Errorf("index %d of vector %d is outside of dimension %d of size %d", k, i, d, s[d])
			}
			at[i] += int(k) * strides[d]
		}
	}
	return at, shapes.Count(s[depth:]), nil
}

func gatherND(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	x, indices := c.In(0), c.In(1)
	at, inner, err := places(indices, x.Shape())
	if err != nil {
		return err
	}
	is := indices.Shape()
	depth := is[len(is)-1]
	out, err := c.Alloc(0, x.DType(), append(is[:len(is)-1].Clone(), x.Shape()[depth:]...))
	if err != nil {
		return err
	}
	for i, from := range at {
		copyRun(out, x, i*inner, from, inner)
	}
	return nil
}

func scatterND(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	indices, updates := c.In(0), c.In(1)
	s, err := shapes.Dims(c.In(2), "the shape", 0)
	if err != nil {
		return err
	}
	at, inner, err := places(indices, s)
	if err != nil {
		return err
	}
	is := indices.Shape()
	if want := append(is[:len(is)-1].Clone(), s[is[len(is)-1]:]...); !updates.Shape().Equal(want) {
		return fmt.Errorf("the updates have shape %v, not %v", updates.Shape(), want)
	}
	out, err := c.AllocZero(0, updates.DType(), s)
	if err != nil {
		return err
	}
	return adders.with(c, out, updates, func(add func(to, from int)) {
		for i, to := range at {
			for k := range inner {
				add(to+k, i*inner+k)
			}
		}
	})
}

func segmentSum(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	x, ids := c.In(0), c.In(1)
	s, is := x.Shape(), ids.Shape()
	n, err := shapes.Int(c.In(2), "the number of segments")
	if err != nil {
		return err
	}
	if len(is) > len(s) || !s[:len(is)].Equal(is) {
		return fmt.Errorf("the ids' shape %v isn't the beginning of the data's %v", is, s)
	}
	if n < 0 || n != int64(int(n)) {
		return fmt.Errorf("there can't be %d segments", n)
	}
	v, err := shapes.AllInts(ids, "the ids")
	if err != nil {
		return err
	}
	for _, id := range v {
		if id >= n {
			return fmt.Errorf("id %d is outside of [0, %d)", id, n)
		}
	}
	out, err := c.AllocZero(0, x.DType(), append(tensor.Shape{int(n)}, s[len(is):]...))
	if err != nil {
		return err
	}
	inner := shapes.Count(s[len(is):])
	return adders.with(c, out, x, func(add func(to, from int)) {
		for i, id := range v {
			if id < 0 {
				continue
			}
			for k := range inner {
				add(int(id)*inner+k, i*inner+k)
			}
		}
	})
}

func oneHot(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	indices, on, off := c.In(0), c.In(2), c.In(3)
	depth, err := shapes.Int(c.In(1), "the depth")
	if err != nil {
		return err
	}
	if on.DType() != off.DType() || on.Len() != 1 || off.Len() != 1 {
		return fmt.Errorf("the values are %v%v and %v%v, not two scalars of one type", on.DType(), on.Shape(), off.DType(), off.Shape())
	}
	if depth < 0 || depth != int64(int(depth)) {
		return fmt.Errorf("the depth is %d", depth)
	}
	s := indices.Shape()
	axis := len(s)
	if a := c.Attrs().Int("axis", -1); a != -1 {
		if a < 0 || a > int64(len(s)) {
			return fmt.Errorf("the axis is %d, not -1 or in [0, %d]", a, len(s))
		}
		axis = int(a)
	}
	v, err := shapes.AllInts(indices, "the indices")
	if err != nil {
		return err
	}
	dims := append(append(s[:axis].Clone(), int(depth)), s[axis:]...)
	out, err := c.Alloc(0, on.DType(), dims)
	if err != nil {
		return err
	}
	move(c, out, off, dims, view{strides: shapes.Strides(dims)}, view{strides: make([]int, len(dims))})
	inner := shapes.Count(s[axis:])
	for i, k := range v {
		if k >= 0 && k < depth {
			copyRun(out, on, (i/inner*int(depth)+int(k))*inner+i%inner, 0, 1)
		}
	}
	return nil
}
