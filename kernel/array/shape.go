package array

import (
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of ops that read or change shapes: Identity, StopGradient,
// Snapshot, EnsureShape, Shape, ShapeN, Size, Rank, Reshape, ExpandDims,
// Squeeze, BroadcastArgs and BroadcastGradientArgs. Those of Transpose,
// ConjugateTranspose and BroadcastTo move elements, too.

func identity(c *engine.Call) error {
	if c.NumIn() != 1 {
		return fmt.Errorf("takes 1 input, %d were given", c.NumIn())
	}
	c.Pass(0, 0)
	return nil
}

// settled prepares an op that changes only the shape of its first input. If
// both shapes are known when the node is prepared, a call computes nothing. The
// number of elements decides whether the prepared shape is right; otherwise the
// kernel runs in full.
func settled(run func(*engine.Call) error) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		if len(n.In) == 0 || len(n.Out) != 1 {
			return run, nil
		}
		from, known := n.In[0].Shape.NumElements()
		to, whole := n.Out[0].Shape.Tensor()
		if !known || !whole || from != shapes.Count(to) {
			return run, nil
		}
		return func(c *engine.Call) error {
			if err := c.NeedTensors(0); err != nil {
				return err
			}
			return c.Forward(0, 0, to)
		}, nil
	}
}

func ensureShape(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	want, ok := c.Attrs().Shape("shape")
	if !ok {
		return fmt.Errorf("needs the attribute shape")
	}
	if got := c.In(0).Shape(); !want.Accepts(got) {
		return fmt.Errorf("shape %v isn't compatible with the expected %v", got, want)
	}
	return c.Forward(0, 0, c.In(0).Shape())
}

// putInts sets output i to a tensor of integers of the type in an attribute,
// int32 by default.
func putInts(c *engine.Call, i int, name string, values []int, dims ...int) error {
	d := c.Attrs().Type(name, tensor.Int32)
	out, err := c.Alloc(i, d, dims)
	if err != nil {
		return err
	}
	switch d {
	case tensor.Int32:
		v := tensor.Values[int32](out)
		for k, x := range values {
			if x != int(int32(x)) {
				return fmt.Errorf("%d doesn't fit int32; ask for int64 by %s", x, name)
			}
			v[k] = int32(x)
		}
	case tensor.Int64:
		v := tensor.Values[int64](out)
		for k, x := range values {
			v[k] = int64(x)
		}
	default:
		return fmt.Errorf("%s is %v, not int32 or int64", name, d)
	}
	return nil
}

func shapeOf(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	s := c.In(0).Shape()
	return putInts(c, 0, "out_type", s, len(s))
}

func shapeN(c *engine.Call) error {
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	for i := range c.NumIn() {
		s := c.In(i).Shape()
		if err := putInts(c, i, "out_type", s, len(s)); err != nil {
			return err
		}
	}
	return nil
}

func size(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	return putInts(c, 0, "out_type", []int{c.In(0).Len()})
}

func rank(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	return putInts(c, 0, "", []int{len(c.In(0).Shape())})
}

// reshape changes the shape to that in input 1, in which -1 is computed from
// the others.
func reshape(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	var room shapes.Room[int]
	want, err := shapes.AppendDims(room[:0], c.In(1), "the shape", -1)
	if err != nil {
		return err
	}
	out, err := shape.Reshape(c.In(0).Shape(), want)
	if err != nil {
		return err
	}
	return c.Forward(0, 0, out)
}

func expandDims(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	i, err := shapes.Int(c.In(1), "the axis")
	if err != nil {
		return err
	}
	out, err := shape.ExpandDims(c.In(0).Shape(), i)
	if err != nil {
		return err
	}
	return c.Forward(0, 0, out)
}

func squeeze(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	out, _, err := shape.Squeeze(c.In(0).Shape(), shape.SqueezeAxes(c.Attrs()))
	if err != nil {
		return err
	}
	return c.Forward(0, 0, out)
}

func transpose(c *engine.Call) error {
	axes, err := permutation(c)
	if err != nil {
		return err
	}
	if x := c.In(0); keepsOrder(x.Shape(), axes) {
		return c.Forward(0, 0, shape.Permuted(x.Shape(), axes))
	}
	_, err = permuted(c, axes)
	return err
}

// permutation returns the permutation in input 1 of the dimensions of input 0.
func permutation(c *engine.Call) ([]int, error) {
	if err := c.Need(2); err != nil {
		return nil, err
	}
	rank := c.In(0).Rank()
	if err := shape.CheckPermutation(c.In(1).Len(), rank); err != nil {
		return nil, err // before a long list is read
	}
	perm, err := shapes.Ints(c.In(1), "the permutation")
	if err != nil {
		return nil, err
	}
	return shape.Permutation(perm, rank)
}

