package array

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of Slice, StridedSlice, StridedSliceGrad, Reverse, ReverseV2 and
// Roll. Shape rules of package graph/shape compute the blocks, so that shapes
// and kernels agree.

// slice returns the block that begins at input 1 and has the sizes in input 2;
// a size of -1 is all elements from the beginning on.
func slice(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	if err := shape.CheckSlice(s, c.In(1).Len(), c.In(2).Len()); err != nil {
		return err // before long lists are read
	}
	var begins, sizes shapes.Room[graph.Elem]
	begin, err := shapes.Elems(begins[:0], c.In(1), "the list of begins")
	if err != nil {
		return err
	}
	size, err := shapes.Elems(sizes[:0], c.In(2), "the list of sizes")
	if err != nil {
		return err
	}
	dims, err := shape.Slice(s, begin, size)
	if err != nil {
		return err
	}
	from := view{strides: shapes.Strides(s)}
	for i, stride := range from.strides {
		b, _ := begin[i].Size()
		from.at += b * stride
	}
	out, err := c.Alloc(0, x.DType(), dims)
	if err == nil {
		move(c, out, x, dims, view{strides: shapes.Strides(dims)}, from)
	}
	return err
}

// masked prepares a kernel that needs the masks of a StridedSlice.
func masked(run func(*engine.Call, *shape.Masks) error) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		m := shape.MasksOf(n.Attrs)
		return func(c *engine.Call) error { return run(c, &m) }, nil
	}
}

// maxTerms is the largest number of entries of begin, end and strides: their masks have a bit for
// each.
const maxTerms = 32

// strided computes the block that inputs at, at+1 and at+2 (begin, end, strides)
// select in a tensor of shape s, and the view of its elements in that tensor.
// room is memory for the lists of both, which are allocated if they don't fit.
// m has the masks of the node's attributes. The view's strides count elements of
// the tensor and are negative for a reversed dimension.
func strided(c *engine.Call, room []int, s tensor.Shape, at int, m *shape.Masks) (shape.Block, view, error) {
	st := shape.Strided{Masks: *m}
	for i, name := range []string{"begin", "end", "strides"} { // before huge ones are copied
		if n := c.In(at + i).Len(); n > maxTerms {
			return shape.Block{}, view{}, fmt.Errorf("%s has %d entries, want at most %d", name, n, maxTerms)
		}
	}
	var begins, ends, strides shapes.Room[graph.Elem]
	var err error
	if st.Begin, err = shapes.Elems(begins[:0], c.In(at), "begin"); err != nil {
		return shape.Block{}, view{}, err
	}
	if st.End, err = shapes.Elems(ends[:0], c.In(at+1), "end"); err != nil {
		return shape.Block{}, view{}, err
	}
	if st.Stride, err = shapes.Elems(strides[:0], c.In(at+2), "strides"); err != nil {
		return shape.Block{}, view{}, err
	}
	b, err := st.In(room, s)
	if err != nil {
		return shape.Block{}, view{}, err
	}
	from := view{strides: b.Step}
	for d, stride := len(s)-1, 1; d >= 0; d-- {
		from.at += b.Begin[d] * stride
		from.strides[d] *= stride
		stride *= s[d]
	}
	return b, from, nil
}

// stridedSlice has a fast path that allocates no lists, for int32 and few
// dimensions ([shape.Small]): [smallSlice]. Both return the same block.
func stridedSlice(c *engine.Call, m *shape.Masks) error {
	if err := c.Need(4); err != nil {
		return err
	}
	x := c.In(0)
	begin, ok := shapes.Int32s(c.In(1))
	end, eok := shapes.Int32s(c.In(2))
	stride, sok := shapes.Int32s(c.In(3))
	if ok && eok && sok {
		var b shape.Small
		if known, err := m.Known(&b, x.Shape(), begin, end, stride); err != nil {
			return err
		} else if known {
			return smallSlice(c, &b)
		}
	}
	var room [32]int
	b, from, err := strided(c, room[:], x.Shape(), 1, m)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, x.DType(), b.Out)
	if err == nil {
		move(c, out, x, b.Size, view{strides: shapes.Strides(b.Size)}, from)
	}
	return err
}

// smallSlice copies a block of a tensor of at most 8 dimensions.
func smallSlice(c *engine.Call, b *shape.Small) error {
	x := c.In(0)
	out, err := c.Alloc(0, x.DType(), b.Out[:b.Outs])
	if err != nil {
		return err
	}
	var to, from shapes.Room[int]
	at, whole, part := 0, 1, 1
	for d := b.Dims - 1; d >= 0; d-- {
		at += b.Begin[d] * whole
		to[d], from[d] = part, b.Step[d]*whole
		part *= b.Size[d]
		whole *= x.Shape()[d]
	}
	move(c, out, x, b.Size[:b.Dims], view{strides: to[:b.Dims]}, view{at, from[:b.Dims]})
	return nil
}

