package array

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// paddings reads the matrix of how many elements go before and behind each
// dimension.
func paddings(c *engine.Call, s tensor.Shape) ([][2]int, error) {
	v, err := shapes.AllInts(c.In(1), "the paddings")
	if err != nil {
		return nil, err
	}
	return shape.Paddings(v, c.In(1).Shape(), len(s))
}

func pad(c *engine.Call) error {
	want := 2
	if c.NumIn() == 3 {
		want = 3 // PadV2 has the value
	}
	if err := c.Need(want); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	ps, err := paddings(c, s)
	if err != nil {
		return err
	}
	dims, err := shape.Pad(s, ps)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, x.DType(), dims)
	if err != nil {
		return err
	}
	if want == 3 {
		v := c.In(2)
		if v.DType() != x.DType() || v.Len() != 1 {
			return fmt.Errorf("the value is %v%v, not a scalar of %v", v.DType(), v.Shape(), x.DType())
		}
		move(c, out, v, dims, view{strides: shapes.Strides(dims)}, view{strides: make([]int, len(dims))})
	} else {
		clear(out.Bytes())
	}
	to := view{strides: shapes.Strides(dims)}
	for i := range s {
		to.at += ps[i][0] * to.strides[i]
	}
	move(c, out, x, s, to, view{strides: shapes.Strides(s)})
	return nil
}

// mirrorIndex returns which element of a dimension of size n stands at position
// i of the padded one, counted from the first own element. skip is 1 where the
// border isn't repeated.
func mirrorIndex(i, n, skip int) int {
	if i < 0 {
		return -i - 1 + skip
	}
	if i >= n {
		return 2*n - i - 1 - skip
	}
	return i
}

// mirrorMap lists, dimension by dimension, which element each position shows.
func mirrorMap(c *engine.Call, s tensor.Shape, ps [][2]int) ([][]int, tensor.Shape, error) {
	skip, err := shape.MirrorSkip(c.Attrs().String("mode", "REFLECT"))
	if err != nil {
		return nil, nil, err
	}
	if err := shape.Mirror(s, ps, skip); err != nil {
		return nil, nil, err
	}
	dims, err := shape.Pad(s, ps)
	if err != nil {
		return nil, nil, err
	}
	maps := make([][]int, len(s))
	for d, n := range s {
		maps[d] = make([]int, dims[d])
		for i := range maps[d] {
			maps[d][i] = mirrorIndex(i-ps[d][0], n, skip)
		}
	}
	return maps, dims, nil
}

// eachMirrored visits the positions of the padded tensor and the element each
// shows.
func eachMirrored(dims tensor.Shape, maps [][]int, strides []int, visit func(at, from int)) {
	index := make([]int, len(dims))
	for at := range shapes.Count(dims) {
		from := 0
		for d, i := range index {
			from += maps[d][i] * strides[d]
		}
		visit(at, from)
		for d := len(dims) - 1; d >= 0; d-- {
			if index[d]++; index[d] < dims[d] {
				break
			}
			index[d] = 0
		}
	}
}

func mirrorPad(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	ps, err := paddings(c, s)
	if err != nil {
		return err
	}
	maps, dims, err := mirrorMap(c, s, ps)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, x.DType(), dims)
	if err != nil {
		return err
	}
	strides := shapes.Strides(s)
	if size := x.DType().Size(); size > 0 {
		dst, src := out.Bytes(), x.Bytes()
		eachMirrored(dims, maps, strides, func(at, from int) {
			copy(dst[at*size:(at+1)*size], src[from*size:(from+1)*size])
		})
		return nil
	}
	eachMirrored(dims, maps, strides, func(at, from int) { out.Strings()[at] = x.Strings()[from] })
	return nil
}

// mirrorPadGrad adds each element of dy to the one that it showed.
func mirrorPadGrad(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	dy := c.In(0)
	ps, err := paddings(c, dy.Shape())
	if err != nil {
		return err
	}
	s, err := shape.Unpad(dy.Shape(), ps)
	if err != nil {
		return err
	}
	maps, dims, err := mirrorMap(c, s, ps)
	if err != nil {
		return err
	}
	out, err := c.AllocZero(0, dy.DType(), s)
	if err != nil {
		return err
	}
	return adders.with(c, out, dy, func(add func(to, from int)) {
		eachMirrored(dims, maps, shapes.Strides(s), func(at, from int) { add(from, at) })
	})
}

// addersByType run a scatter that adds, by the type of its elements.
type addersByType map[tensor.DType]func(out, x *tensor.Tensor, each func(add func(to, from int)))

// with calls each with a function that adds element from of x to element to of
// out.
func (a addersByType) with(c *engine.Call, out, x *tensor.Tensor, each func(add func(to, from int))) error {
	f := a[x.DType()]
	if f == nil {
		return (&elementwise.ByType{}).Unsupported(x.DType())
	}
	f(out, x, each)
	return nil
}

var adders = addersByType{
	tensor.Float32: adder[float32], tensor.Float64: adder[float64],
	tensor.Float16: adderHalf[tensor.F16], tensor.BFloat16: adderHalf[tensor.BF16],
	tensor.Int8: adder[int8], tensor.Int16: adder[int16], tensor.Int32: adder[int32], tensor.Int64: adder[int64],
	tensor.Uint8: adder[uint8], tensor.Uint16: adder[uint16], tensor.Uint32: adder[uint32], tensor.Uint64: adder[uint64],
	tensor.Complex64: adder[complex64], tensor.Complex128: adder[complex128],
}

func adder[T number](out, x *tensor.Tensor, each func(add func(to, from int))) {
	dst, src := tensor.Values[T](out), tensor.Values[T](x)
	each(func(to, from int) { dst[to] += src[from] })
}

func adderHalf[H elementwise.Half](out, x *tensor.Tensor, each func(add func(to, from int))) {
	dst, src := make([]float32, out.Len()), make([]float32, x.Len())
	elementwise.Widen(src, tensor.Values[H](x))
	each(func(to, from int) { dst[to] += src[from] })
	elementwise.Narrow(tensor.Values[H](out), dst)
}
