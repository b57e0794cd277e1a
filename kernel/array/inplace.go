package array

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/scatter"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of InplaceUpdate, InplaceAdd, InplaceSub, Empty, DeepCopy,
// TileGrad, ToBool and Fact.

// inplace returns the ops that change rows of a tensor in place: input 0 is the
// tensor, input 1 a vector of row indices or one index, input 2 the rows. They
// change a copy if the tensor has other readers. An index beyond either end
// wraps around, as in TensorFlow.
func inplace(h scatter.How) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := c.Need(3); err != nil {
			return err
		}
		x, rows := c.In(0), c.In(2)
		if x.DType() != rows.DType() {
			return fmt.Errorf("the tensor is %v, the rows %v", x.DType(), rows.DType())
		}
		index, err := shapes.AllInts(c.In(1), "the indices")
		if err != nil {
			return err
		}
		s := x.Shape()
		switch {
		case len(s) == 0 || len(c.In(1).Shape()) > 1 || len(rows.Shape()) != len(s)-1+len(c.In(1).Shape()):
			return fmt.Errorf("rows of shape %v at indices of shape %v don't fit a tensor of shape %v", rows.Shape(), c.In(1).Shape(), s)
		case !rows.Shape()[len(c.In(1).Shape()):].Equal(s[1:]), len(c.In(1).Shape()) == 1 && rows.Shape()[0] != len(index):
			return fmt.Errorf("rows of shape %v at %d indices don't fit a tensor of shape %v", rows.Shape(), len(index), s)
		case s[0] == 0 && len(index) > 0:
			return fmt.Errorf("the tensor has no rows")
		}
		out, err := copyOf(c)
		if err != nil || out.Len() == 0 || len(index) == 0 {
			return err
		}
		n := shapes.Count(s[1:])
		at := make([]int, len(index))
		for i, k := range index {
			at[i] = int((k%int64(s[0])+int64(s[0]))%int64(s[0])) * n
		}
		return scatter.To(c, out, at, n, tensor.Must(rows.Reshape(len(index), n)), h)
	}
}

// empty returns a tensor of zeros. TensorFlow allows any contents if the
// attribute init is false.
func empty(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	dims, err := shapes.Dims(c.In(0), "the shape", 0)
	if err != nil {
		return err
	}
	_, err = c.AllocZero(0, c.Attrs().Type("dtype", tensor.Float32), dims)
	return err
}

// deepCopy returns a copy of input 0.
func deepCopy(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	_, err := copyOf(c)
	return err
}

// tileGrad sums the elements that Tile has repeated.
func tileGrad(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	x := c.In(0)
	by, err := shapes.Ints(c.In(1), "the list of multiples")
	if err != nil {
		return err
	}
	s := x.Shape()
	dims, err := shape.TileGrad(s, by)
	if err != nil {
		return err
	}
	out, err := c.AllocZero(0, x.DType(), dims)
	if err != nil {
		return err
	}
	strides := shapes.Strides(dims)
	at := engine.Zeroed[int](c, x.Len())
	for i := range at {
		c.Step(i)
		for d, k := len(s)-1, i; d >= 0; d-- {
			at[i] += k % s[d] % dims[d] * strides[d]
			k /= s[d]
		}
	}
	return addParts(c, out, x, at, 1)
}

// toBool reports whether a scalar is not zero, a string is not empty, or a
// tensor of another shape has elements.
func toBool(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	x := c.In(0)
	yes := x.Len() > 0
	switch {
	case len(x.Shape()) > 0:
	case !x.DType().Fixed():
		yes = x.Strings()[0] != ""
	case allZeroFloat(x, 0):
		yes = false
	default:
		yes = slices.ContainsFunc(x.Bytes(), func(b byte) bool { return b != 0 })
	}
	c.Set(0, tensor.Scalar(yes))
	return nil
}

// fact returns the one string that TensorFlow's op returns.
func fact(c *engine.Call) error {
	c.Set(0, tensor.Must(tensor.FromStrings(tensor.String, []string{"0! == 1"})))
	return nil
}
