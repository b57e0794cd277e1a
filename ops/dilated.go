package ops

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/tensor"
)

// Convolutions with dilations, as TensorFlow's Python functions make them: TensorFlow's kernels for CPUs
// have no dilations, or no gradients with them. The pixels at the same place within blocks of the
// dilations' size become an image of their own. These images have no dilations.

// Convolution convolves lines, images or volumes with a filter of 1, 2 or 3 sizes, input channels
// and output channels, as tf.nn.convolution. The input has one batch dimension. Lines become images
// of height 1. With dilations it emits SpaceToBatchND, the convolution and BatchToSpaceND, where
// [Conv2D] has the attribute dilations; Strides must be 1 then. The number of dimensions of the filter
// or of the input must be known.
func Convolution(s *Scope, x, filter Input, o ...*WindowOptions) *Value {
	v, f := Const(s, x), Const(s, filter)
	if !s.alive() {
		return s.failed()
	}
	n, err := s.dimensions(v, f)
	if err != nil {
		return s.Fail("Convolution", err)
	}
	opts := *last(o)
	convolve := func(v *Value, o *WindowOptions) *Value {
		switch n {
		case 1:
			return s.convolveLines(v, f, o)
		case 2:
			return Conv2D(s, v, f, o)
		}
		return Conv3D(s, v, f, o)
	}
	rates, err := opts.rates(n)
	switch {
	case err != nil:
		return s.Fail("Convolution", err)
	case rates == nil:
		return convolve(v, &opts)
	case slices.ContainsFunc(opts.Strides, func(x int) bool { return x != 1 }):
		return s.Fail("Convolution", errStridedDilations(&opts))
	}
	return s.dilated("Convolution", v, f, &opts, rates, convolve)
}

// convolveLines convolves lines, which it makes images of height 1.
func (s *Scope) convolveLines(x, filter *Value, o *WindowOptions) *Value {
	opts, axis := *o, o.firstAxis()
	if len(opts.Strides) == 1 {
		opts.Strides = []int{1, opts.Strides[0]}
	}
	if len(opts.Explicit) == 1 {
		opts.Explicit = [][2]int{{}, opts.Explicit[0]}
	}
	return Squeeze(s, Conv2D(s, ExpandDims(s, x, axis), ExpandDims(s, filter, 0), &opts), axis)
}

// firstAxis returns the first dimension of an image that isn't the batch or the channels.
func (o *WindowOptions) firstAxis() int {
	if o.Format == ChannelsFirst {
		return 2
	}
	return 1
}

// rates returns the dilations of n dimensions, nil if all are 1.
func (o *WindowOptions) rates(n int) ([]int, error) {
	rates := o.Dilations
	if len(rates) == 1 {
		rates = slices.Repeat(rates, n)
	}
	switch {
	case len(rates) > 0 && len(rates) != n:
		return nil, fmt.Errorf("dilations has %d entries for %d dimensions", len(rates), n)
	case slices.ContainsFunc(rates, func(r int) bool { return r < 1 }):
		return nil, fmt.Errorf("a dilation is below 1 (got %v)", rates)
	case !slices.ContainsFunc(rates, func(r int) bool { return r > 1 }):
		return nil, nil
	}
	return rates, nil
}

// dilated convolves x with dilations. convolve does so without dilations and padding.
func (s *Scope) dilated(op string, x, filter *Value, o *WindowOptions, rates []int, convolve func(x *Value, o *WindowOptions) *Value) *Value {
	opts, first := *o, o.firstAxis()
	before, after := make([]extent, len(rates)), make([]extent, len(rates))
	switch {
	case o.Explicit != nil:
		if len(o.Explicit) != len(rates) {
			return s.Fail(op, fmt.Errorf("the padding WindowOptions.Explicit has %d entries for %d dimensions", len(o.Explicit), len(rates)))
		}
		for i, p := range o.Explicit {
			before[i], after[i] = extent{n: p[0]}, extent{n: p[1]}
		}
	case o.Padding == Same:
		for i, rate := range rates {
			more := s.times(s.plus(s.extentOf(filter, i), -1), rate)
			before[i] = s.half(more)
			after[i] = s.minus(more, before[i])
		}
	}
	ends := make([]extent, len(rates)) // zeros that make whole blocks
	for i, rate := range rates {
		ends[i] = s.missing(s.sum(s.extentOf(x, first+i), before[i], after[i]), rate)
		after[i] = s.sum(after[i], ends[i])
	}
	opts.Dilations, opts.Explicit, opts.Padding = nil, nil, Valid
	y := convolve(s.spaceToBatch(x, first, rates, before, after), &opts)
	return s.batchToSpace(y, first, rates, make([]extent, len(rates)), ends)
}

