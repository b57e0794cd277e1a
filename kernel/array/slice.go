package array

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

func slice(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	begin, err := shapes.Dims(c.In(1), "the list of begins", 0)
	if err != nil {
		return err
	}
	dims, err := shapes.Dims(c.In(2), "the list of sizes", -1)
	if err != nil {
		return err
	}
	if len(begin) != len(s) || len(dims) != len(s) {
		return fmt.Errorf("there are %d begins and %d sizes for %d dimensions", len(begin), len(dims), len(s))
	}
	strides := shapes.Strides(s)
	from := view{strides: strides}
	for i := range s {
		if dims[i] < 0 {
			dims[i] = s[i] - begin[i]
		}
		if begin[i] > s[i] || dims[i] < 0 || dims[i] > s[i]-begin[i] {
			return fmt.Errorf("dimension %d has size %d; begin %d and size %d reach beyond", i, s[i], begin[i], dims[i])
		}
		from.at += begin[i] * strides[i]
	}
	out, err := c.Alloc(0, x.DType(), dims)
	if err == nil {
		move(c, out, x, dims, view{strides: shapes.Strides(dims)}, from)
	}
	return err
}

// strided is a worked out StridedSlice: the block of x that is taken, and the
// shape of the result.
type strided struct {
	block []int // one size for each dimension of x
	from  view
	out   tensor.Shape
}

// stridedSpec follows TensorFlow's ValidateStridedSliceOp
// (tensorflow/core/util/strided_slice_op.cc).
func stridedSpec(c *engine.Call, s tensor.Shape, begins, ends, steps *tensor.Tensor) (*strided, error) {
	begin, err := shapes.Ints(begins, "begin")
	if err != nil {
		return nil, err
	}
	end, err := shapes.Ints(ends, "end")
	if err != nil {
		return nil, err
	}
	step, err := shapes.Ints(steps, "strides")
	if err != nil {
		return nil, err
	}
	n := len(begin)
	if len(end) != n || len(step) != n || n > 32 {
		return nil, fmt.Errorf("begin, end and strides have %d, %d and %d entries", n, len(end), len(step))
	}
	a := c.Attrs()
	beginMask, endMask := a.Int("begin_mask", 0), a.Int("end_mask", 0)
	ellipsis, newAxis, shrink := a.Int("ellipsis_mask", 0), a.Int("new_axis_mask", 0), a.Int("shrink_axis_mask", 0)
	ellipsis &= 1<<n - 1 // a mask's bits beyond the terms say nothing
	if ellipsis&(ellipsis-1) != 0 {
		return nil, fmt.Errorf("there is more than one ellipsis")
	}

	named := 0 // terms that take a dimension of x
	for i := range n {
		if ellipsis>>i&1 == 0 && newAxis>>i&1 == 0 {
			named++
		}
	}
	if named > len(s) {
		return nil, fmt.Errorf("%d indices for %d dimensions", named, len(s))
	}
	if ellipsis == 0 { // an implied one at the end
		ellipsis = 1 << n
		n++
	}
	strides := shapes.Strides(s)
	sp := &strided{out: tensor.Shape{}}
	whole := func(d int) {
		sp.block = append(sp.block, s[d])
		sp.from.strides = append(sp.from.strides, strides[d])
		sp.out = append(sp.out, s[d])
	}
	d := 0
	for i := range n {
		bit := func(mask int64) bool { return mask>>i&1 == 1 }
		switch {
		case bit(ellipsis):
			for range len(s) - named {
				whole(d)
				d++
			}
		case bit(newAxis):
			sp.out = append(sp.out, 1)
		case step[i] == 0:
			return nil, fmt.Errorf("stride %d is 0", i)
		case bit(shrink):
			k := begin[i]
			if k < 0 {
				k += int64(s[d])
			}
			if k < 0 || k >= int64(s[d]) {
				return nil, fmt.Errorf("index %d of dimension %d is out of bounds: it has size %d", begin[i], d, s[d])
			}
			if step[i] < 0 {
				return nil, fmt.Errorf("only stride 1 is allowed where an index removes dimension %d", d)
			}
			sp.from.at += int(k) * strides[d]
			sp.block = append(sp.block, 1)
			sp.from.strides = append(sp.from.strides, strides[d])
			d++
		default:
			b, e := spanOf(begin[i], end[i], step[i], int64(s[d]), bit(beginMask), bit(endMask))
			count := int64(0)
			if step[i] > 0 && e > b {
				count = (e - b + step[i] - 1) / step[i]
			} else if step[i] < 0 && e < b {
				count = (b - e - step[i] - 1) / -step[i]
			}
			if count > 0 {
				sp.from.at += int(b) * strides[d]
			}
			sp.block = append(sp.block, int(count))
			sp.from.strides = append(sp.from.strides, int(step[i])*strides[d])
			sp.out = append(sp.out, int(count))
			d++
		}
	}
	return sp, nil
}

// spanOf clamps a begin and an end to a dimension of size n.
func spanOf(begin, end, step, n int64, openBegin, openEnd bool) (b, e int64) {
	lo, hi := int64(0), n
	if step < 0 {
		lo, hi = -1, n-1
	}
	clamp := func(x int64) int64 {
		if x < 0 {
			x += n
		}
		return min(max(x, lo), hi)
	}
	b, e = clamp(begin), clamp(end)
	if openBegin {
		b = lo
		if step < 0 {
			b = hi
		}
	}
	if openEnd {
		e = hi
		if step < 0 {
			e = lo
		}
	}
	return b, e
}

func stridedSlice(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	x := c.In(0)
	sp, err := stridedSpec(c, x.Shape(), c.In(1), c.In(2), c.In(3))
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, x.DType(), sp.out)
	if err == nil {
		move(c, out, x, sp.block, view{strides: shapes.Strides(sp.block)}, sp.from)
	}
	return err
}

// stridedSliceGrad puts dy where the slice took its elements from, and zeros
// elsewhere.
func stridedSliceGrad(c *engine.Call) error {
	if err := c.Need(5); err != nil {
		return err
	}
	s, err := shapes.Dims(c.In(0), "the shape", 0)
	if err != nil {
		return err
	}
	sp, err := stridedSpec(c, s, c.In(1), c.In(2), c.In(3))
	if err != nil {
		return err
	}
	dy := c.In(4)
	if !dy.Shape().Equal(sp.out) {
		return fmt.Errorf("dy has shape %v, the slice %v", dy.Shape(), sp.out)
	}
	out, err := c.AllocZero(0, dy.DType(), s)
	if err == nil {
		move(c, out, dy, sp.block, sp.from, view{strides: shapes.Strides(sp.block)})
	}
	return err
}

func reverse(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	axes, err := shapes.Ints(c.In(1), "the axes")
	if err != nil {
		return err
	}
	marked, err := shapes.Axes(axes, len(s))
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, x.DType(), s)
	if err != nil {
		return err
	}
	from := view{strides: shapes.Strides(s)}
	for i, m := range marked {
		if m && s[i] > 0 {
			from.at += (s[i] - 1) * from.strides[i]
			from.strides[i] = -from.strides[i]
		}
	}
	move(c, out, x, s, view{strides: shapes.Strides(s)}, from)
	return nil
}
