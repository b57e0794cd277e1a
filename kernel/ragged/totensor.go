package ragged

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of RaggedTensorToTensor.

// toTensor makes a dense tensor of rows of different lengths: it pads shorter
// ones and cuts longer ones. The inputs are:
//
//   - a shape: a vector of one size for each dimension, of which -1 is as large
//     as needed, or the scalar -1,
//   - values of shape [N, …],
//   - a default that broadcasts to the shape of one value,
//   - a tensor for each of row_partition_types, the outermost first.
//
// FIRST_DIM_SIZE is the number of rows, ROW_SPLITS are the rows' borders, and
// VALUE_ROWIDS has the row of each value.
func toTensor(n *engine.Node) (func(*engine.Call) error, error) {
	types := n.Attrs.Strings("row_partition_types")
	for i, t := range types {
		if t != "ROW_SPLITS" && t != "VALUE_ROWIDS" && (t != "FIRST_DIM_SIZE" || i > 0) {
			return nil, fmt.Errorf("partition %d is of type %q, not ROW_SPLITS, VALUE_ROWIDS or, as the first, FIRST_DIM_SIZE", i, t)
		}
	}
	if len(types) == 0 || len(types) == 1 && types[0] == "FIRST_DIM_SIZE" || len(types) > 1 && types[0] == "VALUE_ROWIDS" || len(types) == 1 && types[0] == "VALUE_ROWIDS" {
		return nil, fmt.Errorf("the partitions %q don't define the number of rows", types)
	}
	return func(c *engine.Call) error {
		if err := c.Need(3 + len(types)); err != nil {
			return err
		}
		levels, rows, err := partitions(c, types)
		if err != nil {
			return err
		}
		return dense(c, levels, rows)
	}, nil
}

// partitions returns the splits of each level, outermost first, and the number
// of rows of the outermost one.
func partitions(c *engine.Call, types []string) (levels [][]int64, rows int, err error) {
	rows = -1
	for i, t := range types {
		v, err := shapes.AllInts(c.In(3+i), "a partition")
		if err != nil {
			return nil, 0, err
		}
		parents := rows
		if len(levels) > 0 {
			last := levels[len(levels)-1]
			parents = int(last[len(last)-1])
		}
		switch t {
		case "FIRST_DIM_SIZE":
			if len(v) != 1 || v[0] < 0 || v[0] >= math.MaxInt/8 {
				return nil, 0, fmt.Errorf("the number of rows is %v", v)
			}
			if err := c.Afford(8 * v[0]); err != nil {
				return nil, 0, err
			}
			rows = int(v[0])
			continue
		case "VALUE_ROWIDS":
			if v, err = splitsOf(c, v, parents); err != nil {
				return nil, 0, err
			}
		default:
			if len(v) == 0 {
				return nil, 0, fmt.Errorf("partition %d has no splits", i)
			}
			if err := checkSplits(v, int(v[len(v)-1])); err != nil {
				return nil, 0, err
			}
			if parents >= 0 && len(v)-1 != parents {
				return nil, 0, fmt.Errorf("partition %d has %d rows, not %d", i, len(v)-1, parents)
			}
		}
		if rows < 0 {
			rows = len(v) - 1
		}
		levels = append(levels, v)
	}
	return levels, rows, nil
}

// splitsOf returns the splits of rows, from the number of each value's row.
func splitsOf(c *engine.Call, ids []int64, rows int) ([]int64, error) {
	if rows < 0 || rows >= math.MaxInt/8 {
		return nil, fmt.Errorf("there are %d rows", rows)
	}
	c.Fits(rows+1, 8)
	splits := make([]int64, rows+1)
	for i, id := range ids {
		if id < 0 || id >= int64(rows) || i > 0 && id < ids[i-1] {
			return nil, fmt.Errorf("value %d belongs to row %d of %d", i, id, rows)
		}
		splits[id+1]++
	}
	for i := range rows {
		splits[i+1] += splits[i]
	}
	return splits, nil
}

// dense makes the output. Its dimensions are the rows, one for each level, and
// those of a value.
func dense(c *engine.Call, levels [][]int64, rows int) error {
	values, def := c.In(1), c.In(2)
	if len(values.Shape()) < 1 || def.DType() != values.DType() {
		return fmt.Errorf("values of %v%v and a default of %v", values.DType(), values.Shape(), def.DType())
	}
	inner := values.Shape()[1:]
	if last := levels[len(levels)-1]; last[len(last)-1] != int64(values.Shape()[0]) {
		return fmt.Errorf("the partitions are of %d values, there are %d", last[len(last)-1], values.Shape()[0])
	}
	dims := tensor.Shape{rows}
	for _, splits := range levels {
		longest := int64(0)
		for i := 1; i < len(splits); i++ {
			longest = max(longest, splits[i]-splits[i-1])
		}
		dims = append(dims, int(longest))
	}
	dims = append(dims, inner...)
	want, err := shapes.Ints(c.In(0), "the shape")
	if err != nil {
		return err
	}
	if len(c.In(0).Shape()) == 1 {
		if len(want) != len(dims) {
			return fmt.Errorf("the shape %v doesn't have %d sizes", want, len(dims))
		}
		for i, d := range want {
			switch {
			case d < -1 || d != int64(int(d)), i > len(levels) && d >= 0 && d != int64(dims[i]):
				return fmt.Errorf("the shape %v doesn't fit values of shape %v", want, values.Shape())
			case d >= 0:
				dims[i] = int(d)
			}
		}
	} else if want[0] != -1 {
		return fmt.Errorf("the shape is the scalar %d, not -1", want[0])
	}
	if err := shape.BroadcastTo(def.Shape(), inner); err != nil {
		return fmt.Errorf("the default: %w", err)
	}
	out, err := c.Alloc(0, values.DType(), dims)
	if err != nil {
		return err
	}
	width := shapes.Count(inner)
	fill(c, out, def, inner)
	at := engine.Zeroed[int](c, len(levels[0])-1) // start of each row's part of the output; -1: the row is cut
	for i := range at {
		if at[i] = i; i >= dims[0] {
			at[i] = -1
		}
	}
	for l, splits := range levels {
		next := engine.Zeroed[int](c, int(splits[len(splits)-1]))
		size := dims[l+1]
		for r, base := range at {
			c.Step(r)
			for k := splits[r]; k < splits[r+1]; k++ {
				c.Step(int(k))
				if j := int(k - splits[r]); base >= 0 && j < size {
					next[k] = base*size + j
				} else {
					next[k] = -1
				}
			}
		}
		at = next
	}
	for i, to := range at {
		c.Step(i)
		if to >= 0 {
			copyElements(out, values, to*width, i*width, width)
		}
	}
	return nil
}

// fill writes the default, broadcast to the shape of a value, to all elements.
func fill(c *engine.Call, out, def *tensor.Tensor, inner tensor.Shape) {
	width := shapes.Count(inner)
	if width == 0 {
		return
	}
	strides := shapes.BroadcastStrides(def.Shape(), inner)
	for i := range out.Len() {
		c.Step(i)
		from, k := 0, i%width
		for d := len(inner) - 1; d >= 0; d-- {
			from += k % inner[d] * strides[d]
			k /= inner[d]
		}
		copyElements(out, def, i, from, 1)
	}
}