// ConvolutionTranspose computes the lines, images or volumes of the given sizes, batch and channels
// included, whose convolution with the filter has the gradient y, as tf.nn.conv_transpose. Channels come
// last, and the padding is Valid or Same. With dilations it emits SpaceToBatchND, the transposed
// convolution and BatchToSpaceND, as tf.nn.atrous_conv2d_transpose; Strides must be 1 then. The number
// of dimensions of the filter or of y must be known.
func ConvolutionTranspose(s *Scope, sizes, filter, y Input, o ...*WindowOptions) *Value {
	const op = "ConvolutionTranspose"
	dims, f, v := Const(s, sizes), Const(s, filter), Const(s, y)
	if !s.alive() {
		return s.failed()
	}
	n, err := s.dimensions(v, f)
	if err != nil {
		return s.Fail(op, err)
	}
	opts := *last(o)
	if opts.Explicit != nil || opts.Format == ChannelsFirst {
		return s.Fail(op, fmt.Errorf("takes no explicit padding and no channels that come first (got %v and %q)", opts.Explicit, opts.Format))
	}
	rates, err := opts.rates(n)
	switch {
	case err != nil:
		return s.Fail(op, err)
	case rates == nil:
		opts.Dilations = nil
		return s.convolveBack(n, dims, f, v, &opts)
	case slices.ContainsFunc(opts.Strides, func(x int) bool { return x != 1 }):
		return s.Fail(op, errStridedDilations(&opts))
	}
	before, after, ends := make([]extent, n), make([]extent, n), make([]extent, n)
	inner := []extent{s.element(dims, 0)}
	for i, rate := range rates {
		if opts.Padding == Same {
			more := s.times(s.plus(s.extentOf(f, i), -1), rate)
			before[i] = s.half(more)
			after[i] = s.minus(more, before[i])
		}
		size := s.sum(s.element(dims, i+1), before[i], after[i])
		ends[i] = s.missing(size, rate)
		after[i] = s.sum(after[i], ends[i])
		inner = append(inner, s.over(s.sum(size, ends[i]), rate))
		inner[0] = s.times(inner[0], rate)
	}
	inner = append(inner, s.element(dims, n+1))
	x := s.spaceToBatch(v, 1, rates, make([]extent, n), ends)
	x = s.convolveBack(n, s.extents(inner...), f, x, &WindowOptions{})
	return s.batchToSpace(x, 1, rates, before, after)
}

// convolveBack emits a transposed convolution of n dimensions. Lines become images of height 1.
func (s *Scope) convolveBack(n int, sizes, filter, y *Value, o *WindowOptions) *Value {
	switch n {
	case 2:
		return Conv2DTranspose(s, sizes, filter, y, o)
	case 3:
		return Conv3DTranspose(s, sizes, filter, y, o)
	}
	opts := *o
	if len(opts.Strides) == 1 {
		opts.Strides = []int{1, opts.Strides[0]}
	}
	sizes = Concat(s, []*Value{StridedSlice(s, sizes, To(1)), Cast(s, s.vec32(1), sizes.DType()), StridedSlice(s, sizes, From(1))}, 0)
	return Squeeze(s, Conv2DTranspose(s, sizes, ExpandDims(s, filter, 0), ExpandDims(s, y, 1), &opts), 1)
}

// dimensions returns the number of dimensions of space that a convolution has.
func (s *Scope) dimensions(x, filter *Value) (int, error) {
	shape := s.shapeOf(filter)
	if !shape.HasRank() {
		shape = s.shapeOf(x)
	}
	n := shape.Rank() - 2
	if !shape.HasRank() || n < 1 || n > 3 {
		return 0, fmt.Errorf("the input and the filter aren't known to have 3 to 5 dimensions (got input %v and filter %v)", s.shapeOf(x), s.shapeOf(filter))
	}
	return n, nil
}

