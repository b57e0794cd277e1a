package data

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/variant"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of DenseToSparseBatchDataset and SparseTensorSliceDataset.

// sparseElement returns a sparse tensor as datasets have it: three variants, of
// its indices, its values and its shape.
func sparseElement(indices, values, shape *tensor.Tensor) element {
	h := &engine.Handles{Shape: tensor.Shape{3}}
	for _, t := range []*tensor.Tensor{indices, values, shape} {
		h.Items = append(h.Items, &variant.Tensor{Value: t})
	}
	return element{engine.HandleOf(h)}
}

// denseToSparse makes sparse batches of dense elements of one rank, each of which
// fits into the row shape.
func denseToSparse(c *engine.Call) error {
	in, n, err := datasetInBatches(c)
	if err != nil {
		return err
	}
	limits, err := shapes.Ints(c.In(2), "the row shape")
	if err != nil {
		return err
	}
	limits = slices.Clone(limits)
	if len(in.types) > 1 {
		return fmt.Errorf("takes elements of one component, not of %d", len(in.types))
	}
	c.SetObject(0, of(c, batches(in.size, n, false), inBatches(in, n, false, func(c *engine.Call, es []element) (element, error) {
		return joinSparse(c, es, limits)
	})))
	return nil
}

// joinSparse returns a sparse tensor whose row i is element i; a limit of -1
// means the largest size among them.
func joinSparse(c *engine.Call, es []element, limits []int64) (element, error) {
	dense := []int64{int64(len(es))}
	dense = append(dense, limits...)
	total := 0
	for _, e := range es {
		if len(e) != 1 {
			return nil, fmt.Errorf("takes elements of one component, not of %d", len(e))
		}
		t := e[0].Tensor
		if t == nil {
			return nil, fmt.Errorf("an element is no tensor")
		}
		s := t.Shape()
		if len(s) != len(limits) {
			return nil, fmt.Errorf("an element has shape %v, the row shape is %v", s, limits)
		}
		for i, k := range s {
			switch {
			case limits[i] == -1:
				dense[i+1] = max(dense[i+1], int64(k))
			case int64(k) > limits[i]:
				return nil, fmt.Errorf("an element of shape %v doesn't fit into the row shape %v", s, limits)
			}
		}
		total += t.Len()
	}
	rank := len(dense)
	if err := c.Afford(int64(total) * int64(rank) * 8); err != nil {
		return nil, err
	}
	at := make([]int64, 0, total*rank)
	for i, e := range es {
		s := e[0].Tensor.Shape()
		index := make([]int, len(s))
		for range e[0].Tensor.Len() {
			at = append(at, int64(i))
			for _, k := range index {
				at = append(at, int64(k))
			}
			for d := len(s) - 1; d >= 0; d-- {
				if index[d]++; index[d] < s[d] {
					break
				}
				index[d] = 0
			}
		}
	}
	indices, err := tensor.Vector(at...).Reshape(total, rank)
	if err != nil {
		return nil, err
	}
	values, err := flat(es)
	if err != nil {
		return nil, err
	}
	return sparseElement(indices, values, tensor.Vector(dense...)), nil
}

// flat returns the values of elements of one component, one after the other.
func flat(es []element) (*tensor.Tensor, error) {
	d := es[0][0].Tensor.DType()
	var raw []byte
	var strs []string
	for _, e := range es {
		if d.Fixed() {
			raw = append(raw, e[0].Tensor.Bytes()...)
		} else {
			strs = append(strs, e[0].Tensor.Strings()...)
		}
	}
	if d.Fixed() {
		return tensor.FromBytes(d, raw, len(raw)/d.Size())
	}
	return tensor.FromStrings(d, strs, len(strs))
}

// sparseSlices makes a dataset of the rows of a sparse tensor, whose indices have
// to rise.
func sparseSlices(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	indices, values := c.In(0), c.In(1)
	dims, err := shapes.Ints(c.In(2), "the dense shape")
	if err != nil {
		return err
	}
	s := indices.Shape()
	if indices.DType() != tensor.Int64 || len(s) != 2 || s[1] != len(dims) || len(values.Shape()) != 1 || values.Len() != s[0] || len(dims) == 0 {
		return fmt.Errorf("indices %v%v, values %v and a shape of %d sizes make no sparse tensor", indices.DType(), s, values.Shape(), len(dims))
	}
	at := tensor.Values[int64](indices)
	rank, last := s[1], int64(0)
	for i := range s[0] {
		for d, k := range at[i*rank : (i+1)*rank] {
			if k < 0 || k >= dims[d] {
				return fmt.Errorf("index %v is outside of the shape %v", at[i*rank:(i+1)*rank], dims)
			}
		}
		if i > 0 && slices.Compare(at[(i-1)*rank:i*rank], at[i*rank:(i+1)*rank]) >= 0 {
			return fmt.Errorf("the indices don't rise at %d", i)
		}
		last = at[i*rank]
	}
	if dims[0] < 0 || last >= dims[0] {
		return fmt.Errorf("there are %d rows", dims[0])
	}
	x := &sparseRows{rows: dims[0], rank: rank, at: slices.Clone(at), values: values.Clone(), shape: tensor.Vector(dims[1:]...)}
	c.SetObject(0, &Dataset{source: x, size: dims[0], types: []tensor.DType{tensor.Int64, values.DType(), tensor.Int64},
		shapes: []graph.PartialShape{graph.ShapeOf(-1, rank-1), graph.ShapeOf(-1), graph.ShapeOf(rank - 1)}})
	return nil
}

// sparseRows are the rows of a sparse tensor.
type sparseRows struct {
	rows   int64
	rank   int
	at     []int64
	values *tensor.Tensor
	shape  *tensor.Tensor // of a row
}

func (x *sparseRows) iterate(*engine.Call, int) (iterator, error) {
	row, next := int64(0), 0
	return iteratorFunc(func(*engine.Call) (element, bool, error) {
		if row >= x.rows {
			return nil, false, nil
		}
		from := next
		var at []int64
		for ; next < x.values.Len() && x.at[next*x.rank] == row; next++ {
			at = append(at, x.at[next*x.rank+1:(next+1)*x.rank]...)
		}
		row++
		indices, err := tensor.Vector(at...).Reshape(next-from, x.rank-1)
		if err != nil {
			return nil, false, err
		}
		values, err := part(x.values, from, next)
		return element{engine.ValueOf(indices), engine.ValueOf(values), engine.ValueOf(x.shape)}, err == nil, err
	}), nil
}

// part returns the elements [from, to) of a vector.
func part(t *tensor.Tensor, from, to int) (*tensor.Tensor, error) {
	d := t.DType()
	if d.Fixed() {
		return tensor.FromBytes(d, t.Bytes()[from*d.Size():to*d.Size()], to-from)
	}
	return tensor.FromStrings(d, t.Strings()[from:to], to-from)
}