// keepsOrder reports whether a permutation moves only dimensions of size 1 of a
// tensor of shape s. Then the elements keep their order.
func keepsOrder(s tensor.Shape, axes []int) bool {
	last := -1
	for _, a := range axes {
		if s[a] == 1 {
			continue
		}
		if a < last {
			return false
		}
		last = a
	}
	return true
}

// permuted sets output 0 to the transpose of input 0.
func permuted(c *engine.Call, axes []int) (*tensor.Tensor, error) {
	x := c.In(0)
	s := x.Shape()
	strides := shapes.Strides(s)
	dims, from := shape.Permuted(s, axes), view{strides: make([]int, len(s))}
	for i, a := range axes {
		from.strides[i] = strides[a]
	}
	out, err := c.Alloc(0, x.DType(), dims)
	if err == nil {
		move(c, out, x, dims, view{strides: shapes.Strides(dims)}, from)
	}
	return out, err
}

// conjugateTranspose also conjugates complex elements.
func conjugateTranspose(c *engine.Call) error {
	axes, err := permutation(c)
	if err != nil {
		return err
	}
	out, err := permuted(c, axes)
	if err != nil {
		return err
	}
	switch out.DType() {
	case tensor.Complex64:
		v := tensor.Values[complex64](out)
		vec.Conj(v, v)
	case tensor.Complex128:
		v := tensor.Values[complex128](out)
		vec.Conj(v, v)
	}
	return nil
}

// broadcastTo repeats input 0 to the shape in input 1.
func broadcastTo(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	x := c.In(0)
	want, err := shapes.Dims(c.In(1), "the shape", 0)
	if err != nil {
		return err
	}
	if err := shape.BroadcastTo(x.Shape(), want); err != nil {
		return err
	}
	if x.Shape().Equal(want) {
		return c.Forward(0, 0, want)
	}
	out, err := c.Alloc(0, x.DType(), want)
	if err == nil {
		move(c, out, x, want, view{strides: shapes.Strides(want)}, view{strides: shapes.BroadcastStrides(x.Shape(), want)})
	}
	return err
}

// broadcastArgs returns the shape to which two shapes broadcast.
func broadcastArgs(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	var in [2]tensor.Shape
	for i, what := range []string{"the first shape", "the second shape"} {
		// Sizes may be anything: -1, an unknown one, broadcasts like others.
		dims, err := shapes.Dims(c.In(i), what, math.MinInt64)
		if err != nil {
			return err
		}
		in[i] = dims
	}
	a, b := in[0], in[1]
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	for i, d := range b {
		switch at := len(a) - len(b) + i; {
		case out[at] == 1:
			out[at] = d
		case d != 1 && d != out[at]:
			return fmt.Errorf("shapes %v and %v don't broadcast: sizes %d and %d meet", in[0], in[1], out[at], d)
		}
	}
	return putLike(c, 0, out)
}

// putLike sets output i to a vector of input 0's type.
func putLike(c *engine.Call, i int, values []int) error {
	if d := c.In(0).DType(); d != tensor.Int32 && d != tensor.Int64 {
		return fmt.Errorf("the input is %v, not int32 or int64", d)
	}
	out, err := c.Alloc(i, c.In(0).DType(), tensor.Shape{len(values)})
	if err != nil {
		return err
	}
	if out.DType() == tensor.Int64 {
		for k, x := range values {
			tensor.Values[int64](out)[k] = int64(x)
		}
		return nil
	}
	for k, x := range values {
		tensor.Values[int32](out)[k] = int32(x)
	}
	return nil
}

// broadcastGradientArgs returns, for each of two shapes, the axes over which
// the gradient of a broadcast is summed.
func broadcastGradientArgs(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	if a, b := c.In(0).DType(), c.In(1).DType(); a != b {
		return fmt.Errorf("the shapes' types differ: %v and %v", a, b)
	}
	a, err := shapes.Dims(c.In(0), "the first shape", 0)
	if err != nil {
		return err
	}
	b, err := shapes.Dims(c.In(1), "the second shape", 0)
	if err != nil {
		return err
	}
	if _, err := shape.Broadcast(a, b); err != nil {
		return err
	}
	ra, rb, _ := shape.GradientAxes(a, b)
	if err := putLike(c, 0, ra); err != nil {
		return err
	}
	return putLike(c, 1, rb)
}
