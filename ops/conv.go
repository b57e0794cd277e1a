package ops

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Padding is the treatment of a window that reaches beyond an image's border.
type Padding string

// The paddings.
const (
	Valid Padding = "VALID" // windows stay inside; the zero value means this too
	Same  Padding = "SAME"  // zeros around: the result has the image's size divided by the stride, rounded up
)

// Format is the order of the dimensions of an image.
type Format string

// The formats: N is the batch, C the channels.
const (
	ChannelsLast  Format = "NHWC" // the zero value means this too
	ChannelsFirst Format = "NCHW"
)

// WindowOptions are the options of ops that move a window.
type WindowOptions struct {
	// Strides are the distances between neighbouring windows, by height and width
	// (for volumes by depth, height and width). One number is for all. Default: 1;
	// for pooling, the windows' size.
	Strides []int
	// Dilations are the distances between a window's elements. Default: 1.
	Dilations []int
	// Padding is the border's treatment. Default: Valid.
	Padding Padding
	// Explicit are zeros before and after each of height and width. They replace
	// Padding; volumes can't have them. Default: none.
	Explicit [][2]int
	// Format is the layout of the images. Default: ChannelsLast.
	Format Format
}

// attrs returns the attributes of an op on images of n spatial dimensions. size is that of
// a pooling's windows, nil for a convolution.
func (o *WindowOptions) attrs(n int, size []int) (graph.Attrs, error) {
	format := o.Format
	if format == "" {
		format = ChannelsLast
	}
	first := format == ChannelsFirst
	if n == 3 {
		format = map[Format]Format{ChannelsLast: "NDHWC", ChannelsFirst: "NCDHW"}[format]
	}
	attrs := graph.Attrs{graph.String("data_format", string(format))}
	strides := o.Strides
	if strides == nil {
		strides = size
	}
	for _, a := range []struct {
		name string
		v    []int
	}{{"strides", strides}, {"dilations", o.Dilations}, {"ksize", size}} {
		switch {
		case a.v == nil && a.name != "strides":
			continue
		case len(a.v) == 0:
			a.v = []int{1}
		case len(a.v) != 1 && len(a.v) != n:
			return nil, fmt.Errorf("%s has %d entries for %d dimensions", a.name, len(a.v), n)
		}
		list := make([]int64, n+2)
		list[0], list[n+1] = 1, 1
		for i := range n {
			at := i + 1
			if first {
				at, list[1] = i+2, 1
			}
			list[at] = int64(a.v[i%len(a.v)])
		}
		attrs = append(attrs, graph.Ints(a.name, list...))
	}
	if o.Explicit == nil {
		padding := o.Padding
		if padding == "" {
			padding = Valid
		}
		return append(attrs, graph.String("padding", string(padding))), nil
	}
	if len(o.Explicit) != n || n != 2 {
		return nil, fmt.Errorf("the padding WindowOptions.Explicit has %d entries; images take two, for height and width", len(o.Explicit))
	}
	list := make([]int64, 2*(n+2))
	for i, p := range o.Explicit {
		at := 2 * (i + 1)
		if first {
			at += 2
		}
		list[at], list[at+1] = int64(p[0]), int64(p[1])
	}
	return append(attrs, graph.String("padding", "EXPLICIT"), graph.Ints("explicit_paddings", list...)), nil
}

// windowed emits an op that moves a window; n and size are as for attrs.
func windowed(s *Scope, op string, n int, size []int, o []*WindowOptions, in ...Input) *Value {
	attrs, err := last(o).attrs(n, size)
	if err != nil {
		return s.Fail(op, err)
	}
	return s.Emit1(op, attrs, in...)
}

// Conv2D convolves images with a filter of height, width, input channels and
// output channels. If the images have a multiple of the filter's input
// channels, these are groups.
func Conv2D(s *Scope, x, filter Input, o ...*WindowOptions) *Value {
	return windowed(s, "Conv2D", 2, nil, o, x, filter)
}

