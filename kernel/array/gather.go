package array

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/parts"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of GatherV2, GatherNd, ScatterNd, UnsortedSegmentSum and OneHot.
// Sums are added in the order of the updates. For the gathers and ScatterNd an
// index outside of its dimension is an error, as on TensorFlow's CPU, unless
// bad_indices_policy is IGNORE. UnsortedSegmentSum skips negative ids and refuses
// those that are too large.

// number is an element type whose values can be added.
type number interface {
	vec.Number
	tensor.Element
}

func gather(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	x, indices := c.In(0), c.In(1)
	i, err := shapes.Int(c.In(2), "the axis")
	if err != nil {
		return err
	}
	axis, err := shape.Axis(i, len(x.Shape()))
	if err != nil {
		return err
	}
	return parts.Gather(c, x, indices, axis, c.Attrs().Int("batch_dims", 0))
}

// places returns, for each vector in the last dimension of indices, the offset of
// its block in a tensor of shape s. A block has inner elements. Under
// the policy IGNORE the offset of a vector outside of the shape is -1. Kernels
// of this package that read or change parts by index vectors call it.
func places(c *engine.Call, indices *tensor.Tensor, s tensor.Shape) (at []int, inner int, err error) {
	outer, rest, err := shape.Indexed(indices.Shape(), s)
	if err != nil {
		return nil, 0, err
	}
	depth := len(s) - len(rest)
	v, err := shapes.CallInts(c, indices, "the indices")
	if err != nil {
		return nil, 0, err
	}
	ignore := false
	switch policy := c.Attrs().String("bad_indices_policy", ""); policy {
	case "", "DEFAULT", "ERROR":
	case "IGNORE":
		ignore = true
	default:
		return nil, 0, fmt.Errorf("bad_indices_policy is %q, not DEFAULT, ERROR or IGNORE", policy)
	}
	strides := shapes.Strides(s)
	at = engine.Zeroed[int](c, shapes.Count(outer))
	for i := range at {
		c.Step(i)
		for d := range depth {
			k := v[i*depth+d]
			if k < 0 || k >= int64(s[d]) {
				if ignore {
					at[i] = -1
					break
				}
				return nil, 0, fmt.Errorf("index %d of vector %d is outside of dimension %d of size %d", k, i, d, s[d])
			}
			at[i] += int(k) * strides[d]
		}
	}
	return at, shapes.Count(rest), nil
}

func gatherND(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	x, indices := c.In(0), c.In(1)
	at, inner, err := places(c, indices, x.Shape())
	if err != nil {
		return err
	}
	outer, rest, err := shape.Indexed(indices.Shape(), x.Shape())
	if err != nil {
		return err
	}
	out, err := c.AllocZero(0, x.DType(), append(outer.Clone(), rest...))
	if err != nil {
		return err
	}
	for i, from := range at {
		if from >= 0 {
			parts.Copy(out, x, i*inner, from, inner)
		}
	}
	return nil
}

func scatterND(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	indices, updates := c.In(0), c.In(1)
	s, err := shapes.Dims(c.In(2), "the shape", 0)
	if err != nil {
		return err
	}
	at, inner, err := places(c, indices, s)
	if err != nil {
		return err
	}
	if err := shape.Scatter(indices.Shape(), updates.Shape(), s); err != nil {
		return err
	}
	out, err := c.AllocZero(0, updates.DType(), s)
	if err != nil {
		return err
	}
	// booleans and strings
	if join := joiners[updates.DType()]; join != nil {
		join(c, out, updates, at, inner)
		return nil
	}
	return addParts(c, out, updates, at, inner)
}

func segmentSum(c *engine.Call) error {
	dims, at, inner, err := segmentPlaces(c)
	if err != nil {
		return err
	}
	out, err := c.AllocZero(0, c.In(0).DType(), dims)
	if err != nil {
		return err
	}
	return addParts(c, out, c.In(0), at, inner)
}

func oneHot(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	indices, on, off := c.In(0), c.In(2), c.In(3)
	depth, err := shapes.Int(c.In(1), "the depth")
	if err != nil {
		return err
	}
	if on.DType() != off.DType() || on.Len() != 1 || off.Len() != 1 {
		return fmt.Errorf("the values are %v%v and %v%v, not two scalars of one type", on.DType(), on.Shape(), off.DType(), off.Shape())
	}
	if depth < 0 || depth != int64(int(depth)) {
		return fmt.Errorf("the depth is %d", depth)
	}
	s := indices.Shape()
	dims, axis, err := shape.OneHot(s, int(depth), c.Attrs().Int("axis", -1))
	if err != nil {
		return err
	}
	v, err := shapes.AllInts(indices, "the indices")
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, on.DType(), dims)
	if err != nil {
		return err
	}
	// off everywhere: its strides are 0
	move(c, out, off, dims, view{strides: shapes.Strides(dims)}, view{strides: make([]int, len(dims))})
	inner := shapes.Count(s[axis:])
	for i, k := range v {
		// an index outside has a row of off values
		if k >= 0 && k < depth {
			parts.Copy(out, on, (i/inner*int(depth)+int(k))*inner+i%inner, 0, 1)
		}
	}
	return nil
}
