package array

import (
	"encoding/binary"
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/parts"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// uniqueAlong sets output 0 to the different slices of a tensor along an axis.
// Output 1 is the index of each slice there. Output 2, if the op has one, is
// the number of occurrences of each. It is the kernel of UniqueV2 and
// UniqueWithCountsV2. Slices are in the order of their first occurrences. A
// slice with a NaN equals no other one.
func uniqueAlong(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	axes, err := shapes.Ints(c.In(1), "the axis")
	if err != nil {
		return err
	}
	axis := 0
	switch {
	case len(axes) > 1:
		return fmt.Errorf("takes one axis, not %d", len(axes))
	case len(axes) == 1:
		if axis, err = shape.Axis(axes[0], len(s)); err != nil {
			return err
		}
	case len(s) != 1:
		return fmt.Errorf("takes a vector where no axis is named, not a tensor of shape %v", s)
	}
	outer, n, inner := shapes.Count(s[:axis]), s[axis], shapes.Count(s[axis+1:])
	at := make(map[string]int64, n)
	place := make([]int64, n)
	var first []int
	var counts []int64
	var key []byte
	for i := range n {
		key = key[:0]
		whole := true
		for o := range outer {
			for k := range inner {
				c.Step((i*outer+o)*inner + k)
				e := elementKey(x, (o*n+i)*inner+k)
				whole = whole && !isNaN(x, (o*n+i)*inner+k)
				if x.DType() == tensor.String {
					// so that strings can't join to the same key
					key = binary.AppendUvarint(key, uint64(len(e)))
				}
				key = append(key, e...)
				if len(e) >= 1<<12 {
					c.Check()
				}
			}
		}
		j, ok := at[string(key)]
		if !ok || !whole {
			j = int64(len(first))
			at[string(key)] = j
			first, counts = append(first, i), append(counts, 0)
		}
		place[i] = j
		counts[j]++
	}
	dims := s.Clone()
	dims[axis] = len(first)
	out, err := c.Alloc(0, x.DType(), dims)
	if err != nil {
		return err
	}
	for o := range outer {
		for k, i := range first {
			parts.Copy(out, x, (o*len(first)+k)*inner, (o*n+i)*inner, inner)
		}
	}
	if err := putPlaces(c, 1, place); err != nil || c.Op() != "UniqueWithCountsV2" {
		return err
	}
	return putPlaces(c, 2, counts)
}
