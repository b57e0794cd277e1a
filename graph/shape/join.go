package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// joinRules returns the rules of ops that join, split and repeat tensors.
func joinRules() map[string]Rule {
	return map[string]Rule{
		"ConcatV2": concatV2, "Concat": concatV1, "ConcatOffset": concatOffset, "Pack": pack, "Unpack": unpack,
		"Split": split, "SplitV": splitV, "Tile": tile,
	}
}

// Concat returns the shape of tensors joined along an axis; at(k) is the shape
// of tensor k of n. Unknown sizes are negative. A single shape is returned as it
// is. The result is written to room if it fits. room may be nil.
func Concat(room tensor.Shape, n int, at func(k int) tensor.Shape, axis int) (tensor.Shape, error) {
	first := at(0)
	if n == 1 {
		return first, nil
	}
	dims := append(room[:0], first...)
	for k := 1; k < n; k++ {
		s := at(k)
		if len(s) != len(first) {
			return nil, fmt.Errorf("input %d has %d dimensions, the first %d", k, len(s), len(first))
		}
		for d := range s {
			var ok bool
			var err error
			if d == axis {
				if dims[d], err = AddDims(dims[d], s[d]); err != nil {
					return nil, err
				}
			} else if dims[d], ok = graph.MergeDim(dims[d], s[d]); !ok {
				return nil, fmt.Errorf("input %d has shape %v, the first %v: they differ in dimension %d", k, s, first, d)
			}
		}
	}
	return dims, nil
}

func concatV2(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	n := len(c.In) - 1
	return c.concat(c.In[:n], n)
}

func concatV1(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	return c.concat(c.In[1:], 0)
}

// concat infers the output of joining the inputs in along the axis that input
// axisIn holds.
func (c *Inference) concat(in []graph.Fact, axisIn int) error {
	if err := c.scalar(axisIn); err != nil {
		return fmt.Errorf("the axis: %w", err)
	}
	rank, whole := -1, true
	for _, f := range in {
		if r := f.Shape.Rank(); r >= 0 {
			rank = r
		} else {
			whole = false
		}
	}
	if rank < 0 {
		return nil
	}
	axis, ok, err := c.axis(axisIn, rank)
	if err != nil {
		return err
	}
	if !ok {
		if rank == 1 {
			axis, ok = 0, true
		} else {
			c.set(0, graph.OfRank(rank))
			return nil
		}
	}
	shapes := make([]tensor.Shape, len(in))
	for i, f := range in {
		s, err := f.Shape.WithRank(rank)
		if err != nil {
			return fmt.Errorf("input %d has %d dimensions, another one %d", i, f.Shape.Rank(), rank)
		}
		shapes[i] = s.Dims()
	}
	out, err := Concat(nil, len(in), func(k int) tensor.Shape { return shapes[k] }, axis)
	if err != nil {
		return err
	}
	c.setDims(0, out...)
	if rank == 1 && whole && len(c.Out) > 0 && isInteger(in[0].DType) {
		var all []graph.Elem
		for _, f := range in {
			e, ok := f.Ints()
			if !ok {
				return nil
			}
			all = append(all, e...)
		}
		c.setElems(0, all)
	}
	return nil
}

// concatOffset infers the offset of each tensor in the joined one: a vector that
// is 0 but at the axis.
func concatOffset(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	s := graph.OfRank(1)
	for i := 1; i < len(c.In); i++ {
		m, err := s.Merge(c.shape(i))
		if err != nil {
			return err
		}
		s = m
	}
	for i := 1; i < len(c.In); i++ {
		c.set(i-1, s)
	}
	n := s.Dim(0)
	axis, ok, err := c.axis(0, n)
	if err != nil || !ok || n > tensor.MaxRank {
		return err
	}
	at := graph.ElemOf(0)
	for i := 1; i < len(c.In) && i-1 < len(c.Out); i++ {
		e := make([]graph.Elem, n) // zeros
		e[axis] = at
		c.setElems(i-1, e)
		sizes, ok := c.In[i].Ints()
		if !ok {
			return nil
		}
		at = fits(addElems(at, sizes[axis]), c.In[i].DType)
	}
	return nil
}

// Pack returns the shape of n tensors of shape s, stacked along an axis of the
// result, and that axis, counted from the first dimension.
func Pack(s tensor.Shape, n int, axis int64) (tensor.Shape, int, error) {
	a, err := Axis(axis, len(s)+1)
	if err != nil {
		return nil, 0, err
	}
	return insert(s, a, n), a, nil
}

func pack(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	s := c.shape(0)
	for k := 1; k < len(c.In); k++ {
		m, err := s.Merge(c.shape(k))
		if err != nil {
			return fmt.Errorf("input %d has shape %v, the first %v", k, c.shape(k), s)
		}
		s = m
	}
	if !s.HasRank() {
		return nil
	}
	out, _, err := Pack(s.Dims(), len(c.In), c.Attrs.Int("axis", 0))
	if err != nil {
		return err
	}
	c.setDims(0, out...)
	if s.Rank() != 0 || len(c.Out) == 0 || !isInteger(c.In[0].DType) {
		return nil
	}
	e := make([]graph.Elem, len(c.In))
	for i, f := range c.In {
		one, ok := f.Ints()
		if !ok {
			one = []graph.Elem{graph.UnknownElem()}
		}
		e[i] = one[0]
	}
	c.setElems(0, e)
	return nil
}

