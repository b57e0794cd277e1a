package sparse

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of SparseToDense, SparseReshape, SparseReorder, SparseConcat and
// SparseSlice.

// toDense writes values to a dense tensor. The indices are a number, a vector,
// or a row for each value; one value may be written to all indices.
func toDense(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	in, values, def := c.In(0), c.In(2), c.In(3)
	dims, err := shapes.Dims(c.In(1), "the shape", 0)
	if err != nil {
		return err
	}
	at, err := shapes.AllInts(in, "the indices")
	if err != nil {
		return err
	}
	n, rank := 1, 1
	switch s := in.Shape(); len(s) {
	case 0:
	case 1:
		n = s[0]
	case 2:
		n, rank = s[0], s[1]
	default:
		return fmt.Errorf("the indices have shape %v", s)
	}
	if rank != len(dims) || len(values.Shape()) > 1 || len(values.Shape()) == 1 && values.Len() != n || values.DType() != def.DType() || def.Len() != 1 {
		return fmt.Errorf("indices of shape %v and values of shape %v fit no tensor of %d dimensions", in.Shape(), values.Shape(), len(dims))
	}
	out, err := c.Alloc(0, values.DType(), dims)
	if err != nil {
		return err
	}
	for i := range out.Len() {
		copyElements(out, def, i, 0, 1)
	}
	strides := shapes.Strides(dims)
	inOrder := !c.Attrs().Has("validate_indices") || c.Attrs().Bool("validate_indices")
	last := -1
	for i := range n {
		to := 0
		for d, k := range at[i*rank : (i+1)*rank] {
			if k < 0 || k >= int64(dims[d]) {
				return fmt.Errorf("the indices %v are outside of the shape %v", at[i*rank:(i+1)*rank], dims)
			}
			to += int(k) * strides[d]
		}
		if inOrder && to <= last {
			return fmt.Errorf("the indices %v repeat or are out of order", at[i*rank:(i+1)*rank])
		}
		last = to
		copyElements(out, values, to, min(i, values.Len()-1), 1)
	}
	return nil
}

// reshape returns the indices of the same elements in another shape, in which
// one size may be -1.
func reshape(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	in := c.In(0)
	from, err := shapes.Ints(c.In(1), "the shape")
	if err != nil {
		return err
	}
	want, err := shapes.Ints(c.In(2), "the new shape")
	if err != nil {
		return err
	}
	if len(in.Shape()) != 2 || in.DType() != tensor.Int64 || in.Shape()[1] != len(from) {
		return fmt.Errorf("the indices are %v%v, the shape has %d sizes", in.DType(), in.Shape(), len(from))
	}
	size, err := product(from)
	if err != nil {
		return err
	}
	to := slices.Clone(want)
	open, known := -1, []int64{}
	for i, d := range to {
		c.Step(i)
		switch {
		case d == -1 && open < 0:
			open = i
		case d < 0:
			return fmt.Errorf("the new shape is %v", want)
		default:
			known = append(known, d)
		}
	}
	rest, err := product(known)
	if err != nil {
		return err
	}
	if open >= 0 {
		if rest == 0 || size%rest != 0 {
			return fmt.Errorf("%d elements don't fill the shape %v", size, want)
		}
		to[open] = size / rest
	} else if rest != size {
		return fmt.Errorf("the shape %v takes %d elements, %v has %d", want, rest, from, size)
	}
	if slices.Equal(from, to) { // for any indices
		c.Pass(0, 0)
		return setInts(c, 1, to, len(to))
	}
	n := in.Shape()[0]
	at := tensor.Values[int64](in)
	out, err := c.Alloc(0, tensor.Int64, tensor.Shape{n, len(to)})
	if err != nil {
		return err
	}
	v := tensor.Values[int64](out)
	for i := range n {
		place := int64(0)
		for d, k := range at[i*len(from) : (i+1)*len(from)] {
			place = place*from[d] + k
		}
		for d := len(to) - 1; d >= 0; d-- {
			if to[d] == 0 {
				return fmt.Errorf("there are indices for no elements")
			}
			if d == 0 {
				v[i*len(to)] = place // unchanged, even outside of the shape
				break
			}
			v[i*len(to)+d] = place % to[d]
			place /= to[d]
		}
	}
	return setInts(c, 1, to, len(to))
}

// product multiplies sizes.
func product(s []int64) (int64, error) {
	n := int64(1)
	for _, d := range s {
		if d < 0 || d > 0 && n > math.MaxInt64/d {
			return 0, fmt.Errorf("the shape %v is no tensor's", s)
		}
		n *= d
	}
	return n, nil
}

