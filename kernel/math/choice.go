package math

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/vec"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// selectV2 picks by a condition; all three inputs broadcast.
func selectV2(c *engine.Call) error {
	if err := checkSelect(c); err != nil {
		return err
	}
	cond, x, y := c.In(0), c.In(1), c.In(2)
	shape, err := shapes.Broadcast(cond.Shape(), x.Shape())
	if err != nil {
		return err
	}
	if shape, err = shapes.Broadcast(shape, y.Shape()); err != nil {
		return err
	}
	return choose(c, shape, shapes.BroadcastStrides(cond.Shape(), shape))
}

// selectV1 needs one shape for both values; the condition has it too, or is a
// vector that picks rows, or a scalar.
func selectV1(c *engine.Call) error {
	if err := checkSelect(c); err != nil {
		return err
	}
	cond, x, y := c.In(0).Shape(), c.In(1).Shape(), c.In(2).Shape()
	if !x.Equal(y) {
		return fmt.Errorf("the values' shapes differ: %v and %v", x, y)
	}
	strides := make([]int, len(x))
	switch {
	case cond.Equal(x):
		strides = shapes.Strides(x)
	case len(cond) == 0:
	case len(cond) == 1 && len(x) > 0 && cond[0] == x[0]:
		strides[0] = 1
	default:
		return fmt.Errorf("the condition of shape %v fits no values of shape %v", cond, x)
	}
	return choose(c, x, strides)
}

func checkSelect(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	if d := c.In(0).DType(); d != tensor.Bool {
		return fmt.Errorf("the condition is %v, not bool", d)
	}
	if a, b := c.In(1).DType(), c.In(2).DType(); a != b {
		return fmt.Errorf("the values' types differ: %v and %v; Cast converts", a, b)
	}
	return nil
}

func choose(c *engine.Call, shape tensor.Shape, cs []int) error {
	d := c.In(1).DType()
	out, err := c.Alloc(0, d, shape)
	if err != nil || out.Len() == 0 {
		return err
	}
	xs, ys := shapes.BroadcastStrides(c.In(1).Shape(), shape), shapes.BroadcastStrides(c.In(2).Shape(), shape)
	cond := tensor.Values[bool](c.In(0))
	walk := func(pick func(at, c, x, y int)) {
		Walk3(shape, cs, xs, ys, pick)
	}
	switch size := d.Size(); size {
	case 0:
		dst, x, y := out.Strings(), c.In(1).Strings(), c.In(2).Strings()
		walk(func(at, k, i, j int) {
			if cond[k] {
				dst[at] = x[i]
			} else {
				dst[at] = y[j]
			}
		})
	case 1:
		chooseRows(c, out, cond, shape, cs, xs, ys, elementwise.View[uint8])
	case 2:
		chooseRows(c, out, cond, shape, cs, xs, ys, elementwise.View[uint16])
	case 4:
		chooseRows(c, out, cond, shape, cs, xs, ys, elementwise.View[uint32])
	case 8:
		chooseRows(c, out, cond, shape, cs, xs, ys, elementwise.View[uint64])
	case 16:
		chooseRows(c, out, cond, shape, cs, xs, ys, elementwise.View[[2]uint64])
	}
	return nil
}

// chooseRows runs along the last dimension, where strides are 0 or 1.
func chooseRows[T any](c *engine.Call, out *tensor.Tensor, cond []bool, shape tensor.Shape, cs, xs, ys []int, view func(*tensor.Tensor) []T) {
	dst, x, y := view(out), view(c.In(1)), view(c.In(2))
	n, last := 1, len(shape)-1
	var sc, sx, sy int
	if last >= 0 {
		n, sc, sx, sy = shape[last], cs[last], xs[last], ys[last]
		shape, cs, xs, ys = shape[:last], cs[:last], xs[:last], ys[:last]
	}
	if n == 0 {
		return
	}
	Walk3(shape, cs, xs, ys, func(at, k, i, j int) {
		row := dst[at*n : at*n+n]
		for e := range row {
			if cond[k+e*sc] {
				row[e] = x[i+e*sx]
			} else {
				row[e] = y[j+e*sy]
			}
		}
	})
}

// Walk3 visits the positions of a shape in row-major order, with the offsets
// that three sets of strides give.
func Walk3(shape tensor.Shape, a, b, d []int, visit func(at, a, b, d int)) {
	n := shapes.Count(shape)
	index := make([]int, len(shape))
	var i, j, k int
	for at := range n {
		visit(at, i, j, k)
		for dim := len(shape) - 1; dim >= 0; dim-- {
			index[dim]++
			i, j, k = i+a[dim], j+b[dim], k+d[dim]
			if index[dim] < shape[dim] {
				break
			}
			i, j, k = i-shape[dim]*a[dim], j-shape[dim]*b[dim], k-shape[dim]*d[dim]
			index[dim] = 0
		}
	}
}

// clip limits input 0 to the range of inputs 1 and 2, which are scalars or have
// its shape.
func clip(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	x, lo, hi := c.In(0), c.In(1), c.In(2)
	for i, b := range []*tensor.Tensor{lo, hi} {
		if b.DType() != x.DType() {
			return fmt.Errorf("limit %d is %v, the input %v", i, b.DType(), x.DType())
		}
		if b.Len() != 1 && !b.Shape().Equal(x.Shape()) {
			return fmt.Errorf("limit %d has shape %v, neither a scalar's nor the input's %v", i, b.Shape(), x.Shape())
		}
	}
	return clips.Run(c)
}

var clips = elementwise.ByType{
	tensor.Float32: clipOf[float32], tensor.Float64: clipOf[float64],
	tensor.Float16: clipHalf[tensor.F16], tensor.BFloat16: clipHalf[tensor.BF16],
	tensor.Int8: clipOf[int8], tensor.Int16: clipOf[int16], tensor.Int32: clipOf[int32], tensor.Int64: clipOf[int64],
	tensor.Uint8: clipOf[uint8], tensor.Uint16: clipOf[uint16], tensor.Uint32: clipOf[uint32], tensor.Uint64: clipOf[uint64],
}

func clipOf[T interface {
	vec.Real
	tensor.Element
}](c *engine.Call) error {
	x := c.In(0)
	out, err := c.Alloc(0, x.DType(), x.Shape())
	if err != nil {
		return err
	}
	clipLoop(tensor.Values[T](out), tensor.Values[T](x), tensor.Values[T](c.In(1)), tensor.Values[T](c.In(2)))
	return nil
}

func clipLoop[T vec.Real](dst, x, lo, hi []T) {
	var sl, sh int
	if len(lo) > 1 {
		sl = 1
	}
	if len(hi) > 1 {
		sh = 1
	}
	for i, v := range x {
		dst[i] = max(min(v, hi[i*sh]), lo[i*sl])
	}
}

func clipHalf[H elementwise.Half](c *engine.Call) error {
	x := c.In(0)
	out, err := c.Alloc(0, x.DType(), x.Shape())
	if err != nil {
		return err
	}
	var wide [3][]float32
	for i := range wide {
		wide[i] = make([]float32, c.In(i).Len())
		elementwise.Widen(wide[i], tensor.Values[H](c.In(i)))
	}
	clipLoop(wide[0], wide[0], wide[1], wide[2])
	elementwise.Narrow(tensor.Values[H](out), wide[0])
	return nil
}
