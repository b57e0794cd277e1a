package xla

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of XlaSort, XlaKeyValueSort and XlaVariadicSort.

// keys returns numbers in XLA's order of elements: integers by value, floats by
// sign and size, -0 before 0 and NaN with its sign at the ends.
func keys(t *tensor.Tensor) ([]uint64, error) {
	const top = uint64(1) << 63
	out := make([]uint64, t.Len())
	switch d := t.DType(); {
	case d == tensor.Uint64:
		copy(out, tensor.Values[uint64](t))
	case d.IsInteger():
		v, err := t.Int64s()
		if err != nil {
			return nil, err
		}
		for i, x := range v {
			out[i] = uint64(x) ^ top
		}
	case d.IsFloating():
		v, err := t.Float64s()
		if err != nil {
			return nil, err
		}
		for i, x := range v {
			b := math.Float64bits(x)
			if b&top != 0 {
				out[i] = ^b
			} else {
				out[i] = b | top
			}
		}
	default:
		return nil, fmt.Errorf("has no order of %v", d)
	}
	return out, nil
}

// sortLast sorts elements along the last dimension, in rising order.
func sortLast(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	return sortBy(c, 0)
}

// sortPairs sorts keys along the last dimension, in rising order, and their
// values with them.
func sortPairs(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	if !c.In(0).Shape().Equal(c.In(1).Shape()) {
		return fmt.Errorf("the keys are %v, the values %v", c.In(0).Shape(), c.In(1).Shape())
	}
	return sortBy(c, 0, 1)
}

// sortBy sorts inputs along the last dimension by the first one.
func sortBy(c *engine.Call, inputs ...int) error {
	if err := fixed(c, inputs...); err != nil {
		return err
	}
	x := c.In(0)
	if len(x.Shape()) == 0 {
		return fmt.Errorf("has no dimension to sort along")
	}
	order, err := keys(x)
	if err != nil {
		return err
	}
	steps := 0
	return permute(c, len(x.Shape())-1, inputs, func(at []int) error {
		slices.SortStableFunc(at, func(a, b int) int {
			steps++
			c.Step(steps)
			return cmp.Compare(order[a], order[b])
		})
		return nil
	})
}

// permute returns the inputs with the elements along a dimension in the order
// of the indices that sort has sorted.
func permute(c *engine.Call, axis int, inputs []int, sort func(at []int) error) error {
	dims := c.In(0).Shape()
	outs := make([]*tensor.Tensor, len(inputs))
	for i, in := range inputs {
		var err error
		if outs[i], err = c.Alloc(i, c.In(in).DType(), dims); err != nil {
			return err
		}
	}
	if c.In(0).Len() == 0 {
		return nil
	}
	stride := shapes.Strides(dims)[axis]
	rest := slices.Clone(dims)
	rest[axis] = 1
	strides := shapes.Strides(dims)
	index := make([]int, len(dims))
	at := make([]int, dims[axis])
	for {
		from := place(index, strides)
		for i := range at {
			at[i] = from + i*stride
		}
		if err := sort(at); err != nil {
			return err
		}
		for k, o := range outs {
			size, src, dst := o.DType().Size(), c.In(inputs[k]).Bytes(), o.Bytes()
			for i, p := range at {
				to := (from + i*stride) * size
				copy(dst[to:to+size], src[p*size:(p+1)*size])
			}
		}
		if !next(index, rest) {
			return nil
		}
	}
}

// variadicSort sorts inputs along a dimension by a function that compares the
// elements of all of them at two indices.
func variadicSort(n *engine.Node) (func(*engine.Call) error, error) {
	f, err := scalarFunction(n, "comparator", -1)
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		count := c.NumIn() - 1
		if count < 1 {
			return fmt.Errorf("takes at least one input and a dimension")
		}
		if err := c.NeedTensors(0); err != nil {
			return err
		}
		dims := c.In(0).Shape()
		axis, err := shapes.Int(c.In(count), "dimension")
		if err != nil {
			return err
		}
		if axis < 0 {
			axis += int64(len(dims))
		}
		if axis < 0 || axis >= int64(len(dims)) {
			return fmt.Errorf("the inputs have no dimension %d", axis)
		}
		var inputs []int
		var types []tensor.DType
		for i := range count {
			if !c.In(i).Shape().Equal(dims) {
				return fmt.Errorf("input %d is %v (want %v, as input 0)", i, c.In(i).Shape(), dims)
			}
			inputs = append(inputs, i)
			types = append(types, c.In(i).DType(), c.In(i).DType())
		}
		if err := fixed(c, inputs...); err != nil {
			return err
		}
		args := make([][]byte, 2*count)
		before := func(a, b int) (bool, error) {
			for i := range count {
				size, x := c.In(i).DType().Size(), c.In(i).Bytes()
				args[2*i], args[2*i+1] = x[a*size:(a+1)*size], x[b*size:(b+1)*size]
			}
			return f.holds(c, args, types...)
		}
		return permute(c, int(axis), inputs, func(at []int) error {
			var failed error
			// A stable sort serves both values of is_stable.
			slices.SortStableFunc(at, func(a, b int) int {
				if failed != nil {
					return 0
				}
				less, err := before(a, b)
				if err == nil && !less {
					var more bool
					if more, err = before(b, a); more {
						return 1
					}
				}
				if err != nil {
					failed = err
					return 0
				}
				if less {
					return -1
				}
				return 0
			})
			return failed
		})
	}, nil
}