// reorder sorts the values by their indices.
func reorder(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	m, err := input(c, 0, 1, 2)
	if err != nil {
		return err
	}
	return m.sorted(c)
}

// order returns the values in the order of their indices.
func (m *matrix) order() []int {
	order := make([]int, m.n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return slices.Compare(m.row(a), m.row(b)) })
	return order
}

// sorted sets outputs 0 and 1 to the indices and the values in order.
func (m *matrix) sorted(c *engine.Call) error {
	order := m.order()
	at := make([]int64, 0, len(m.at))
	for _, i := range order {
		at = append(at, m.row(i)...)
	}
	if err := setInts(c, 0, at, m.n, m.rank); err != nil {
		return err
	}
	return m.pick(c, 1, order)
}

// concat joins sparse tensors along a dimension.
func concat(n *engine.Node) (func(*engine.Call) error, error) {
	count := int(n.Attrs.Int("N", 0))
	return func(c *engine.Call) error {
		if err := c.Need(3 * count); err != nil {
			return err
		}
		if count < 1 || count > c.NumIn() {
			return fmt.Errorf("takes at least one tensor")
		}
		axis := c.Attrs().Int("concat_dim", 0)
		var all matrix
		var at [][]int64
		var from []int // the tensor of each value
		var place []int
		ms := make([]matrix, count)
		for i := range ms {
			m, err := input(c, i, count+i, 2*count+i)
			if err != nil {
				return err
			}
			ms[i] = m
			if i == 0 {
				if axis < 0 {
					axis += int64(m.rank)
				}
				if axis < 0 || axis >= int64(m.rank) {
					return fmt.Errorf("there is no dimension %d", axis)
				}
				all = matrix{rank: m.rank, shape: slices.Clone(m.shape)}
				all.shape[axis] = 0
			}
			if m.rank != all.rank || m.values.DType() != c.In(count).DType() {
				return fmt.Errorf("tensor %d has %d dimensions of %v", i, m.rank, m.values.DType())
			}
			for d := range m.shape {
				if int64(d) != axis && m.shape[d] != all.shape[d] {
					return fmt.Errorf("tensor %d has shape %v, the first %v", i, m.shape, ms[0].shape)
				}
			}
			for k := range m.n {
				row := slices.Clone(m.row(k))
				row[axis] += all.shape[axis]
				at, from, place = append(at, row), append(from, i), append(place, k)
			}
			if all.shape[axis] > math.MaxInt64-m.shape[axis] {
				return fmt.Errorf("the dimension overflows")
			}
			all.shape[axis] += m.shape[axis]
		}
		order := make([]int, len(at))
		for i := range order {
			order[i] = i
		}
		sort.SliceStable(order, func(a, b int) bool { return slices.Compare(at[order[a]], at[order[b]]) < 0 })
		values, err := c.Alloc(1, c.In(count).DType(), tensor.Shape{len(at)})
		if err != nil {
			return err
		}
		var flat []int64
		for to, i := range order {
			flat = append(flat, at[i]...)
			copyElements(values, ms[from[i]].values, to, place[i], 1)
		}
		if err := setInts(c, 0, flat, len(at), all.rank); err != nil {
			return err
		}
		return setInts(c, 2, all.shape, all.rank)
	}, nil
}

// slice returns a block.
func slice(c *engine.Call) error {
	if err := c.Need(5); err != nil {
		return err
	}
	m, err := input(c, 0, 1, 2)
	if err != nil {
		return err
	}
	start, err := shapes.Ints(c.In(3), "the start")
	if err != nil {
		return err
	}
	size, err := shapes.Ints(c.In(4), "the size")
	if err != nil {
		return err
	}
	if len(start) != m.rank || len(size) != m.rank {
		return fmt.Errorf("start has %d entries and size %d, for %d dimensions", len(start), len(size), m.rank)
	}
	dims := make([]int64, m.rank)
	for d := range dims {
		if start[d] < 0 || size[d] < 0 {
			return fmt.Errorf("start or size is negative in dimension %d (got %d and %d)", d, start[d], size[d])
		}
		dims[d] = max(0, min(size[d], m.shape[d]-start[d]))
	}
	var at []int64
	var kept []int
next:
	for i := range m.n {
		for d, k := range m.row(i) {
			if k < start[d] || k-start[d] >= size[d] {
				continue next
			}
		}
		kept = append(kept, i)
		for d, k := range m.row(i) {
			at = append(at, k-start[d])
		}
	}
	if err := setInts(c, 0, at, len(kept), m.rank); err != nil {
		return err
	}
	if err := m.pick(c, 1, kept); err != nil {
		return err
	}
	return setInts(c, 2, dims, m.rank)
}
