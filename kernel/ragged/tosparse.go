package ragged

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of RaggedTensorToSparse.

// nested reads the splits in the inputs from at on, outermost first, for n
// values. levels[i] has one more element than its rows, as splits do.
func nested(c *engine.Call, at, count, n int) ([][]int64, error) {
	levels := make([][]int64, count)
	for i := count - 1; i >= 0; i-- {
		v, err := shapes.Ints(c.In(at+i), "the splits")
		if err != nil {
			return nil, err
		}
		if err := checkSplits(v, n); err != nil {
			return nil, err
		}
		levels[i], n = v, len(v)-1
	}
	return levels, nil
}

// toSparse returns the indices of a ragged tensor's values. The inputs are
// splits, outermost first, and values. The dense shape has the longest row of
// each level.
func toSparse(c *engine.Call) error {
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	count := c.NumIn() - 1
	if count < 1 || len(c.In(count).Shape()) < 1 {
		return fmt.Errorf("takes splits and values with rows")
	}
	values := c.In(count)
	levels, err := nested(c, 0, count, values.Shape()[0])
	if err != nil {
		return err
	}
	inner := values.Shape()[1:]
	rank := 1 + count + len(inner)
	if rank > tensor.MaxRank {
		return fmt.Errorf("there are %d dimensions", rank)
	}
	out, err := c.Alloc(0, tensor.Int64, tensor.Shape{values.Len(), rank})
	if err != nil {
		return err
	}
	dims := make([]int64, 0, rank)
	dims = append(dims, int64(len(levels[0])-1))
	for _, splits := range levels {
		longest := int64(0)
		for i := 1; i < len(splits); i++ {
			longest = max(longest, splits[i]-splits[i-1])
		}
		dims = append(dims, longest)
	}
	for _, d := range inner {
		dims = append(dims, int64(d))
	}
	at := tensor.Values[int64](out)
	where := make([]int, count) // the row of the value at each level
	width := shapes.Count(inner)
	for i := range values.Shape()[0] {
		k := int64(i)
		row := make([]int64, rank)
		for l := count - 1; l >= 0; l-- {
			splits := levels[l]
			for splits[where[l]+1] <= k {
				where[l]++
			}
			row[l+1] = k - splits[where[l]]
			k = int64(where[l])
		}
		row[0] = k
		for j := range width {
			to := at[(i*width+j)*rank:][:rank]
			copy(to, row)
			rest := j
			for d := len(inner) - 1; d >= 0; d-- {
				to[1+count+d] = int64(rest % inner[d])
				rest /= inner[d]
			}
		}
	}
	if err := c.Forward(1, count, tensor.Shape{values.Len()}); err != nil {
		return err
	}
	c.Set(2, tensor.Vector(dims...))
	return nil
}
