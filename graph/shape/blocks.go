package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// blockRules returns the rules of the ops that move blocks between space and channels
// or batch.
func blockRules() map[string]Rule {
	return map[string]Rule{
		"SpaceToDepth": func(c *Inference) error { return c.blocks(false) },
		"DepthToSpace": func(c *Inference) error { return c.blocks(true) },

		"SpaceToBatchND": func(c *Inference) error { return c.batches(false, 0) },
		"BatchToSpaceND": func(c *Inference) error { return c.batches(true, 0) },
		"SpaceToBatch":   func(c *Inference) error { return c.batches(false, 4) },
		"BatchToSpace":   func(c *Inference) error { return c.batches(true, 4) },

		"ReverseSequence": reverseSequence,
	}
}

// Blocks returns the shape of SpaceToDepth of x or, with back, of DepthToSpace.
// The upper limit of the block size n is Cairn's: n*n fits an int of 32 bits.
func Blocks(l Layout, x tensor.Shape, n int64, back bool) (tensor.Shape, error) {
	if n < 2 || n > 1<<15 {
		return nil, fmt.Errorf("the block size is %d", n)
	}
	if len(x) != 4 || len(l.Spatial) != 2 {
		return nil, fmt.Errorf("images of shape %v, where 4 dimensions are needed", x)
	}
	space, channels := DivDims, MulDims
	if back {
		space, channels = MulDims, DivDims
	}
	out := x.Clone()
	var err error
	for _, d := range l.Spatial {
		if out[d], err = space(out[d], int(n)); err != nil {
			return nil, err
		}
	}
	out[l.Channels], err = channels(out[l.Channels], int(n*n))
	return out, err
}

func (c *Inference) blocks(back bool) error {
	if err := c.need(1); err != nil {
		return err
	}
	l, err := LayoutOf(c.Attrs.String("data_format", "NHWC"))
	if err != nil {
		return err
	}
	x, err := c.ranked(0, 4)
	if err != nil {
		return err
	}
	out, err := Blocks(l, x.Dims(), c.Attrs.Int("block_size", 0), back)
	if err == nil {
		c.setDims(0, out...)
	}
	return err
}

// SpaceToBatch returns the shape of x cut into blocks after padding: their places
// become batches.
func SpaceToBatch(x tensor.Shape, blocks []int64, paddings [][2]int) (tensor.Shape, error) {
	out := x.Clone()
	for d, b := range blocks {
		if b < 1 || b > 1<<30 {
			return nil, fmt.Errorf("a block size of %d", b)
		}
		both, err := AddDims(paddings[d][0], paddings[d][1])
		if err != nil {
			return nil, err
		}
		n, err := AddDims(x[d+1], both)
		if err != nil {
			return nil, err
		}
		if out[d+1], err = DivDims(n, int(b)); err != nil {
			return nil, err
		}
		if out[0], err = MulDims(out[0], int(b)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// BatchToSpace returns the shape of the tensor from which [SpaceToBatch] makes
// x.
func BatchToSpace(x tensor.Shape, blocks []int64, crops [][2]int) (tensor.Shape, error) {
	out := x.Clone()
	for d, b := range blocks {
		if b < 1 || b > 1<<30 {
			return nil, fmt.Errorf("a block size of %d", b)
		}
		n, err := MulDims(x[d+1], int(b))
		if err != nil {
			return nil, err
		}
		both, err := AddDims(crops[d][0], crops[d][1])
		if err != nil {
			return nil, err
		}
		if out[d+1], err = SubDims(n, both); err != nil {
			return nil, err
		}
		if out[0], err = DivDims(out[0], int(b)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// batches infers the outputs of the ops between space and batch, for tensors of
// a given rank if their blocks are an attribute.
func (c *Inference) batches(back bool, rank int) error {
	var blocks []int64
	edges := 2
	if rank > 0 {
		if err := c.need(2); err != nil {
			return err
		}
		n := c.Attrs.Int("block_size", 0)
		blocks, edges = []int64{n, n}, 1
	} else {
		if err := c.need(3); err != nil {
			return err
		}
		blocks, _ = c.knownInts(1)
	}
	x := c.shape(0)
	if rank > 0 {
		var err error
		if x, err = c.ranked(0, rank); err != nil {
			return err
		}
	}
	v, known := c.knownInts(edges)
	if !x.HasRank() {
		return nil
	}
	if blocks == nil || !known {
		return c.partBatches(x, blocks, back)
	}
	if x.Rank() < 1+len(blocks) {
		return fmt.Errorf("blocks of %d dimensions for a tensor of shape %v", len(blocks), x)
	}
	s, _ := c.dims(edges)
	ps, err := Paddings(v, s, len(blocks))
	if err != nil {
		return err
	}
	f := SpaceToBatch
	if back {
		f = BatchToSpace
	}
	out, err := f(x.Dims(), blocks, ps)
	if err == nil {
		c.setDims(0, out...)
	}
	return err
}

// partBatches infers the outputs if the edges, or the blocks too, are unknown:
// the dimensions after the blocks stay.
func (c *Inference) partBatches(x graph.PartialShape, blocks []int64, back bool) error {
	n := len(blocks)
	if blocks == nil {
		m, ok := c.dims(1)
		if !ok || len(m) != 1 {
			c.set(0, graph.OfRank(x.Rank()))
			return nil
		}
		n = m[0]
	}
	if n < 0 || x.Rank() < 1+n {
		c.set(0, graph.OfRank(x.Rank()))
		return nil
	}
	out := graph.OfRank(x.Rank()).Dims()
	copy(out[1+n:], x.Dims()[1+n:])
	if blocks != nil {
		out[0] = x.Dim(0)
		for _, b := range blocks {
			if b < 1 || b > 1<<30 {
				return fmt.Errorf("a block size of %d", b)
			}
			var err error
			if back {
				out[0], err = DivDims(out[0], int(b))
			} else {
				out[0], err = MulDims(out[0], int(b))
			}
			if err != nil {
				return err
			}
		}
	}
	c.setDims(0, out...)
	return nil
}

// SequenceAxes checks the dimensions of ReverseSequence and the lengths' shape.
func SequenceAxes(x, lengths tensor.Shape, seqDim, batchDim int64) (seq, batch int, err error) {
	if seq, err = Axis(seqDim, len(x)); err != nil {
		return 0, 0, err
	}
	if batch, err = Axis(batchDim, len(x)); err != nil {
		return 0, 0, err
	}
	if seqDim < 0 || batchDim < 0 || seq == batch {
		return 0, 0, fmt.Errorf("sequences along dimension %d of batches along dimension %d", seqDim, batchDim)
	}
	if len(lengths) != 1 {
		return 0, 0, fmt.Errorf("the lengths have shape %v, not one dimension", lengths)
	}
	if _, ok := graph.MergeDim(lengths[0], x[batch]); !ok {
		return 0, 0, fmt.Errorf("%d lengths for %d slices", lengths[0], x[batch])
	}
	return seq, batch, nil
}

func reverseSequence(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	n, err := c.vector(1)
	if err != nil {
		return err
	}
	x := c.shape(0)
	if !x.HasRank() {
		return nil
	}
	_, batch, err := SequenceAxes(x.Dims(), tensor.Shape{n}, c.Attrs.Int("seq_dim", 0), c.Attrs.Int("batch_dim", 0))
	if err != nil {
		return err
	}
	d, _ := graph.MergeDim(x.Dim(batch), n)
	c.set(0, x.With(batch, d))
	return nil
}
