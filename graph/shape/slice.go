package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// sliceRules returns the rules of slices, and of ops that reverse dimensions.
func sliceRules() map[string]Rule {
	return map[string]Rule{
		"Slice": slice, "StridedSlice": stridedSlice, "StridedSliceGrad": stridedSliceGrad, "StridedSliceAssign": unchanged,
		"TensorStridedSliceUpdate": unchanged, "ReverseV2": reverse, "Reverse": reverseMarked,
		"Roll": unchanged,
	}
}

// CheckSlice returns an error unless a slice has a begin and a size for each dimension.
func CheckSlice(s tensor.Shape, begins, sizes int) error {
	if begins != len(s) || sizes != len(s) {
		return fmt.Errorf("there are %d begins and %d sizes for %d dimensions", begins, sizes, len(s))
	}
	return nil
}

// Slice returns the shape of a slice: its first elements are begin, and its
// sizes are size, with -1 for all that are left.
func Slice(s tensor.Shape, begin, size []graph.Elem) (tensor.Shape, error) {
	if err := CheckSlice(s, len(begin), len(size)); err != nil {
		return nil, err
	}
	out := make(tensor.Shape, len(s))
	for i, n := range s {
		b, bok := begin[i].Size()
		d, dok := size[i].Size()
		if !bok {
			return nil, fmt.Errorf("the list of begins holds the size %v", begin[i])
		}
		if !dok {
			if v, _ := size[i].Int(); v != -1 {
				return nil, fmt.Errorf("the list of sizes holds the size %v", size[i])
			}
			left, err := SubDims(n, b)
			if err != nil {
				return nil, beyond(i, n, b, n-b)
			}
			out[i] = left
			continue
		}
		if d < 0 && graph.SameDim(d, n) && b == 0 {
			d = n
		}
		if n >= 0 && (b > n || b >= 0 && d >= 0 && d > n-b || d > n) {
			return nil, beyond(i, n, max(b, 0), d)
		}
		if n == 0 {
			d = 0
		}
		if d == -1 {
			d = graph.NewDim()
		}
		out[i] = d
	}
	return out, nil
}

func beyond(i, n, begin, size int) error {
	return fmt.Errorf("dimension %d has size %d; begin %d and size %d reach beyond", i, n, begin, size)
}

// unknownElems returns n elements of which nothing is known.
func unknownElems(n int) []graph.Elem {
	e := make([]graph.Elem, n)
	for i := range e {
		e[i] = graph.UnknownElem()
	}
	return e
}

// list returns the elements of input i, a vector of length n; a negative n is
// any length. It returns false if not even the length is known.
func (c *Inference) list(i, n int) ([]graph.Elem, bool) {
	if e, ok := c.In[i].Ints(); ok {
		return e, true
	}
	if s := c.shape(i); s.Rank() == 1 && s.Dim(0) >= 0 {
		n = s.Dim(0)
	}
	if n < 0 || n > tensor.MaxRank {
		return nil, false
	}
	return unknownElems(n), true
}

func slice(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	for i := 1; i < 3; i++ {
		if _, err := c.vector(i); err != nil {
			return err
		}
	}
	s := c.shape(0)
	n := s.Rank()
	for i := 1; i < 3 && n < 0; i++ {
		if e, ok := c.list(i, -1); ok {
			n = len(e)
		}
	}
	if n < 0 {
		return nil
	}
	if !s.HasRank() {
		s = graph.OfRank(n)
	}
	begin, bok := c.list(1, n)
	size, sok := c.list(2, n)
	if !bok || !sok {
		return nil
	}
	out, err := Slice(s.Dims(), begin, size)
	if err != nil {
		return err
	}
	c.setDims(0, out...)
	if e, ok := c.In[0].Ints(); ok && n == 1 && len(c.Out) > 0 && isInteger(c.In[0].DType) {
		if at, ok := begin[0].Int(); ok && out[0] >= 0 {
			c.setElems(0, e[at:int(at)+out[0]])
		}
	}
	return nil
}

// Strided describes the elements that a StridedSlice takes: begin, end and
// stride of each term, and the masks. A mask has a bit per term.
type Strided struct {
	Begin, End, Stride []graph.Elem
	Masks
}

// Masks are the bits of a StridedSlice's attributes, one per term.
type Masks struct {
	BeginMask, EndMask, Ellipsis, NewAxis, ShrinkAxis int64
}

// MasksOf returns the masks in an op's attributes.
func MasksOf(a graph.Attrs) Masks {
	return Masks{
		BeginMask: a.Int("begin_mask", 0), EndMask: a.Int("end_mask", 0),
		Ellipsis: a.Int("ellipsis_mask", 0), NewAxis: a.Int("new_axis_mask", 0), ShrinkAxis: a.Int("shrink_axis_mask", 0),
	}
}

// Block is the part of a tensor that a StridedSlice takes. Its numbers are
// unknown if the sizes or terms that they depend on are.
type Block struct {
	// Begin, Step and Size have one entry per dimension of the tensor: the
	// first element, the distance to the next and the number of elements.
	// Unknown entries of Begin and Step are 0.
	Begin, Step []int
	Size        tensor.Shape
	// Out is the shape of the result.
	Out tensor.Shape
}

