package sparse

import (
	"fmt"
	"slices"
	"sort"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of SparseReduceSum, SparseReduceMax and their forms with a sparse
// result.

// groups are sets of values of a sparse tensor, each of which is reduced to one
// value.
type groups struct {
	m     matrix
	keep  []int // the dimensions that stay
	order []int // the values, group by group
	ends  []int // end of each group in order
	dims  []int64
	at    func(group int) []int64 // indices of the value that a group is reduced to
}

// newGroups reads inputs 0 to 3, the last of which are the dimensions to reduce.
func newGroups(c *engine.Call) (*groups, error) {
	m, err := input(c, 0, 1, 2)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return nil, err
	}
	axes, err := shapes.Ints(c.In(3), "the dimensions")
	if err != nil {
		return nil, err
	}
	reduced := make([]bool, m.rank)
	for _, a := range axes {
		k, err := shape.Axis(a, m.rank)
		if err != nil {
			return nil, err
		}
		reduced[k] = true
	}
	g := &groups{m: m}
	keepDims := c.Attrs().Bool("keep_dims")
	for d, n := range m.shape {
		switch {
		case !reduced[d]:
			g.keep, g.dims = append(g.keep, d), append(g.dims, n)
		case keepDims:
			g.dims = append(g.dims, 1)
		}
	}
	g.order = make([]int, m.n)
	for i := range g.order {
		g.order[i] = i
	}
	compare := func(a, b int) int {
		for _, d := range g.keep {
			if x, y := m.row(a)[d], m.row(b)[d]; x != y {
				if x < y {
					return -1
				}
				return 1
			}
		}
		return 0
	}
	sort.SliceStable(g.order, func(a, b int) bool { return compare(g.order[a], g.order[b]) < 0 })
	for i := 1; i <= m.n; i++ {
		if i == m.n || compare(g.order[i-1], g.order[i]) != 0 {
			g.ends = append(g.ends, i)
		}
	}
	g.at = func(group int) []int64 {
		row := m.row(g.order[g.ends[group]-1])
		var out []int64
		if keepDims {
			out = make([]int64, m.rank)
			for _, d := range g.keep {
				out[d] = row[d]
			}
			return out
		}
		for _, d := range g.keep {
			out = append(out, row[d])
		}
		return out
	}
	return g, nil
}

// sumTypes returns the table of the sums, to a dense tensor or a sparse one.
func sumTypes(dense bool) elementwise.ByType {
	return withHalves(elementwise.ByType{
		tensor.Float32: reduceTo(dense, sumOf[float32]), tensor.Float64: reduceTo(dense, sumOf[float64]),
		tensor.Complex64: reduceTo(dense, sumOf[complex64]), tensor.Complex128: reduceTo(dense, sumOf[complex128]),
		tensor.Int8: reduceTo(dense, sumOf[int8]), tensor.Int16: reduceTo(dense, sumOf[int16]), tensor.Int32: reduceTo(dense, sumOf[int32]), tensor.Int64: reduceTo(dense, sumOf[int64]),
		tensor.Uint8: reduceTo(dense, sumOf[uint8]), tensor.Uint16: reduceTo(dense, sumOf[uint16]), tensor.Uint32: reduceTo(dense, sumOf[uint32]), tensor.Uint64: reduceTo(dense, sumOf[uint64]),
	}, []int{1}, []int{outValues(dense)})
}

// maxTypes returns the table of the largest values, to a dense tensor or a sparse
// one.
func maxTypes(dense bool) elementwise.ByType {
	return withHalves(elementwise.ByType{
		tensor.Float32: reduceTo(dense, maxOf[float32]), tensor.Float64: reduceTo(dense, maxOf[float64]),
		tensor.Int8: reduceTo(dense, maxOf[int8]), tensor.Int16: reduceTo(dense, maxOf[int16]), tensor.Int32: reduceTo(dense, maxOf[int32]), tensor.Int64: reduceTo(dense, maxOf[int64]),
		tensor.Uint8: reduceTo(dense, maxOf[uint8]), tensor.Uint16: reduceTo(dense, maxOf[uint16]), tensor.Uint32: reduceTo(dense, maxOf[uint32]), tensor.Uint64: reduceTo(dense, maxOf[uint64]),
	}, []int{1}, []int{outValues(dense)})
}

// outValues returns the output that has the values.
func outValues(dense bool) int {
	if dense {
		return 0
	}
	return 1
}

// sumOf adds the listed values in their order.
func sumOf[T numeric](v []T, which []int) T {
	var sum T
	for _, i := range which {
		sum += v[i]
	}
	return sum
}

// maxOf returns the largest of the listed values.
func maxOf[T ordered](v []T, which []int) T {
	out := v[which[0]]
	for _, i := range which[1:] {
		out = max(out, v[i])
	}
	return out
}

// reduceTo reduces each group of values by f. In a dense result, elements
// without values are zero.
func reduceTo[T numeric](dense bool, f func(v []T, which []int) T) elementwise.Func {
	return func(c *engine.Call) error {
		g, err := newGroups(c)
		if err != nil {
			return err
		}
		in := tensor.Values[T](g.m.values)
		var out []T
		var at []int64
		var strides []int
		if dense {
			dims := make(tensor.Shape, len(g.dims))
			for i, d := range g.dims {
				if dims[i] = int(d); int64(dims[i]) != d {
					return fmt.Errorf("the output has a dimension of %d", d)
				}
			}
			t, err := c.AllocZero(0, g.m.values.DType(), dims)
			if err != nil {
				return err
			}
			out, strides = tensor.Values[T](t), shapes.Strides(dims)
		}
		begin := 0
		for k, end := range g.ends {
			x := f(in, g.order[begin:end])
			begin = end
			if !dense {
				at, out = append(at, g.at(k)...), append(out, x)
				continue
			}
			place := 0
			for d, i := range g.at(k) {
				place += int(i) * strides[d]
			}
			out[place] = x
		}
		if dense {
			return nil
		}
		if err := setInts(c, 0, at, len(out), len(g.dims)); err != nil {
			return err
		}
		c.Set(1, tensor.Vector(out...))
		return setInts(c, 2, slices.Clone(g.dims), len(g.dims))
	}
}
