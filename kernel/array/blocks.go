package array

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of SpaceToDepth, DepthToSpace, SpaceToBatch, SpaceToBatchND,
// BatchToSpace, BatchToSpaceND and ReverseSequence. Each is one or several
// strided copies by [move].

// spread is a block of a tensor, split into more dimensions, and its strides in
// two tensors. All ops that move blocks between space and another dimension
// copy along it.
type spread struct {
	// the sizes of the block's dimensions, in elements
	dims         []int
	whole, parts []int // strides in the tensor that isn't split, and in the other one
}

func (s *spread) add(n, whole, parts int) {
	s.dims, s.whole, s.parts = append(s.dims, n), append(s.whole, whole), append(s.parts, parts)
}

// depthSpace returns the moves between images whole, with blocks of n×n
// positions, and parts with n·n times the channels.
func depthSpace(l shape.Layout, whole, parts tensor.Shape, n int) spread {
	w, p := shapes.Strides(whole), shapes.Strides(parts)
	var s spread
	s.add(whole[l.Batch], w[l.Batch], p[l.Batch])
	for i, d := range l.Spatial {
		channels := whole[l.Channels] // number of channels of the block's positions after this one
		if i == 0 {
			channels *= n
		}
		s.add(parts[d], n*w[d], p[d])
		s.add(n, w[d], channels*p[l.Channels])
	}
	s.add(whole[l.Channels], w[l.Channels], p[l.Channels])
	return s
}

// moveDepth runs SpaceToDepth, or DepthToSpace if back is set.
func moveDepth(back bool) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		l, err := shape.LayoutOf(c.Attrs().String("data_format", "NHWC"))
		if err != nil {
			return err
		}
		x := c.In(0)
		n := c.Attrs().Int("block_size", 0)
		dims, err := shape.Blocks(l, x.Shape(), n, back)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, x.DType(), dims)
		if err != nil {
			return err
		}
		if back {
			s := depthSpace(l, dims, x.Shape(), int(n))
			move(c, out, x, s.dims, view{strides: s.whole}, view{strides: s.parts})
			return nil
		}
		s := depthSpace(l, x.Shape(), dims, int(n))
		move(c, out, x, s.dims, view{strides: s.parts}, view{strides: s.whole})
		return nil
	}
}

// batches reads the sizes of the blocks and the paddings or crops of the ops
// between space and batch. One number for all dimensions is allowed, too. edges
// has a pair for each block dimension: elements before and after.
func batches(c *engine.Call) (blocks []int64, edges [][2]int, err error) {
	x := c.In(0)
	at := 2
	if n := c.Attrs().Int("block_size", 0); c.NumIn() == 2 {
		if n < 1 {
			return nil, nil, fmt.Errorf("the block size is %d", n)
		}
		blocks, at = []int64{n, n}, 1
	} else if blocks, err = shapes.Ints(c.In(1), "the blocks"); err != nil {
		return nil, nil, err
	}
	if len(x.Shape()) < 1+len(blocks) {
		return nil, nil, fmt.Errorf("blocks of %d dimensions for a tensor of shape %v", len(blocks), x.Shape())
	}
	v, err := shapes.AllInts(c.In(at), "the edges")
	if err != nil {
		return nil, nil, err
	}
	edges, err = shape.Paddings(v, c.In(at).Shape(), len(blocks))
	return blocks, edges, err
}

// moveBatch runs SpaceToBatchND and its older form, or their inverses.
func moveBatch(back bool) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if c.NumIn() != 2 && c.NumIn() != 3 {
			return fmt.Errorf("takes 2 or 3 inputs, %d were given", c.NumIn())
		}
		if err := c.NeedTensors(0); err != nil {
			return err
		}
		blocks, edges, err := batches(c)
		if err != nil {
			return err
		}
		x := c.In(0)
		var dims tensor.Shape
		if back {
			dims, err = shape.BatchToSpace(x.Shape(), blocks, edges)
		} else {
			dims, err = shape.SpaceToBatch(x.Shape(), blocks, edges)
		}
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, x.DType(), dims)
		if err != nil || out.Len() == 0 { // the blocks of an empty output may have any size
			return err
		}
		if back {
			eachBatch(c, dims, x.Shape(), blocks, edges, func(at, from int, s *spread) {
				move(c, out, x, s.dims, view{at, s.whole}, view{from, s.parts})
			})
			return nil
		}
		if out.DType().Fixed() {
			clear(out.Bytes())
		}
		eachBatch(c, x.Shape(), dims, blocks, edges, func(at, from int, s *spread) {
			move(c, out, x, s.dims, view{from, s.parts}, view{at, s.whole})
		})
		return nil
	}
}

// eachBatch visits each position in a block. It passes the offsets of the first
// element with that position in the tensor whole and in the other tensor. s has
// the block's sizes and the strides in both. The output has an element for each
// position at least.
func eachBatch(c *engine.Call, whole, parts tensor.Shape, blocks []int64, edges [][2]int, visit func(at, from int, s *spread)) {
	w, p := shapes.Strides(whole), shapes.Strides(parts)
	count := 1
	for _, b := range blocks {
		count *= int(b)
	}
	for place := range count {
		c.Step(place)
		var s spread
		s.add(whole[0], w[0], p[0])
		at, from, rest, empty := 0, place*whole[0]*p[0], place, false
		first := make([]int, len(blocks))
		for d := len(blocks) - 1; d >= 0; d-- {
			first[d] = rest % int(blocks[d])
			rest /= int(blocks[d])
		}
		for d, b := range blocks {
			n := int(b)
			// Element i of whole is element i+before of the padded one.
			before := edges[d][0]
			i := first[d] - before
			row := 0
			if i < 0 {
				row = (-i + n - 1) / n
				i += row * n
			}
			have := whole[d+1] - i
			empty = empty || have <= 0
			s.add((have+n-1)/n, n*w[d+1], p[d+1])
			at += i * w[d+1]
			from += row * p[d+1]
		}
		// no element of whole has this position: the part keeps its zeros
		if empty {
			continue
		}
		for d := len(blocks) + 1; d < len(whole); d++ {
			s.add(whole[d], w[d], p[d])
		}
		visit(at, from, &s)
	}
}

// reverseSequence reverses the first elements of each slice, as many as the
// length in input 1.
func reverseSequence(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	seq, batch, err := shape.SequenceAxes(s, c.In(1).Shape(), c.Attrs().Int("seq_dim", 0), c.Attrs().Int("batch_dim", 0))
	if err != nil {
		return err
	}
	lengths, err := shapes.Ints(c.In(1), "the lengths")
	if err != nil {
		return err
	}
	for i, n := range lengths {
		if n < 0 || n > int64(s[seq]) {
			return fmt.Errorf("length %d of slice %d is outside of [0, %d]", n, i, s[seq])
		}
	}
	out, err := c.Alloc(0, x.DType(), s)
	if err != nil {
		return err
	}
	strides := shapes.Strides(s)
	for i, n := range lengths {
		for _, part := range []struct{ first, n, step int }{{int(n) - 1, int(n), -1}, {int(n), s[seq] - int(n), 1}} {
			dims := s.Clone()
			dims[batch], dims[seq] = 1, part.n
			from := view{at: i*strides[batch] + part.first*strides[seq], strides: append([]int{}, strides...)}
			from.strides[seq] *= part.step
			to := view{at: i * strides[batch], strides: strides}
			if part.step > 0 {
				to.at += int(n) * strides[seq]
			}
			move(c, out, x, dims, to, from)
		}
	}
	return nil
}