// Of returns the elements that a slice of a tensor of shape s takes. It follows
// TensorFlow's ValidateStridedSliceOp
// (tensorflow/core/util/strided_slice_op.cc).
func (st *Strided) Of(s tensor.Shape) (Block, error) { return st.In(nil, s) }

// In returns the block as [Strided.Of] does. Its lists are in room if they fit.
func (st *Strided) In(room []int, s tensor.Shape) (Block, error) {
	n := len(st.Begin)
	if len(st.End) != n || len(st.Stride) != n || n > 32 {
		return Block{}, fmt.Errorf("begin, end and strides have %d, %d and %d entries", n, len(st.End), len(st.Stride))
	}
	ellipsis := st.Ellipsis & (1<<n - 1) // a mask's bits beyond the terms have no effect
	if ellipsis&(ellipsis-1) != 0 {
		return Block{}, fmt.Errorf("there is more than one ellipsis")
	}
	named := 0 // terms that take a dimension of the tensor
	for i := range n {
		if ellipsis>>i&1 == 0 && st.NewAxis>>i&1 == 0 {
			named++
		}
	}
	if named > len(s) {
		return Block{}, fmt.Errorf("%d indices for %d dimensions", named, len(s))
	}
	if ellipsis == 0 { // an implied one at the end
		ellipsis = 1 << n
		n++
	}
	// One piece of memory for all lists.
	if cap(room) < 4*len(s)+n {
		room = make([]int, 4*len(s)+n)
	}
	room = room[:4*len(s)+n]
	clear(room)
	b := Block{Begin: room[0:len(s):len(s)], Step: room[len(s) : 2*len(s) : 2*len(s)],
		Size: room[2*len(s) : 3*len(s) : 3*len(s)], Out: room[3*len(s) : 3*len(s)]}
	d := 0
	for i := range n {
		switch {
		case ellipsis>>i&1 == 1:
			for range len(s) - named {
				b.Step[d], b.Size[d] = 1, s[d]
				b.Out = append(b.Out, s[d])
				d++
			}
		case st.NewAxis>>i&1 == 1:
			b.Out = append(b.Out, 1)
		default:
			if is(st.Stride[i], 0) {
				return Block{}, errStride(i)
			}
			if err := st.term(&b, s, i, d); err != nil {
				return Block{}, err
			}
			if st.ShrinkAxis>>i&1 == 0 {
				b.Out = append(b.Out, b.Size[d])
			}
			d++
		}
	}
	return b, nil
}

// term works out dimension d from term i.
func (st *Strided) term(b *Block, s tensor.Shape, i, d int) error {
	begin, bok := st.Begin[i].Int()
	step, sok := st.Stride[i].Int()
	if sok {
		b.Step[d] = int(step)
	}
	if st.ShrinkAxis>>i&1 == 1 {
		if sok && step < 0 {
			return errShrink(d)
		}
		b.Size[d] = 1
		if !bok || s[d] < 0 {
			return nil
		}
		var err error
		b.Begin[d], err = position(begin, s[d], d)
		return err
	}
	end, eok := st.End[i].Int()
	openBegin, openEnd := st.BeginMask>>i&1 == 1, st.EndMask>>i&1 == 1
	switch {
	case s[d] == 0 || sok && (bok || openBegin) && (eok || openEnd) && s[d] > 0:
		b.Begin[d], b.Size[d] = span(begin, end, step, int64(s[d]), openBegin, openEnd)
	case sok && st.all(i, s[d], step):
		b.Size[d] = s[d]
	default:
		b.Size[d] = graph.NewDim()
	}
	return nil
}

// Small is a [Block] of at most eight dimensions with nothing unknown. Its arrays are
// filled in place, because reading slices that were just made stalls the processor.
type Small struct {
	Begin, Step, Size [8]int
	Out               [8]int
	Dims              int // of the tensor
	Outs              int // of the result
}

// Known returns the block as [Strided.Of] does, for known terms, each of which takes
// a dimension of a tensor of a known shape with few dimensions. It returns false for
// others.
func (m *Masks) Known(b *Small, s tensor.Shape, begin, end, stride []int32) (bool, error) {
	n := len(begin)
	if len(end) != n || len(stride) != n || n > len(s) || len(s) > len(b.Size) || (m.Ellipsis|m.NewAxis)&(1<<n-1) != 0 {
		return false, nil
	}
	b.Dims, b.Outs = len(s), 0
	for d, size := range s {
		first, step, count, shrink := 0, 1, size, false
		if d < n {
			step, shrink = int(stride[d]), m.ShrinkAxis>>d&1 == 1
			switch {
			case step == 0:
				return true, errStride(d)
			case shrink && step < 0:
				return true, errShrink(d)
			case shrink:
				var err error
				if first, err = position(int64(begin[d]), size, d); err != nil {
					return true, err
				}
				count = 1
			default:
				first, count = span(int64(begin[d]), int64(end[d]), int64(step), int64(size), m.BeginMask>>d&1 == 1, m.EndMask>>d&1 == 1)
			}
		}
		b.Begin[d], b.Step[d], b.Size[d] = first, step, count
		if !shrink {
			b.Out[b.Outs] = count
			b.Outs++
		}
	}
	return true, nil
}