// stridedSliceGrad returns zeros, with dy at the positions that the slice
// selected.
func stridedSliceGrad(c *engine.Call, m *shape.Masks) error {
	if err := c.Need(5); err != nil {
		return err
	}
	s, err := shapes.Dims(c.In(0), "the shape", 0)
	if err != nil {
		return err
	}
	var room [32]int
	b, to, err := strided(c, room[:], s, 1, m)
	if err != nil {
		return err
	}
	dy := c.In(4)
	if !dy.Shape().Equal(b.Out) {
		return fmt.Errorf("dy has shape %v, the slice %s", dy.Shape(), b.Out.String()) // String keeps b.Out from escaping to the heap
	}
	out, err := c.AllocZero(0, dy.DType(), s)
	if err == nil {
		move(c, out, dy, b.Size, to, view{strides: shapes.Strides(b.Size)})
	}
	return err
}

// reverse runs ReverseV2, whose input 1 lists the axes.
func reverse(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	if len(c.In(0).Shape()) == 0 { // a scalar stays as it is, for any axes
		return reverseAlong(c, nil)
	}
	axes, err := shapes.Ints(c.In(1), "the axes")
	if err != nil {
		return err
	}
	marked, err := shape.Axes(axes, len(c.In(0).Shape()))
	if err != nil {
		return err
	}
	return reverseAlong(c, marked)
}

// reverseMarked runs Reverse, whose input 1 has a boolean for each dimension.
func reverseMarked(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	s, dims := c.In(0).Shape(), c.In(1)
	if len(s) == 0 { // a scalar stays as it is, for any marks
		return reverseAlong(c, nil)
	}
	if dims.DType() != tensor.Bool || len(dims.Shape()) != 1 || dims.Len() != len(s) {
		return fmt.Errorf("dims is %v%v, not a boolean for each of %d dimensions", dims.DType(), dims.Shape(), len(s))
	}
	// TensorFlow's Reverse has this limit
	if len(s) > 8 {
		return fmt.Errorf("the tensor has %d dimensions, more than 8", len(s))
	}
	return reverseAlong(c, tensor.Values[bool](dims))
}

// reverseAlong reverses the dimensions that are marked; nil marks none.
func reverseAlong(c *engine.Call, marked []bool) error {
	x := c.In(0)
	s := x.Shape()
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

// roll shifts elements along axes; elements that leave at one end enter at the
// other.
func roll(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	if len(s) == 0 {
		return fmt.Errorf("takes a tensor of at least one dimension")
	}
	shifts, err := shapes.Ints(c.In(1), "the shift")
	if err != nil {
		return err
	}
	axes, err := shapes.Ints(c.In(2), "the axis")
	if err != nil {
		return err
	}
	if !c.In(1).Shape().Equal(c.In(2).Shape()) {
		return fmt.Errorf("the shift has shape %v, the axis %v; both need the same", c.In(1).Shape(), c.In(2).Shape())
	}
	by := make([]int, len(s))
	for i, a := range axes {
		axis, err := shape.Axis(a, len(s))
		if err != nil {
			return err
		}
		if n := int64(s[axis]); n > 0 {
			// TensorFlow adds shifts up in 32 bits, so a large sum wraps around.
			sum := int64(int32(by[axis]) + int32(shifts[i]))
			by[axis] = int((sum%n + n) % n)
		}
	}
	out, err := c.Alloc(0, x.DType(), s)
	if err == nil && out.Len() > 0 {
		rolled(c, out, x, by)
	}
	return err
}

// rolled moves the blocks into which shifts cut a tensor: two along each
// dimension that is shifted. by is the shift of each dimension, at least 0 and less
// than its size. There are no more blocks than elements, since a dimension that is
// shifted has two at least.
func rolled(c *engine.Call, out, x *tensor.Tensor, by []int) {
	s := x.Shape()
	strides := shapes.Strides(s)
	var axes []int
	for d, k := range by {
		if k > 0 {
			axes = append(axes, d)
		}
	}
	for part := range 1 << len(axes) {
		dims := s.Clone()
		to, from := view{strides: strides}, view{strides: strides}
		for i, d := range axes {
			if part>>i&1 == 0 { // the beginning moves by the shift
				dims[d] = s[d] - by[d]
				to.at += by[d] * strides[d]
			} else {
				dims[d] = by[d]
				from.at += (s[d] - by[d]) * strides[d]
			}
		}
		move(c, out, x, dims, to, from)
	}
}
