package xla

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of XlaDot and XlaDotV2.

// dot returns the preparation of products over some dimensions. The result has the batch
// dimensions first, then the others of the left and of the right input.
func dot(left, right string) func(n *engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		l, err := shape.ParseXlaNumbers("dimension_numbers", []byte(n.Attrs.String("dimension_numbers", "")))
		if err != nil {
			return nil, err
		}
		if len(l[1]) != len(l[2]) || len(l[3]) != len(l[4]) {
			return nil, fmt.Errorf("%s and %s have other numbers of contracted or batch dimensions", left, right)
		}
		preferred := n.Attrs.Type("preferred_element_type", tensor.Invalid)
		return func(c *engine.Call) error { return product(c, l, preferred) }, nil
	}
}

// The fields of dot_dimension_numbers.
const (
	leftContracted, rightContracted protowire.Number = 1, 2
	leftBatch, rightBatch           protowire.Number = 3, 4
)

// product multiplies inputs 0 and 1 by the dimension numbers l. The result has type preferred, or
// the inputs' if that is Invalid.
func product(c *engine.Call, l shape.XlaNumbers, preferred tensor.DType) error {
	if err := c.Need(2); err != nil {
		return err
	}
	a, b := c.In(0), c.In(1)
	d := preferred
	if d == tensor.Invalid {
		if d = a.DType(); b.DType() != d {
			return fmt.Errorf("the inputs' types differ: %v and %v", a.DType(), b.DType())
		}
	}
	if err := l.Check("left", len(a.Shape()), leftBatch, leftContracted); err != nil {
		return err
	}
	if err := l.Check("right", len(b.Shape()), rightBatch, rightContracted); err != nil {
		return err
	}
	freeA, freeB := others(len(a.Shape()), l[leftBatch], l[leftContracted]), others(len(b.Shape()), l[rightBatch], l[rightContracted])
	sizes := func(s tensor.Shape, list []int) tensor.Shape {
		out := make(tensor.Shape, len(list))
		for i, d := range list {
			out[i] = s[d]
		}
		return out
	}
	batch, over := sizes(a.Shape(), l[leftBatch]), sizes(a.Shape(), l[leftContracted])
	if !slices.Equal(batch, sizes(b.Shape(), l[rightBatch])) || !slices.Equal(over, sizes(b.Shape(), l[rightContracted])) {
		return fmt.Errorf("batch or contracted dimensions differ in size: %v and %v", a.Shape(), b.Shape())
	}
	rows, cols := sizes(a.Shape(), freeA), sizes(b.Shape(), freeB)
	out, err := c.Alloc(0, d, slices.Concat(batch, rows, cols))
	if err != nil || out.Len() == 0 {
		return err
	}
	if err := c.Afford(16 * int64(a.Len()+b.Len()+out.Len())); err != nil {
		return err
	}
	orderA, orderB := slices.Concat(l[leftBatch], freeA, l[leftContracted]), slices.Concat(l[rightBatch], freeB, l[rightContracted])
	m, n, k := shapes.Count(rows), shapes.Count(cols), shapes.Count(over)
	return multiply(c, out, permuted(a, orderA), permuted(b, orderB), shapes.Count(batch), m, n, k)
}

// others lists the dimensions below rank that are in none of the lists.
func others(rank int, lists ...[]int) []int {
	var out []int
	for d := range rank {
		if !slices.ContainsFunc(lists, func(l []int) bool { return slices.Contains(l, d) }) {
			out = append(out, d)
		}
	}
	return out
}

// permuted returns a view of a tensor with the dimensions in another order.
func permuted(t *tensor.Tensor, order []int) view {
	strides := shapes.Strides(t.Shape())
	v := view{t: t}
	for _, d := range order {
		v.dims, v.strides = append(v.dims, t.Shape()[d]), append(v.strides, strides[d])
	}
	return v
}

// view is a tensor with its dimensions in another order; strides are in elements.
type view struct {
	t       *tensor.Tensor
	dims    tensor.Shape
	strides []int
}

// gathered returns the elements of a view in its order.
func gathered[T any](v view, x []T) []T {
	out := make([]T, 0, len(x))
	if len(x) == 0 {
		return out
	}
	index := make([]int, len(v.dims))
	for {
		out = append(out, x[place(index, v.strides)])
		if !next(index, v.dims) {
			return out
		}
	}
}

// multiply computes a product of each batch: of rows of a and rows of b. It
// sums floats in double precision, integers as int64.
func multiply(c *engine.Call, out *tensor.Tensor, a, b view, batch, m, n, k int) error {
	switch {
	case out.DType().IsComplex():
		x, err := complexes(a.t)
		if err != nil {
			return err
		}
		y, err := complexes(b.t)
		if err != nil {
			return err
		}
		return storeComplexes(out, products(c, gathered(a, x), gathered(b, y), batch, m, n, k))
	case out.DType().IsInteger():
		x, err := a.t.Int64s()
		if err != nil {
			return err
		}
		y, err := b.t.Int64s()
		if err != nil {
			return err
		}
		return storeInts(out, products(c, gathered(a, x), gathered(b, y), batch, m, n, k))
	}
	x, err := a.t.Float64s()
	if err != nil {
		return err
	}
	y, err := b.t.Float64s()
	if err != nil {
		return err
	}
	return storeFloats(out, products(c, gathered(a, x), gathered(b, y), batch, m, n, k))
}

// products multiplies x of [batch, m, k] by y of [batch, n, k].
func products[T float64 | int64 | complex128](c *engine.Call, x, y []T, batch, m, n, k int) []T {
	out := engine.Zeroed[T](c, batch*m*n)
	c.Parallel(batch*m, float64(n*k), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := x[i*k : (i+1)*k]
			right := y[i/m*n*k : (i/m+1)*n*k]
			for j := range n {
				var sum T
				for p, v := range right[j*k : (j+1)*k] {
					sum += row[p] * v
				}
				out[i*n+j] = sum
			}
		}
	})
	return out
}