func errStride(i int) error { return fmt.Errorf("stride %d is 0", i) }

func errShrink(d int) error {
	return fmt.Errorf("only stride 1 is allowed where an index removes dimension %d", d)
}

// position returns the place in dimension d, of size n, that an index names.
func position(index int64, n, d int) (int, error) {
	k := index
	if k < 0 {
		k += int64(n)
	}
	if k < 0 || k >= int64(n) {
		return 0, fmt.Errorf("index %d of dimension %d is out of bounds: it has size %d", index, d, n)
	}
	return int(k), nil
}

// span returns the first element that a term takes of a dimension of size n, or
// 0 if it takes none, and the number of elements.
func span(begin, end, step, n int64, openBegin, openEnd bool) (first, count int) {
	from, to := spanOf(begin, end, step, n, openBegin, openEnd)
	switch {
	case step == 1 && to > from:
		return int(from), int(to - from)
	case step > 0 && to > from:
		return int(from), int((to-from-1)/step + 1)
	case step < 0 && to < from:
		return int(from), int((from-to-1)/-step + 1)
	}
	return 0, 0
}

// all reports whether term i takes every element of a dimension of size n.
func (st *Strided) all(i, n int, step int64) bool {
	openBegin, openEnd := st.BeginMask>>i&1 == 1, st.EndMask>>i&1 == 1
	switch step {
	case 1:
		end, ok := st.End[i].Size()
		return (openBegin || is(st.Begin[i], 0)) && (openEnd || ok && graph.SameDim(end, n))
	case -1:
		return openBegin && openEnd
	}
	return false
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

// strided reads the terms from inputs at, at+1 and at+2. It returns false if
// not even their number is known.
func (c *Inference) strided(at int) (*Strided, bool, error) {
	n := -1
	for i := at; i < at+3; i++ {
		if _, err := c.vector(i); err != nil {
			return nil, false, err
		}
		if e, ok := c.list(i, -1); ok {
			n = len(e)
		}
	}
	if n < 0 {
		return nil, false, nil
	}
	st := &Strided{Masks: MasksOf(c.Attrs)}
	st.Begin, _ = c.list(at, n)
	st.End, _ = c.list(at+1, n)
	st.Stride, _ = c.list(at+2, n)
	return st, true, nil
}

func stridedSlice(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	st, ok, err := c.strided(1)
	if err != nil || !ok {
		return err
	}
	s, ok := c.dims(0)
	if !ok {
		return nil
	}
	b, err := st.Of(s)
	if err != nil {
		return err
	}
	c.setDims(0, b.Out...)
	e, ok := c.In[0].Ints()
	if !ok || len(s) != 1 || len(c.Out) == 0 || !isInteger(c.In[0].DType) || len(b.Out) > 1 || b.Size[0] < 0 {
		return nil
	}
	if !st.whole() && !(len(st.Begin) == 0) {
		return nil
	}
	out := make([]graph.Elem, b.Size[0])
	for i := range out {
		out[i] = e[b.Begin[0]+i*b.Step[0]]
	}
	c.setElems(0, out)
	return nil
}

// whole reports whether every number that counts is known.
func (st *Strided) whole() bool {
	for i := range st.Begin {
		if (st.Ellipsis|st.NewAxis)>>i&1 == 1 {
			continue
		}
		_, bok := st.Begin[i].Int()
		_, eok := st.End[i].Int()
		_, sok := st.Stride[i].Int()
		if !sok || !bok && st.BeginMask>>i&1 == 0 || !eok && st.EndMask>>i&1 == 0 && st.ShrinkAxis>>i&1 == 0 {
			return false
		}
	}
	return true
}

// stridedSliceGrad has the shape that its first input describes.
func stridedSliceGrad(c *Inference) error {
	if err := c.need(5); err != nil {
		return err
	}
	s, err := c.sizes(0, "the shape")
	if err != nil || !s.HasRank() {
		return err
	}
	c.set(0, s)
	st, ok, err := c.strided(1)
	if err != nil || !ok {
		return err
	}
	b, err := st.Of(s.Dims())
	if err != nil {
		return err
	}
	if !c.shape(4).Compatible(graph.ShapeOf(b.Out...)) {
		return fmt.Errorf("dy has shape %v, the slice %v", c.shape(4), b.Out)
	}
	return nil
}

func reverse(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s := c.shape(0)
	c.set(0, s)
	axes, ok := c.knownInts(1)
	if !ok || !s.HasRank() {
		return nil
	}
	_, err := Axes(axes, s.Rank())
	return err
}

// reverseMarked has a boolean for each dimension.
func reverseMarked(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	n, err := c.vector(1)
	if err != nil {
		return err
	}
	s := c.shape(0)
	if n >= 0 {
		if s, err = s.WithRank(n); err != nil {
			return err
		}
	}
	c.set(0, s)
	return nil
}