// Unpack returns the shape of each of num parts of a tensor along an axis, and
// that axis, counted from the first dimension.
func Unpack(s tensor.Shape, num, axis int64) (tensor.Shape, int, error) {
	a, err := Axis(axis, len(s))
	if err != nil {
		return nil, 0, err
	}
	if s[a] >= 0 && num != int64(s[a]) {
		return nil, 0, fmt.Errorf("the attribute num is %d, dimension %d has size %d", num, a, s[a])
	}
	return remove(s, a), a, nil
}

func unpack(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, ok := c.dims(0)
	if !ok {
		return nil
	}
	out, _, err := Unpack(s, c.Attrs.Int("num", int64(len(c.Out))), c.Attrs.Int("axis", 0))
	if err != nil {
		return err
	}
	e, ok := c.In[0].Ints()
	for i := range c.Out {
		c.setDims(i, out...)
		if ok && i < len(e) && len(s) == 1 && isInteger(c.In[0].DType) {
			c.setElems(i, e[i:i+1])
		}
	}
	return nil
}

// maxParts bounds how many outputs a split may have; an empty dimension could
// be split without end. The limit is Cairn's.
const maxParts = 1 << 20

// Split returns the size of each of n equal parts of dimension axis. It is unknown
// if the dimension's size is.
func Split(s tensor.Shape, axis int, n int64) (int, error) {
	if n < 1 || n > maxParts || s[axis] >= 0 && int64(s[axis])%n != 0 {
		return 0, fmt.Errorf("dimension %d of size %d can't be split to %d equal parts", axis, s[axis], n)
	}
	return DivDims(s[axis], int(n))
}

func split(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, ok := c.dims(1)
	if !ok {
		return nil
	}
	axis, ok, err := c.axis(0, len(s))
	if err != nil {
		return err
	}
	if !ok && len(s) == 1 {
		axis, ok = 0, true
	}
	n := c.Attrs.Int("num_split", int64(len(c.Out)))
	for i := range c.Out {
		if !ok {
			if n == 1 {
				c.setDims(i, s...)
			} else {
				c.set(i, graph.OfRank(len(s)))
			}
			continue
		}
		d, err := Split(s, axis, n)
		if err != nil {
			return err
		}
		c.set(i, graph.ShapeOf(s...).With(axis, d))
	}
	return nil
}

// SplitV returns the sizes of the parts of dimension axis, whose size is whole.
// At most one size may be -1: it is computed from the others. Other negative sizes
// are unknown (graph.NewDim). If none is -1, the result is the slice sizes.
func SplitV(sizes tensor.Shape, axis, whole int) (tensor.Shape, error) {
	sum, open := 0, -1
	for k, n := range sizes {
		switch {
		case n != -1:
			var err error
			if sum, err = AddDims(sum, n); err != nil {
				return nil, err
			}
		case open >= 0:
			return nil, fmt.Errorf("only one of the sizes %v can be -1", sizes)
		default:
			open = k
		}
	}
	wrong := func() error {
		return fmt.Errorf("the sizes %v don't add up to dimension %d's %d", sizes, axis, whole)
	}
	if open < 0 {
		if sum >= 0 && whole >= 0 && sum != whole {
			return nil, wrong()
		}
		return sizes, nil
	}
	if sum >= 0 && whole >= 0 && sum > whole {
		return nil, wrong()
	}
	d, err := SubDims(whole, sum)
	if err != nil {
		return nil, wrong()
	}
	sizes = sizes.Clone()
	sizes[open] = d
	return sizes, nil
}

func splitV(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	s, ok := c.dims(0)
	if !ok {
		return nil
	}
	axis, ok, err := c.axis(2, len(s))
	if err != nil {
		return err
	}
	if !ok && len(s) == 1 {
		axis, ok = 0, true
	}
	if !ok {
		for i := range c.Out {
			c.set(i, graph.OfRank(len(s)))
		}
		if len(c.Out) == 1 {
			c.setDims(0, s...)
		}
		return nil
	}
	sizes, known, err := c.target(1)
	if err != nil {
		return err
	}
	if !known {
		sizes = make(tensor.Shape, len(c.Out))
		for i := range sizes {
			sizes[i] = graph.NewDim()
		}
		if len(c.Out) == 1 {
			sizes[0] = -1 // the only part is the whole dimension
		}
	}
	if sizes, err = SplitV(sizes, axis, s[axis]); err != nil {
		return err
	}
	for i := range c.Out {
		if i < len(sizes) {
			c.set(i, graph.ShapeOf(s...).With(axis, sizes[i]))
		}
	}
	return nil
}

// Tile returns the shape of a tensor of shape s that is repeated times[d] times along
// each dimension d. Unknown numbers are negative.
func Tile(s, times tensor.Shape) (tensor.Shape, error) {
	if len(times) != len(s) {
		return nil, fmt.Errorf("there are %d multiples for %d dimensions", len(times), len(s))
	}
	out := make(tensor.Shape, len(s))
	for i, n := range times {
		d, err := MulDims(s[i], n)
		if err != nil {
			return nil, fmt.Errorf("dimension %d would overflow", i)
		}
		out[i] = d
	}
	return out, nil
}

func tile(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	times, err := c.sizes(1, "the list of multiples")
	if err != nil {
		return err
	}
	s := c.shape(0)
	if !times.HasRank() {
		n, _ := c.vector(1)
		if n < 0 {
			n = s.Rank()
		}
		if n < 0 {
			return nil
		}
		if times = graph.OfRank(n); !times.HasRank() {
			return fmt.Errorf("there are %d multiples", n)
		}
	}
	if !s.HasRank() {
		s = graph.OfRank(times.Rank())
	}
	out, err := Tile(s.Dims(), times.Dims())
	if err == nil {
		c.setDims(0, out...)
	}
	return err
}