func errStridedDilations(o *WindowOptions) error {
	return fmt.Errorf("strides and dilations can't both be greater than 1 (got strides %v and dilations %v)", o.Strides, o.Dilations)
}

// spaceToBatch makes an image of each place within blocks of the rates' size, after padding with zeros.
// first is the first of the dimensions that are cut into blocks.
func (s *Scope) spaceToBatch(x *Value, first int, rates []int, before, after []extent) *Value {
	return s.Emit1("SpaceToBatchND", nil, x, s.blocks(first, rates), s.pairs(first, before, after))
}

// batchToSpace undoes spaceToBatch, and crops.
func (s *Scope) batchToSpace(x *Value, first int, rates []int, before, after []extent) *Value {
	return s.Emit1("BatchToSpaceND", nil, x, s.blocks(first, rates), s.pairs(first, before, after))
}

// blocks returns the sizes of blocks from dimension 1 on.
func (s *Scope) blocks(first int, rates []int) *Value {
	return s.vec32(slices.Concat(slices.Repeat([]int{1}, first-1), rates)...)
}

// pairs returns the matrix of a number before and a number after each dimension, from dimension 1 on.
func (s *Scope) pairs(first int, before, after []extent) *Value {
	list := make([]extent, 2*(first-1))
	for i := range before {
		list = append(list, before[i], after[i])
	}
	return Reshape(s, s.extents(list...), len(list)/2, 2)
}

// An extent is the size of a dimension: a number or, if v is set, a value that the trace doesn't know.
type extent struct {
	n int
	v *Value
}

// extentOf returns the size of a dimension.
func (s *Scope) extentOf(x *Value, axis int) extent {
	if shape := s.shapeOf(x); shape.HasRank() && axis < shape.Rank() && shape.Dim(axis) >= 0 {
		return extent{n: shape.Dim(axis)}
	}
	return extent{v: s.dim(x, axis)}
}

// element returns an element of a vector of sizes.
func (s *Scope) element(v *Value, i int) extent {
	if list, ok := v.Fact().Ints(); ok && i < len(list) {
		if n, ok := list[i].Int(); ok {
			return extent{n: int(n)}
		}
	}
	return extent{v: asSizes(StridedSlice(s, Cast(s, v, tensor.Int32), At(i)))}
}

// extents returns the vector of sizes.
func (s *Scope) extents(list ...extent) *Value {
	known := make([]int, len(list))
	values := make([]*Value, len(list))
	unknown := false
	for i, x := range list {
		known[i], values[i] = x.n, s.value(x)
		unknown = unknown || x.v != nil
	}
	if !unknown {
		return s.vec32(known...)
	}
	return asSizes(Stack(s, values))
}

func (s *Scope) value(x extent) *Value {
	if x.v != nil {
		return x.v
	}
	return s.scalar32(x.n)
}

// combine computes a size of two: by f if both are numbers, and by an op otherwise.
func (s *Scope) combine(op string, a, b extent, f func(a, b int) int) extent {
	if a.v == nil && b.v == nil {
		return extent{n: f(a.n, b.n)}
	}
	return extent{v: asSizes(s.Emit1(op, nil, s.value(a), s.value(b)))}
}

func (s *Scope) sum(a extent, more ...extent) extent {
	for _, b := range more {
		if b != (extent{}) {
			a = s.combine("AddV2", a, b, func(a, b int) int { return a + b })
		}
	}
	return a
}

func (s *Scope) plus(a extent, n int) extent { return s.sum(a, extent{n: n}) }

func (s *Scope) minus(a, b extent) extent {
	return s.combine("Sub", a, b, func(a, b int) int { return a - b })
}

func (s *Scope) times(a extent, n int) extent {
	return s.combine("Mul", a, extent{n: n}, func(a, b int) int { return a * b })
}

func (s *Scope) over(a extent, n int) extent {
	return s.combine("FloorDiv", a, extent{n: n}, func(a, b int) int { return a / b })
}

func (s *Scope) half(a extent) extent { return s.over(a, 2) }

// missing returns by how much a size is short of a multiple of n.
func (s *Scope) missing(a extent, n int) extent {
	mod := func(a, b int) int { return a % b }
	rest := s.combine("FloorMod", a, extent{n: n}, mod)
	return s.combine("FloorMod", s.minus(extent{n: n}, rest), extent{n: n}, mod)
}
