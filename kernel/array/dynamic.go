package array

import (
	"fmt"
	"math"
	"sort"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/parts"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of ConcatOffset, Gather, DynamicStitch, ParallelDynamicStitch,
// DynamicPartition, Diag, DiagPart, ListDiff and Bucketize. The rows of a
// tensor are its parts along the leading dimensions, those of the indices'
// shape. A later row overwrites an earlier one: TensorFlow's order of
// DynamicStitch.

// concatOffset returns the offset of each of some tensors in their
// concatenation.
func concatOffset(c *engine.Call) error {
	if c.NumIn() < 2 {
		return fmt.Errorf("takes an axis and at least one shape")
	}
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	for k := 2; k < c.NumIn(); k++ {
		if a, b := c.In(1).DType(), c.In(k).DType(); a != b {
			return fmt.Errorf("shape %d is %v, the first %v", k-1, b, a)
		}
	}
	i, err := shapes.Int(c.In(0), "the axis")
	if err != nil {
		return err
	}
	first, err := shapes.Ints(c.In(1), "the first shape")
	if err != nil {
		return err
	}
	rank := int64(len(first))
	if i < 0 {
		i += rank
	}
	if i < 0 || i >= rank {
		return fmt.Errorf("the axis is outside of shapes of %d sizes", rank)
	}
	at := int64(0)
	for k := 1; k < c.NumIn(); k++ {
		s, err := shapes.Ints(c.In(k), "a shape")
		if err != nil {
			return err
		}
		if len(s) != len(first) {
			return fmt.Errorf("shape %d has %d sizes, the first %d", k-1, len(s), len(first))
		}
		for d := range s {
			if s[d] != first[d] && int64(d) != i {
				return fmt.Errorf("shape %d is %v, the first %v: they differ in another axis than %d", k-1, s, first, i)
			}
		}
		out, err := c.AllocZero(k-1, c.In(k).DType(), c.In(k).Shape())
		if err != nil {
			return err
		}
		if out.DType() == tensor.Int32 {
			tensor.Values[int32](out)[i] = int32(at)
		} else {
			tensor.Values[int64](out)[i] = at
		}
		at += s[i]
	}
	return nil
}

// gatherRows runs GatherV2 along the first axis.
func gatherRows(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	x, indices := c.In(0), c.In(1)
	if len(x.Shape()) < 1 {
		return fmt.Errorf("there are no rows in a scalar")
	}
	at, err := shapes.AllInts(indices, "the indices")
	if err != nil {
		return err
	}
	n, row := int64(x.Shape()[0]), shapes.Count(x.Shape()[1:])
	for _, k := range at {
		if k < 0 || k >= n {
			return fmt.Errorf("index %d is outside of [0, %d)", k, n)
		}
	}
	out, err := c.Alloc(0, x.DType(), append(indices.Shape().Clone(), x.Shape()[1:]...))
	if err != nil {
		return err
	}
	for i, k := range at {
		parts.Copy(out, x, i*row, int(k)*row, row)
	}
	return nil
}

// dynamicStitch copies the rows of tensors to the rows that their indices name;
// later ones overwrite earlier ones.
func dynamicStitch(c *engine.Call) error {
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	n := c.NumIn() / 2
	if n < 1 || c.NumIn()%2 != 0 {
		return fmt.Errorf("takes as many tensors as indices, and at least one")
	}
	indices := make([][]int64, n)
	most := int64(-1)
	var rest tensor.Shape
	for i := range n {
		idx, x := c.In(i), c.In(n+i)
		var err error
		if indices[i], err = shapes.AllInts(idx, "the indices"); err != nil {
			return err
		}
		for _, k := range indices[i] {
			if k < 0 {
				return fmt.Errorf("index %d is below 0", k)
			}
			most = max(most, k)
		}
		r := len(idx.Shape())
		if len(x.Shape()) < r || !x.Shape()[:r].Equal(idx.Shape()) {
			return fmt.Errorf("tensor %d has shape %v, which doesn't begin with its indices' %v", i, x.Shape(), idx.Shape())
		}
		inner := x.Shape()[r:]
		if i > 0 && (!inner.Equal(rest) || x.DType() != c.In(n).DType()) {
			return fmt.Errorf("the rows of tensor %d are %v%v, the first one's %v%v", i, x.DType(), inner, c.In(n).DType(), rest)
		}
		rest = inner
	}
	out, err := c.Alloc(0, c.In(n).DType(), append(tensor.Shape{int(most + 1)}, rest...))
	if err != nil {
		return err
	}
	clear(out.Bytes()) // for rows that no index names
	row := shapes.Count(rest)
	for i, list := range indices {
		for k, to := range list {
			parts.Copy(out, c.In(n+i), int(to)*row, k*row, row)
		}
	}
	return nil
}

// maxPartitions bounds the outputs of a node. TensorFlow has no bound; this one
// is Cairn's and may change.
const maxPartitions = 1 << 16

// dynamicPartition distributes the rows of a tensor to partitions.
func dynamicPartition(n *engine.Node) (func(*engine.Call) error, error) {
	count := n.Attrs.Int("num_partitions", 0)
	if count < 1 || count > maxPartitions {
		return nil, fmt.Errorf("there are %d partitions", count)
	}
	return func(c *engine.Call) error {
		if err := c.Need(2); err != nil {
			return err
		}
		x, p := c.In(0), c.In(1)
		r := len(p.Shape())
		if len(x.Shape()) < r || !x.Shape()[:r].Equal(p.Shape()) {
			return fmt.Errorf("the data has shape %v, which doesn't begin with the partitions' %v", x.Shape(), p.Shape())
		}
		ids, err := shapes.AllInts(p, "the partitions")
		if err != nil {
			return err
		}
		counts := make([]int, count)
		for _, id := range ids {
			if id < 0 || id >= count {
				return fmt.Errorf("partition %d is outside of [0, %d)", id, count)
			}
			counts[id]++
		}
		out := make([]*tensor.Tensor, count)
		for i, n := range counts {
			if out[i], err = c.Alloc(i, x.DType(), append(tensor.Shape{n}, x.Shape()[r:]...)); err != nil {
				return err
			}
		}
		row := shapes.Count(x.Shape()[r:])
		clear(counts)
		for k, id := range ids {
			parts.Copy(out[id], x, counts[id]*row, k*row, row)
			counts[id]++
		}
		return nil
	}, nil
}

// diagPart returns the diagonal of a tensor of k+k dimensions, whose first k sizes
// equal the others, as a tensor of k dimensions. That of a scalar is the scalar.
func diagPart(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	k := len(s) / 2
	if len(s)%2 != 0 || !s[:k].Equal(s[k:]) {
		return fmt.Errorf("a tensor of shape %v has no diagonal", s)
	}
	out, err := c.Alloc(0, x.DType(), s[:k])
	if err != nil {
		return err
	}
	n := out.Len()
	for i := range n {
		parts.Copy(out, x, i, i*n+i, 1)
	}
	return nil
}

// diag returns zeros with a tensor on the diagonal.
func diag(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	x := c.In(0)
	if 2*len(x.Shape()) > tensor.MaxRank || len(x.Shape()) == 0 {
		return fmt.Errorf("a tensor of shape %v makes no diagonal", x.Shape())
	}
	out, err := c.Alloc(0, x.DType(), append(x.Shape().Clone(), x.Shape()...))
	if err != nil {
		return err
	}
	clear(out.Bytes())
	n := x.Len()
	for i := range n {
		parts.Copy(out, x, i*n+i, i, 1)
	}
	return nil
}

// listDiff returns the elements of a vector that another one lacks, and their
// indices. A NaN equals no element, so it stays in the result.
func listDiff(c *engine.Call) error {
	if err := sameTypes(c, 2); err != nil {
		return err
	}
	if err := c.Need(2); err != nil {
		return err
	}
	x, y := c.In(0), c.In(1)
	if len(x.Shape()) != 1 || len(y.Shape()) != 1 {
		return fmt.Errorf("takes two vectors, not %v and %v", x.Shape(), y.Shape())
	}
	has := make(map[string]bool, y.Len())
	for i := range y.Len() {
		c.Step(i)
		has[string(elementKey(y, i))] = true
	}
	var places []int64
	for i := range x.Len() {
		c.Step(i)
		if !has[string(elementKey(x, i))] || isNaN(x, i) {
			places = append(places, int64(i))
		}
	}
	out, err := c.Alloc(0, x.DType(), tensor.Shape{len(places)})
	if err != nil {
		return err
	}
	for k, i := range places {
		parts.Copy(out, x, k, int(i), 1)
	}
	idx, err := tensor.Cast(tensor.Vector(places...), c.Attrs().Type("out_idx", tensor.Int32))
	if err == nil {
		c.Set(1, idx)
	}
	return err
}

// elementKey returns element i of t as bytes. Equal elements have the same
// bytes, also 0 and -0 of float32 and float64. In half precision 0 and -0 differ,
// as in TensorFlow.
func elementKey(t *tensor.Tensor, i int) []byte {
	switch t.DType() {
	case tensor.String:
		return []byte(t.Strings()[i])
	case tensor.Float32:
		if tensor.Values[float32](t)[i] == 0 {
			return make([]byte, 4)
		}
	case tensor.Float64:
		if tensor.Values[float64](t)[i] == 0 {
			return make([]byte, 8)
		}
	}
	n := t.DType().Size()
	return t.Bytes()[i*n : (i+1)*n]
}

// isNaN reports whether element i is NaN. A NaN equals no element.
func isNaN(t *tensor.Tensor, i int) bool {
	switch t.DType() {
	case tensor.Float32:
		return tensor.Values[float32](t)[i] != tensor.Values[float32](t)[i]
	case tensor.Float64:
		return tensor.Values[float64](t)[i] != tensor.Values[float64](t)[i]
	case tensor.Float16:
		v := tensor.Values[tensor.F16](t)[i].Float()
		return v != v
	case tensor.BFloat16:
		v := tensor.Values[tensor.BF16](t)[i].Float()
		return v != v
	}
	return false
}

// bucketize returns the number of the interval between boundaries that each
// number is in. As in TensorFlow, the boundaries are float32 and integers are
// compared as float32.
func bucketize(n *engine.Node) (func(*engine.Call) error, error) {
	given := n.Attrs.Floats("boundaries")
	bounds := make([]float32, len(given))
	for i, b := range given {
		if bounds[i] = float32(b); i > 0 && bounds[i] < bounds[i-1] {
			return nil, fmt.Errorf("the boundaries fall from %v to %v", bounds[i-1], bounds[i])
		}
	}
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		x := c.In(0)
		switch x.DType() {
		case tensor.Int32, tensor.Int64, tensor.Float32, tensor.Float64:
		default:
			return fmt.Errorf("isn't defined for %v", x.DType())
		}
		out, err := c.Alloc(0, tensor.Int32, x.Shape())
		if err != nil {
			return err
		}
		place := func(below func(b float32) bool) int32 {
			return int32(sort.Search(len(bounds), func(k int) bool { return below(bounds[k]) }))
		}
		v := tensor.Values[int32](out)
		one := func(i int) {
			switch x.DType() {
			case tensor.Int32:
				y := float32(tensor.Values[int32](x)[i])
				v[i] = place(func(b float32) bool { return y < b })
			case tensor.Int64:
				y := float32(tensor.Values[int64](x)[i])
				v[i] = place(func(b float32) bool { return y < b })
			case tensor.Float32:
				y := tensor.Values[float32](x)[i]
				v[i] = place(func(b float32) bool { return y < b })
			case tensor.Float64:
				y := tensor.Values[float64](x)[i]
				v[i] = place(func(b float32) bool { return y < float64(b) })
			}
		}
		c.Parallel(len(v), 10+5*math.Log2(float64(len(bounds)+1)), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				one(i)
			}
		})
		return nil
	}, nil
}
