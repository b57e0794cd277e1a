package math

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of Select, SelectV2 and ClipByValue.

// selectV2 picks by a condition; all three inputs broadcast.
func selectV2(c *engine.Call) error {
	if err := checkSelect(c); err != nil {
		return err
	}
	cond, x, y := c.In(0), c.In(1), c.In(2)
	s, err := shape.Broadcast(x.Shape(), y.Shape())
	if err != nil {
		return err
	}
	if s, err = shape.Broadcast(cond.Shape(), s); err != nil {
		return err
	}
	return choose(c, s, shapes.BroadcastStrides(cond.Shape(), s))
}

// selectV1 needs one shape for both values; the condition has it too, or is a
// vector that picks rows, or a scalar.
func selectV1(c *engine.Call) error {
	if err := checkSelect(c); err != nil {
		return err
	}
	cond, x, y := c.In(0).Shape(), c.In(1).Shape(), c.In(2).Shape()
	if _, err := shape.Choice(graph.Whole(cond), graph.Whole(x), graph.Whole(y)); err != nil {
		return err
	}
	strides := make([]int, len(x))
	switch {
	case len(cond) == len(x):
		strides = shapes.Strides(x)
	case len(cond) == 1:
		strides[0] = 1
	}
	return choose(c, x, strides)
}

// checkSelect checks the number and the types of the inputs.
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

// choose picks elements; dims is the shape of the output, cs are the strides of
// the condition in it.
func choose(c *engine.Call, dims tensor.Shape, cs []int) error {
	d := c.In(1).DType()
	out, err := c.Alloc(0, d, dims)
	if err != nil || out.Len() == 0 {
		return err
	}
	xs, ys := shapes.BroadcastStrides(c.In(1).Shape(), dims), shapes.BroadcastStrides(c.In(2).Shape(), dims)
	cond := tensor.Values[bool](c.In(0))
	walk := func(pick func(at, c, x, y int)) {
		Walk3(dims, cs, xs, ys, pick)
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
		chooseRows(c, out, cond, dims, cs, xs, ys, elementwise.View[uint8])
	case 2:
		chooseRows(c, out, cond, dims, cs, xs, ys, elementwise.View[uint16])
	case 4:
		chooseRows(c, out, cond, dims, cs, xs, ys, elementwise.View[uint32])
	case 8:
		chooseRows(c, out, cond, dims, cs, xs, ys, elementwise.View[uint64])
	case 16:
		chooseRows(c, out, cond, dims, cs, xs, ys, elementwise.View[[2]uint64])
	}
	return nil
}

// chooseRows runs along the last dimension, in which strides are 0 or 1.
func chooseRows[T any](c *engine.Call, out *tensor.Tensor, cond []bool, dims tensor.Shape, cs, xs, ys []int, view func(*tensor.Tensor) []T) {
	dst, x, y := view(out), view(c.In(1)), view(c.In(2))
	n, last := 1, len(dims)-1
	var sc, sx, sy int
	if last >= 0 {
		n, sc, sx, sy = dims[last], cs[last], xs[last], ys[last]
		dims, cs, xs, ys = dims[:last], cs[:last], xs[:last], ys[:last]
	}
	if n == 0 {
		return
	}
	Walk3(dims, cs, xs, ys, func(at, k, i, j int) {
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

// Walk3 visits the positions of a shape in row-major order, with their offsets
// by three lists of strides. Rows of the last dimension are faster with
// [chooseRows].
func Walk3(dims tensor.Shape, a, b, d []int, visit func(at, a, b, d int)) {
	n := shapes.Count(dims)
	index := make([]int, len(dims))
	var i, j, k int
	for at := range n {
		visit(at, i, j, k)
		for dim := len(dims) - 1; dim >= 0; dim-- {
			index[dim]++
			i, j, k = i+a[dim], j+b[dim], k+d[dim]
			if index[dim] < dims[dim] {
				break
			}
			i, j, k = i-dims[dim]*a[dim], j-dims[dim]*b[dim], k-dims[dim]*d[dim]
			index[dim] = 0
		}
	}
}

// clippable checks that inputs 1 and 2, the limits of input 0, are scalars or have
// its shape.
func clippable(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	x, lo, hi := c.In(0), c.In(1), c.In(2)
	for i, b := range []*tensor.Tensor{lo, hi} {
		if b.DType() != x.DType() {
			return fmt.Errorf("limit %d is %v, the input %v", i, b.DType(), x.DType())
		}
		if b.Rank() > 0 && !b.Shape().Equal(x.Shape()) {
			return fmt.Errorf("limit %d has shape %v (want a scalar or the input's shape, %v)", i, b.Shape(), x.Shape())
		}
		if err := shape.Clip(graph.Whole(x.Shape()), graph.Whole(b.Shape())); err != nil {
			return err
		}
	}
	return nil
}

// The lower limit is applied last: it wins if the limits are in the wrong
// order, as in TensorFlow.
var clips = elementwise.ByType{
	tensor.Float32: clipOf[float32], tensor.Float64: clipOf[float64],
	tensor.Float16: clipHalf[tensor.F16], tensor.BFloat16: clipHalf[tensor.BF16],
	tensor.Int8: clipOf[int8], tensor.Int16: clipOf[int16], tensor.Int32: clipOf[int32], tensor.Int64: clipOf[int64],
	tensor.Uint8: clipOf[uint8], tensor.Uint16: clipOf[uint16], tensor.Uint32: clipOf[uint32], tensor.Uint64: clipOf[uint64],
	tensor.Complex64: clipComplex[complex64], tensor.Complex128: clipComplex[complex128],
}

// clipComplex clips real and imaginary parts, each between those of the limits.
func clipComplex[T interface {
	complex64 | complex128
	tensor.Element
}](c *engine.Call) error {
	x := c.In(0)
	out, err := c.Alloc(0, x.DType(), x.Shape())
	if err != nil {
		return err
	}
	lo, hi := tensor.Values[T](c.In(1)), tensor.Values[T](c.In(2))
	dst := tensor.Values[T](out)
	for i, v := range tensor.Values[T](x) {
		z, a, b := complex128(v), complex128(lo[i%len(lo)]), complex128(hi[i%len(hi)])
		dst[i] = T(complex(max(min(real(z), real(b)), real(a)), max(min(imag(z), imag(b)), imag(a))))
	}
	return nil
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
		wide[i] = engine.Zeroed[float32](c, c.In(i).Len())
		elementwise.Widen(wide[i], tensor.Values[H](c.In(i)))
	}
	clipLoop(wide[0], wide[0], wide[1], wide[2])
	elementwise.Narrow(tensor.Values[H](out), wide[0])
	return nil
}
