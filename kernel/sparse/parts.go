package sparse

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of SparseSplit and SparseSliceGrad.

// split cuts a sparse tensor along a dimension into parts. If the sizes can't
// be equal, the first parts are larger by one.
func split(n *engine.Node) (func(*engine.Call) error, error) {
	count := n.Attrs.Int("num_split", 1)
	return func(c *engine.Call) error {
		if err := c.Need(4); err != nil {
			return err
		}
		m, err := input(c, 1, 2, 3)
		if err == nil {
			err = m.check()
		}
		if err != nil {
			return err
		}
		axis, err := shapes.Int(c.In(0), "the dimension")
		if err != nil {
			return err
		}
		if axis < 0 {
			axis += int64(m.rank)
		}
		if axis < 0 || axis >= int64(m.rank) {
			return fmt.Errorf("there is no dimension %d of %d", axis, m.rank)
		}
		size := m.shape[axis]
		if count < 1 || count > size {
			return fmt.Errorf("a dimension of %d can't be split to %d", size, count)
		}
		each, more := size/count, size%count
		at := make([][]int64, count)
		kept := make([][]int, count)
		for i := range m.n {
			k := m.row(i)[axis]
			part := k / (each + 1)
			if part >= more {
				part = more + (k-more*(each+1))/each
			}
			row := slices.Clone(m.row(i))
			row[axis] -= part*each + min(part, more)
			at[part], kept[part] = append(at[part], row...), append(kept[part], i)
		}
		for p := range int(count) {
			shape := slices.Clone(m.shape)
			if shape[axis] = each; int64(p) < more {
				shape[axis]++
			}
			if err := setInts(c, p, at[p], len(kept[p]), m.rank); err != nil {
				return err
			}
			if err := m.pick(c, int(count)+p, kept[p]); err != nil {
				return err
			}
			if err := setInts(c, 2*int(count)+p, shape, m.rank); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// sliceGradTypes has sliceGrad by element type.
var sliceGradTypes = withHalves(elementwise.ByType{
	tensor.Float32: sliceGrad[float32], tensor.Float64: sliceGrad[float64], tensor.Complex64: sliceGrad[complex64], tensor.Complex128: sliceGrad[complex128],
	tensor.Int8: sliceGrad[int8], tensor.Int16: sliceGrad[int16], tensor.Int32: sliceGrad[int32], tensor.Int64: sliceGrad[int64],
	tensor.Uint8: sliceGrad[uint8], tensor.Uint16: sliceGrad[uint16], tensor.Uint32: sliceGrad[uint32], tensor.Uint64: sliceGrad[uint64],
}, []int{0}, []int{0})

// sliceGrad returns the gradients of the values of the whole tensor from those
// of a block. The gradients of values outside of the block are zero.
func sliceGrad[T numeric](c *engine.Call) error {
	grad, in, start, out := c.In(0), c.In(1), c.In(2), c.In(3)
	if len(grad.Shape()) != 1 || len(in.Shape()) != 2 || len(out.Shape()) != 2 || in.Shape()[1] != out.Shape()[1] ||
		start.Len() != in.Shape()[1] || len(start.Shape()) != 1 || grad.Len() != out.Shape()[0] ||
		in.DType() != tensor.Int64 || out.DType() != tensor.Int64 || start.DType() != tensor.Int64 {
		return fmt.Errorf("gradients of shape %v, indices of %v and %v and a start of %v don't fit", grad.Shape(), in.Shape(), out.Shape(), start.Shape())
	}
	rank := start.Len()
	whole := matrix{n: in.Shape()[0], rank: rank, at: tensor.Values[int64](in)}
	block := matrix{n: out.Shape()[0], rank: rank, at: tensor.Values[int64](out)}
	from, dy := tensor.Values[int64](start), tensor.Values[T](grad)
	t, err := c.AllocZero(0, grad.DType(), tensor.Shape{whole.n})
	if err != nil {
		return err
	}
	v := tensor.Values[T](t)
	j := 0
next:
	for i := 0; i < whole.n && j < block.n; i++ {
		for d, k := range whole.row(i) {
			if k != block.row(j)[d]+from[d] {
				continue next
			}
		}
		v[i] = dy[j]
		j++
	}
	if j < block.n {
		return fmt.Errorf("the values of the block from %d on are not in the whole", j)
	}
	return nil
}
