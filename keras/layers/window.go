package layers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// window describes how a layer moves a kernel or a pool over images. Convolutions, pools and
// resizing layers make one for each call.
type window struct {
	rank                    int    // number of spatial dimensions
	size, strides, dilation []int  // in pixels, one for each spatial dimension
	padding, format         string // "valid", "same" or "causal"; ChannelsLast or ChannelsFirst
}

// convDefaults completes the sizes of a convolution to one for each dimension.
func convDefaults(rank int, kernel, strides, dilation *[]int, padding *string) {
	for _, sizes := range []*[]int{strides, dilation} {
		if len(*sizes) == 0 {
			*sizes = []int{1}
		}
	}
	for _, sizes := range []*[]int{kernel, strides, dilation} {
		*sizes = forEach(rank, *sizes)
	}
	*padding = strings.ToLower(*padding)
}

// forEach returns sizes, of which a single one is repeated for each dimension.
func forEach(rank int, sizes []int) []int {
	if len(sizes) == 1 && rank > 1 {
		return slices.Repeat(sizes, rank)
	}
	return sizes
}

// check returns an error for wrong settings. paddings are those that the layer has.
func (w *window) check(paddings ...string) error {
	if !slices.Contains(paddings, w.padding) {
		return fmt.Errorf("unknown padding %q, want one of %s", w.padding, strings.Join(paddings, ", "))
	}
	if err := checkFormat(w.format); err != nil {
		return err
	}
	lists := []struct {
		name  string
		sizes []int
	}{{"size", w.size}, {"strides", w.strides}, {"dilation rate", w.dilation}}
	for _, l := range lists {
		if len(l.sizes) != w.rank || slices.Min(l.sizes) < 1 {
			return fmt.Errorf("the %s is wrong (got %v, want %d positive numbers)", l.name, l.sizes, w.rank)
		}
		if slices.Max(l.sizes) > maxSize {
			return fmt.Errorf("the %s is too large (got %v, want at most %d)", l.name, l.sizes, maxSize)
		}
	}
	if slices.Max(w.strides) > 1 && slices.Max(w.dilation) > 1 {
		return fmt.Errorf("strides %v and a dilation rate %v can't both be greater than 1", w.strides, w.dilation)
	}
	return nil
}

// maxSize is the largest size of a window, stride or border along one dimension. The limit is
// Cairn's, so that products of sizes fit an int.
const maxSize = 1 << 24

// checkFormat returns an error if a data format is neither of the two.
func checkFormat(format string) error {
	if format != ChannelsLast && format != ChannelsFirst {
		return fmt.Errorf("unknown data format %q, want %s or %s", format, ChannelsLast, ChannelsFirst)
	}
	return nil
}

// channelAxis returns the dimension of the channels in images of one batch dimension.
func (w *window) channelAxis() int {
	if w.format == ChannelsFirst {
		return 1
	}
	return w.rank + 1
}

// channels returns the number of channels of the first input, -1 if it isn't known. more
// allows several batch dimensions.
func (w *window) channels(in base.Shapes, more bool) (int, error) {
	switch {
	case len(in) == 0 || in[0] == nil:
		return -1, nil
	case len(in[0]) < w.rank+2 || len(in[0]) > w.rank+2 && !more:
		return 0, fmt.Errorf("the input has %d dimensions, want %d: a batch's, %d of space and the channels'", len(in[0]), w.rank+2, w.rank)
	}
	n := in[0][len(in[0])-w.rank-2+w.channelAxis()]
	if n == 0 {
		return 0, errors.New("the input has no channels")
	}
	return n, nil
}

// toLast moves the channels of images with one batch dimension to the end.
func (w *window) toLast(s *ops.Scope, x *ops.Value) *ops.Value {
	if w.format != ChannelsFirst {
		return x
	}
	perm := []int{0}
	for i := range w.rank {
		perm = append(perm, i+2)
	}
	return ops.Transpose(s, x, append(perm, 1)...)
}

// fromLast moves the channels back to their dimension in the data format.
func (w *window) fromLast(s *ops.Scope, y *ops.Value) *ops.Value {
	if w.format != ChannelsFirst {
		return y
	}
	perm := []int{0, w.rank + 1}
	for i := range w.rank {
		perm = append(perm, i+1)
	}
	return ops.Transpose(s, y, perm...)
}

// images returns the input with one batch dimension and the channels last. restore
// reshapes results computed from it to the dimensions of the input.
func (w *window) images(s *ops.Scope, x *ops.Value) (images *ops.Value, restore func(y *ops.Value) *ops.Value) {
	rank := x.Fact().Shape.Rank()
	if rank <= w.rank+2 {
		return w.toLast(s, x), func(y *ops.Value) *ops.Value { return w.fromLast(s, y) }
	}
	batches := rank - w.rank - 1
	outer := ops.StridedSlice(s, ops.Shape(s, x), ops.To(batches))
	inner := ops.StridedSlice(s, ops.Shape(s, x), ops.From(batches))
	images = ops.ReshapeTo(s, x, ops.Concat(s, []ops.Input{[]int32{-1}, inner}, 0))
	return w.toLast(s, images), func(y *ops.Value) *ops.Value {
		y = w.fromLast(s, y)
		return ops.ReshapeTo(s, y, ops.Concat(s, []*ops.Value{outer, ops.StridedSlice(s, ops.Shape(s, y), ops.From(1))}, 0))
	}
}