// Conv2DTranspose computes the images of the given sizes, all four, whose
// convolution with the filter has the gradient y: a transposed convolution. The
// filter is that of the convolution, from the result's channels to y's.
func Conv2DTranspose(s *Scope, sizes, filter, y Input, o ...*WindowOptions) *Value {
	return windowed(s, "Conv2DBackpropInput", 2, nil, o, sizes, filter, y)
}

// DepthwiseConv2D convolves each channel with separate filters; filter is
// height, width, channels and outputs a channel. With dilations it emits SpaceToBatchND,
// the convolution and BatchToSpaceND, as tf.nn.depthwise_conv2d; the strides are then those
// within the images that SpaceToBatchND makes.
func DepthwiseConv2D(s *Scope, x, filter Input, o ...*WindowOptions) *Value {
	const op = "DepthwiseConv2dNative"
	opts := *last(o)
	rates, err := opts.rates(2)
	if err != nil {
		return s.Fail(op, err)
	}
	if rates == nil {
		return windowed(s, op, 2, nil, o, x, filter)
	}
	v, f := Const(s, x), Const(s, filter)
	if !s.alive() {
		return s.failed()
	}
	return s.dilated(op, v, f, &opts, rates, func(x *Value, o *WindowOptions) *Value {
		return windowed(s, op, 2, nil, []*WindowOptions{o}, x, f)
	})
}

// Conv3D convolves volumes with a filter of depth, height, width, input channels
// and output channels.
func Conv3D(s *Scope, x, filter Input, o ...*WindowOptions) *Value {
	return windowed(s, "Conv3D", 3, nil, o, x, filter)
}

// Conv3DTranspose computes the volumes of the given sizes, all five, whose convolution
// with the filter has the gradient y. The filter is that of the convolution, from the
// result's channels to y's.
func Conv3DTranspose(s *Scope, sizes, filter, y Input, o ...*WindowOptions) *Value {
	return windowed(s, "Conv3DBackpropInputV2", 3, nil, o, sizes, filter, y)
}

// MaxPool takes the largest element of windows of a size: height and width, or
// one number for both.
func MaxPool(s *Scope, x Input, size []int, o ...*WindowOptions) *Value {
	return windowed(s, "MaxPool", 2, orOnes(size), o, x)
}

// AvgPool takes the mean of windows of a size: height and width, or one number
// for both. Elements beyond the border don't count.
func AvgPool(s *Scope, x Input, size []int, o ...*WindowOptions) *Value {
	return windowed(s, "AvgPool", 2, orOnes(size), o, x)
}

// MaxPool3D takes the largest element of windows of a size in volumes: depth, height and
// width, or one number for all.
func MaxPool3D(s *Scope, x Input, size []int, o ...*WindowOptions) *Value {
	return windowed(s, "MaxPool3D", 3, orOnes(size), o, x)
}

// AvgPool3D takes the mean of windows of a size in volumes: depth, height and width, or
// one number for all. Elements beyond the border don't count.
func AvgPool3D(s *Scope, x Input, size []int, o ...*WindowOptions) *Value {
	return windowed(s, "AvgPool3D", 3, orOnes(size), o, x)
}

func orOnes(size []int) []int {
	if size == nil {
		return []int{1}
	}
	return size
}

// BatchNormOptions choose the form of [BatchNorm]; nil means the defaults.
type BatchNormOptions struct {
	// Epsilon is added to the variance. Default: 0.001, that of
	// tf.compat.v1.nn.fused_batch_norm.
	Epsilon float64
	// Training normalizes with the batch's own mean and variance. Default: with
	// those given.
	Training bool
	// Momentum mixes the mean and the variance that are returned in training: the given
	// ones, times Momentum, are added to the batch's, times 1-Momentum. Default: 0.
	Momentum float64
	// Format is the layout of the images. Default: ChannelsLast.
	Format Format
}

