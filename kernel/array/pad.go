package array

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of Pad, PadV2, MirrorPad and MirrorPadGrad.

// paddings reads the matrix of the numbers of elements to add before and after
// each dimension. s is the shape of the tensor.
func paddings(c *engine.Call, s tensor.Shape) ([][2]int, error) {
	v, err := shapes.AllInts(c.In(1), "the paddings")
	if err != nil {
		return nil, err
	}
	return shape.Paddings(v, c.In(1).Shape(), len(s))
}

// pad surrounds a tensor by zeros or, for PadV2, by the scalar in input 2.
func pad(c *engine.Call) error {
	want := 2
	if c.NumIn() == 3 {
		want = 3 // PadV2 has the value as an input
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

// mirrorIndex returns the element of a dimension of size n at index i of the
// padded one. i counts from the first element that isn't padding. skip is 1 if
// the border isn't repeated.
func mirrorIndex(i, n, skip int) int {
	if i < 0 {
		return -i - 1 + skip
	}
	if i >= n {
		return 2*n - i - 1 - skip
	}
	return i
}

// mirrorMap returns, for each dimension of the result, the element at each
// index. s is the shape without padding, ps the padding of each dimension. It
// returns the padded shape, too. The memory counts towards the call's limit.
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
		maps[d] = engine.Zeroed[int](c, dims[d])
		for i := range maps[d] {
			c.Step(i)
			maps[d][i] = mirrorIndex(i-ps[d][0], n, skip)
		}
	}
	return maps, dims, nil
}

// mirrored returns the offset of the element at each position of the padded
// tensor. dims is the padded shape; maps is the result of [mirrorMap]; strides
// are those of the tensor without padding.
func mirrored(c *engine.Call, dims tensor.Shape, maps [][]int, strides []int) []int {
	at := engine.Zeroed[int](c, shapes.Count(dims))
	if len(at) == 0 {
		return at
	}
	// Each dimension copies the offsets of the dimensions after it, with an
	// offset added.
	done, pace := 1, engine.NewPace(c)
	for d := len(dims) - 1; d >= 0; d-- {
		block := at[:done]
		for i := dims[d] - 1; i >= 0; i-- { // index 0 comes last, because the others are computed from its block
			pace.Work(done + 1)
			shift := maps[d][i] * strides[d]
			for k, v := range block {
				at[i*done+k] = v + shift
			}
		}
		done *= dims[d]
	}
	return at
}

// mirrorPad surrounds a tensor by its mirrored elements.
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
	pickParts(c, out, x, mirrored(c, dims, maps, shapes.Strides(s)))
	return nil
}

// mirrorPadGrad returns the gradient of MirrorPad's input. It adds each element of dy, in
// their order, to the gradient of the element that it is a copy of.
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
	return addParts(c, out, dy, mirrored(c, dims, maps, shapes.Strides(s)), 1)
}