// options returns the options of an op that moves the window.
func (w *window) options() *ops.WindowOptions {
	o := &ops.WindowOptions{Strides: slices.Clone(w.strides), Dilations: slices.Clone(w.dilation), Padding: ops.Valid}
	if w.padding == "same" {
		o.Padding = ops.Same
	}
	return o
}

// causal puts zeros before lines, so that no output depends on later steps.
func (w *window) causal(s *ops.Scope, x *ops.Value) *ops.Value {
	if w.padding != "causal" {
		return x
	}
	return ops.Pad(s, x, [2]int{}, [2]int{w.dilation[0] * (w.size[0] - 1)}, [2]int{})
}

// raised calls f with images and a kernel: for lines, with images and a kernel of
// height 1.
func (w *window) raised(s *ops.Scope, x *ops.Value, kernel ops.Input, f func(x, kernel ops.Input) *ops.Value) *ops.Value {
	if w.rank > 1 {
		return f(x, kernel)
	}
	return ops.Squeeze(s, f(ops.ExpandDims(s, x, 1), ops.ExpandDims(s, kernel, 0)), 1)
}

// convolveGroups returns the convolution of images, channels last, with a kernel for groups of
// channels. TensorFlow's kernels for processors have no gradient of such a convolution, and none for
// volumes. So it is a function that TensorFlow compiles, as in tf_keras.
func (w *window) convolveGroups(s *ops.Scope, x *ops.Value, kernel ops.Input) *ops.Value {
	compiled := function.New(func(s *ops.Scope, in []*ops.Value) *ops.Value {
		return w.convolve(s, in[0], in[1])
	}, &function.Options{JITCompile: true})
	return compiled.Apply(s, []*ops.Value{x, ops.Const(s, kernel)})
}

// convolve returns the convolution of images, channels last, with a kernel.
func (w *window) convolve(s *ops.Scope, x *ops.Value, kernel ops.Input) *ops.Value {
	return ops.Convolution(s, w.causal(s, x), kernel, w.options())
}

// depthwise returns the convolution of each channel of images or lines, channels last,
// with separate kernels.
func (w *window) depthwise(s *ops.Scope, x *ops.Value, kernel ops.Input) *ops.Value {
	return w.raised(s, w.causal(s, x), kernel, func(x, kernel ops.Input) *ops.Value {
		o := w.options()
		if w.rank == 1 { // the op takes equal strides only
			o.Strides, o.Dilations = []int{w.strides[0], w.strides[0]}, []int{1, w.dilation[0]}
		}
		return ops.DepthwiseConv2D(s, x, kernel, o)
	})
}

// transpose returns the transposed convolution of images, channels last, with a kernel
// [size…, filters, channels]. outputPadding may be nil.
func (w *window) transpose(s *ops.Scope, x *ops.Value, kernel ops.Input, filters int, outputPadding []int) *ops.Value {
	in := x.Fact().Shape
	dims := ops.Shape(s, x)
	static := tensor.Shape{in.Dim(0)}
	sizes := []ops.Input{ops.StridedSlice(s, dims, ops.To(1))}
	for i, stride := range w.strides {
		more := w.lengthened(i, outputPadding)
		n := in.Dim(i + 1)
		if n >= 0 {
			n = n*stride + more
			sizes = append(sizes, []int32{int32(n)})
		} else {
			sizes = append(sizes, ops.Add(s, ops.Mul(s, ops.StridedSlice(s, dims, ops.Span(i+1, i+2)), int32(stride)), int32(more)))
		}
		static = append(static, n)
	}
	static = append(static, filters)
	sizes = append(sizes, []int32{int32(filters)})
	size := ops.Input(ops.Concat(s, sizes, 0))
	y := ops.ConvolutionTranspose(s, size, kernel, x, w.options())
	if s.Err() == nil && !y.Shape().Known() {
		y = ops.EnsureShape(s, y, static...)
	}
	return y
}

// lengthened returns by how much the result of a transposed convolution is longer, along
// dimension i, than the input's size times the stride: tf_keras's conv_utils.deconv_output_length.
func (w *window) lengthened(i int, outputPadding []int) int {
	size, stride := (w.size[i]-1)*w.dilation[i]+1, w.strides[i]
	switch {
	case outputPadding == nil && w.padding == "same":
		return 0
	case outputPadding == nil:
		return max(size-stride, 0)
	case w.padding == "same":
		return outputPadding[i] - stride + size - 2*(size/2)
	}
	return outputPadding[i] - stride + size
}

// outputSize returns the size of the result along dimension i for an input of size n, -1
// if that isn't known.
func (w *window) outputSize(i, n int) int {
	if n < 0 {
		return -1
	}
	if w.padding == "valid" {
		n -= (w.size[i] - 1) * w.dilation[i]
	}
	return max(0, (n+w.strides[i]-1)/w.strides[i])
}