// BatchNorm normalizes each channel of images by a mean and a variance, then
// scales and shifts it. It returns the images and the mean and variance of the
// batch (in training, the variance divided by one element less), or those given.
// In training the given ones may be nil.
func BatchNorm(s *Scope, x, scale, offset, mean, variance Input, opts ...*BatchNormOptions) (y, batchMean, batchVariance *Value) {
	o := last(opts)
	epsilon, format := o.Epsilon, o.Format
	if epsilon == 0 {
		epsilon = 0.001
	}
	if format == "" {
		format = ChannelsLast
	}
	if o.Training && mean == nil && variance == nil {
		mean, variance = []float32{}, []float32{}
	}
	attrs := graph.Attrs{graph.Float("epsilon", epsilon), graph.Bool("is_training", o.Training), graph.String("data_format", string(format))}
	if o.Training && o.Momentum != 0 {
		attrs = append(attrs, graph.Float("exponential_avg_factor", 1-o.Momentum))
	}
	out := s.EmitN(6, "FusedBatchNormV3", attrs, x, scale, offset, mean, variance)
	return out[0], out[1], out[2]
}

// ResizeMethod is a way to compute the pixels of images of another size.
type ResizeMethod string

// The methods.
const (
	Bilinear ResizeMethod = "ResizeBilinear" // the zero value means this too
	Nearest  ResizeMethod = "ResizeNearestNeighbor"
	Bicubic  ResizeMethod = "ResizeBicubic"
	Area     ResizeMethod = "ResizeArea"

	// These methods weight the surrounding pixels by the kernel of that name. They ignore
	// AlignCorners and Legacy.
	Lanczos3      ResizeMethod = "lanczos3"
	Lanczos5      ResizeMethod = "lanczos5"
	Gaussian      ResizeMethod = "gaussian"
	MitchellCubic ResizeMethod = "mitchellcubic"
)

// ResizeOptions choose the form of [Resize]; nil means the defaults.
type ResizeOptions struct {
	// Method is the way to compute pixels. Default: Bilinear.
	Method ResizeMethod
	// AlignCorners aligns the centers of the corners' pixels, as some models of
	// TensorFlow 1 do. Default: the images' borders are aligned.
	AlignCorners bool
	// Legacy lays the pixels' upper left corners onto each other, as TensorFlow 1
	// did. Default: as tf.image.resize.
	Legacy bool
}

// scaled emits the op of the methods that are kernels.
func (m ResizeMethod) scaled(s *Scope, images, size Input) *Value {
	images = Const(s, images)
	from := Cast(s, StridedSlice(s, Shape(s, images), Span(1, 3)), tensor.Float32)
	scale := Div(s, Cast(s, size, tensor.Float32), from)
	return s.Emit1("ScaleAndTranslate", graph.Attrs{graph.String("kernel_type", string(m)), graph.Bool("antialias", false)},
		images, size, scale, []float32{0, 0})
}

// Resize makes images of another height and width. All methods but Nearest
// return float32.
func Resize(s *Scope, images Input, height, width int, opts ...*ResizeOptions) *Value {
	return ResizeTo(s, images, s.vec32(height, width), opts...)
}

// ResizeTo makes images of another size as [Resize] does. size is an int32 vector of the height and the
// width.
func ResizeTo(s *Scope, images, size Input, opts ...*ResizeOptions) *Value {
	o := last(opts)
	method := o.Method
	switch method {
	case "":
		method = Bilinear
	case Lanczos3, Lanczos5, Gaussian, MitchellCubic:
		return method.scaled(s, images, size)
	}
	attrs := graph.Attrs{graph.Bool("align_corners", o.AlignCorners)}
	if method != Area {
		attrs = append(attrs, graph.Bool("half_pixel_centers", !o.AlignCorners && !o.Legacy))
	}
	return s.Emit1(string(method), attrs, images, size)
}
