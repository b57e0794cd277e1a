package ragged

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of RaggedGather.

// gather returns rows of a ragged tensor. The inputs are splits, values and
// indices.
func gather(c *engine.Call) error {
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	count := c.NumIn() - 2
	if count < 1 || len(c.In(count).Shape()) < 1 {
		return fmt.Errorf("takes splits, values with rows and indices")
	}
	values, indices := c.In(count), c.In(count+1)
	levels, err := nested(c, 0, count, values.Shape()[0])
	if err != nil {
		return err
	}
	want, err := shapes.AllInts(indices, "the indices")
	if err != nil {
		return err
	}
	rank := len(indices.Shape())
	if rank < 1 {
		return fmt.Errorf("the index is a scalar")
	}
	d, at := c.In(0).DType(), 0
	for i := 0; i < rank-1; i++ { // splits for the dimensions of the indices
		n := shapes.Count(indices.Shape()[:i+1])
		splits := make([]int64, n+1)
		for k := range splits {
			splits[k] = int64(k * indices.Shape()[i+1])
		}
		if err := shapes.SetInts(c, at, d, splits); err != nil {
			return err
		}
		at++
	}
	rows := want
	for _, splits := range levels {
		n := int64(len(splits) - 1)
		picked := make([]int64, 1, len(rows)+1)
		total := int64(0)
		for _, r := range rows {
			if r < 0 || r >= n {
				return fmt.Errorf("index %d is outside of [0, %d)", r, n)
			}
			total += splits[r+1] - splits[r]
			picked = append(picked, total)
		}
		if err := c.Afford(total * 8); err != nil {
			return err
		}
		below := make([]int64, 0, total)
		for _, r := range rows {
			for k := splits[r]; k < splits[r+1]; k++ {
				below = append(below, k)
			}
		}
		if err := shapes.SetInts(c, at, d, picked); err != nil {
			return err
		}
		at++
		rows = below
	}
	out, err := c.Alloc(at, values.DType(), append(tensor.Shape{len(rows)}, values.Shape()[1:]...))
	if err != nil {
		return err
	}
	width := shapes.Count(values.Shape()[1:])
	for to, from := range rows {
		copyElements(out, values, to*width, int(from)*width, width)
	}
	return nil
}
