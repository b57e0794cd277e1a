// Package applications has the image models of tf.keras.applications, with tf_keras's
// layers, names and configs:
//
//	model, err := applications.MobileNetV2(ctx, &applications.Options{Classes: 5})
//	x := applications.Preprocess(s, images, applications.ModeTF)
//	y := model.Call(s, x)
//
// The weights are random: nothing is downloaded. Weights of tf_keras come from a checkpoint
// that Python has written, since the object graph is the same; [Options.ZeroWeights] saves the
// time for the random ones.
package applications

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Options are the options of all models. The zero value is a classifier of the 1000 classes
// of ImageNet.
type Options struct {
	// InputShape is the shape of one image, [height, width, channels]; -1 is any height or
	// width, which a model with a top can't have. Default: the size for which the model was
	// designed with 3 channels, and any size if NoTop is set.
	InputShape tensor.Shape
	// NoTop leaves out the classifier. The output is then the features.
	NoTop bool
	// Pooling is how features are reduced to one vector for each image if NoTop is set:
	// AveragePooling, MaxPooling, or "" for not at all. Default: "".
	Pooling string
	// Classes is the number of classes. Default: 1000.
	Classes int
	// ClassifierActivation is the activation of the classifier; activations.Linear
	// returns logits, the only choice for RegNet models. Default: activations.Softmax.
	ClassifierActivation activations.Activation
	// Alpha multiplies the numbers of filters of MobileNet, MobileNetV2 and MobileNetV3, up to
	// 1000, a limit of ours. Other models refuse it. Default: 1.
	Alpha float64
	// Minimalistic leaves the blocks out of MobileNetV3 that are slow on some devices. Other
	// models refuse it.
	Minimalistic bool
	// NoPreprocessing leaves out the layers with which MobileNetV3, EfficientNetV2, ConvNeXt,
	// RegNet and ResNetRS scale pixels of 0 to 255. Other models refuse it.
	NoPreprocessing bool
	// ZeroWeights makes all weights 0, which takes no time, for a model whose weights come
	// from a file. Default: they are random.
	ZeroWeights bool
	// Name is the model's name. Default: tf_keras's.
	Name string
}

// The poolings of [Options].
const (
	AveragePooling = "avg"
	MaxPooling     = "max"
)

// features are the options that not all models have.
type features uint8

const (
	hasAlpha features = 1 << iota
	hasMinimalistic
	hasPreprocessing
	anySizeWithTop
	onlyLogits
)

// design is the way in which a model uses its options.
type design struct {
	constructor string   // for errors
	name        string   // the model's default name
	size        int      // the default height and width of images, in pixels
	minSize     int      // the least height and width
	features    features // the options that the model has
}

// network is a model that is being connected. A failure stays in its scope. The methods add layers
// to x and return the output; the other files call them for each architecture. Defaults and orders
// of layers in them are those of tf_keras's applications and must stay.
type network struct {
	Options
	scope *ops.Scope
	input *ops.Value
	design
}

// begin checks the options and makes the input.
func begin(ctx context.Context, d design, opts *Options) (*network, error) {
	n := &network{design: d}
	if opts != nil {
		n.Options = *opts
	}
	if err := n.check(); err != nil {
		return nil, fmt.Errorf("applications: %s: %w", d.constructor, err)
	}
	n.scope = keras.Symbolic(ctx)
	if n.ZeroWeights {
		n.scope = base.WithZeroWeights(n.scope)
	}
	n.input = keras.Input(n.scope, n.InputShape, nil)
	return n, nil
}

// check sets the defaults of the options and reports wrong ones.
func (n *network) check() error {
	switch {
	case n.Alpha != 0 && n.features&hasAlpha == 0:
		return errors.New("the model has no Alpha")
	case n.ClassifierActivation != nil && n.ClassifierActivation != activations.Linear && n.features&onlyLogits != 0:
		return errors.New("the model has no ClassifierActivation; its classifier returns logits")
	case n.Minimalistic && n.features&hasMinimalistic == 0:
		return errors.New("the model has no minimalistic form")
	case n.NoPreprocessing && n.features&hasPreprocessing == 0:
		return errors.New("the model has no preprocessing to leave out")
	case !(n.Alpha >= 0 && n.Alpha <= 1000):
		return fmt.Errorf("the field Alpha is %v, want more than 0 and at most 1000", n.Alpha)
	case n.Classes < 0:
		return fmt.Errorf("the field Classes is %d, want 1 or more", n.Classes)
	case n.Pooling != "" && n.Pooling != AveragePooling && n.Pooling != MaxPooling:
		return fmt.Errorf("the field Pooling is %q, want %q, %q or none", n.Pooling, AveragePooling, MaxPooling)
	}
	if n.Alpha == 0 {
		n.Alpha = 1
	}
	if n.Classes == 0 {
		n.Classes = 1000
	}
	if n.ClassifierActivation == nil {
		n.ClassifierActivation = activations.Softmax
	}
	if n.InputShape == nil {
		n.InputShape = tensor.Shape{-1, -1, 3}
		if !n.NoTop && n.features&anySizeWithTop == 0 {
			n.InputShape = tensor.Shape{n.size, n.size, 3}
		}
		return nil
	}
	if len(n.InputShape) != 3 || n.InputShape[2] < 1 {
		return fmt.Errorf("InputShape is %v, want [height, width, channels]", n.InputShape)
	}
	for _, size := range n.InputShape[:2] {
		switch {
		case size < 0 && !n.NoTop && n.features&anySizeWithTop == 0:
			return fmt.Errorf("InputShape is %v, want a known size for a model with a top; set NoTop for images of any size", n.InputShape)
		case size >= 0 && size < n.minSize:
			return fmt.Errorf("InputShape is %v, want images of %dx%d or more", n.InputShape, n.minSize, n.minSize)
		}
	}
	n.InputShape = n.InputShape.Clone()
	return nil
}

// model returns the model between the input and out.
func (n *network) model(out *ops.Value) (*keras.Functional, error) {
	name := n.design.name
	if n.Options.Name != "" {
		name = n.Options.Name
	}
	m, err := keras.NewModel(n.input, out, &keras.ModelOptions{Name: name})
	if err != nil {
		return nil, fmt.Errorf("applications: %s: %w", n.constructor, err)
	}
	return m, nil
}

// layer is a layer that can be named.
type layer interface {
	keras.Callable
	SetName(name string)
}

// call sets the name of a layer, "" for an automatic one, and calls it.
func (n *network) call(name string, l layer, x ...*ops.Value) *ops.Value {
	if name != "" {
		l.SetName(name)
	}
	if len(x) == 1 {
		return l.Call(n.scope, x[0])
	}
	return l.Call(n.scope, x)
}

// function calls a function of TensorFlow as the layer that tf_keras makes of it.
func (n *network) function(name string, x *ops.Value, args map[string]any) *ops.Value {
	l := &layers.TFOpLambda{Function: name}
	return l.RunAll(n.scope, l, []*ops.Value{x}, &base.CallOptions{Args: args})[0]
}

// sum adds two values as the operator + does in Python.
func (n *network) sum(x *ops.Value, y any) *ops.Value {
	return n.function("__operators__.add", x, map[string]any{"y": y, "name": nil})
}

// convOptions are the settings of a convolution.
type convOptions struct {
	stride      int // default: 1
	same        bool
	noBias      bool
	groups      int
	activation  activations.Activation
	initializer initializers.Initializer
}

func (o *convOptions) padding() string {
	if o.same {
		return "same"
	}
	return "valid"
}

func (o *convOptions) strides() []int {
	if o.stride == 0 {
		return nil
	}
	return []int{o.stride}
}

// conv convolves x with square kernels.
func (n *network) conv(name string, x *ops.Value, filters, kernel int, o convOptions) *ops.Value {
	return n.conv2(name, x, filters, []int{kernel}, o)
}

// conv2 convolves x with kernels of [height, width] or of one size for both.
func (n *network) conv2(name string, x *ops.Value, filters int, kernel []int, o convOptions) *ops.Value {
	return n.call(name, &layers.Conv2D{Filters: filters, KernelSize: kernel, Strides: o.strides(), Padding: o.padding(), NoBias: o.noBias,
		Groups: o.groups, Activation: o.activation, KernelInitializer: o.initializer}, x)
}

// depthwise convolves each channel of x with a square kernel, without a bias.
func (n *network) depthwise(name string, x *ops.Value, kernel int, o convOptions) *ops.Value {
	return n.call(name, &layers.DepthwiseConv2D{KernelSize: []int{kernel}, Strides: o.strides(), Padding: o.padding(), NoBias: true,
		DepthwiseInitializer: o.initializer}, x)
}

// separable convolves by channel, then across the channels, without a bias.
func (n *network) separable(name string, x *ops.Value, filters, kernel int, o convOptions) *ops.Value {
	return n.call(name, &layers.SeparableConv2D{Filters: filters, KernelSize: []int{kernel}, Strides: o.strides(), Padding: o.padding(), NoBias: true,
		KernelInitializer: o.initializer}, x)
}

// normSettings are the settings of all batch normalizations of a family.
type normSettings struct {
	axis              int
	momentum, epsilon *float64 // default: the layer's
	noScale           bool
}

func (n *network) norm(name string, x *ops.Value, o normSettings) *ops.Value {
	return n.call(name, &layers.BatchNormalization{Axis: []int{o.axis}, Momentum: o.momentum, Epsilon: o.epsilon, NoScale: o.noScale}, x)
}

func (n *network) activation(name string, x *ops.Value, f activations.Activation) *ops.Value {
	return n.call(name, &layers.Activation{Activation: f}, x)
}

// relu adds the layer Activation with "relu".
func (n *network) relu(name string, x *ops.Value) *ops.Value {
	return n.activation(name, x, activations.Relu)
}

// relu6 adds the layer ReLU with a largest value of 6.
func (n *network) relu6(name string, x *ops.Value) *ops.Value {
	return n.call(name, &layers.ReLU{MaxValue: new(6.0)}, x)
}

// pad puts zeros around images: before and after, for height and width alike.
func (n *network) pad(name string, x *ops.Value, before, after int) *ops.Value {
	p := [2]int{before, after}
	return n.call(name, &layers.ZeroPadding2D{Padding: [][2]int{p, p}}, x)
}

// padFor puts zeros around images so that a convolution with stride 2 has the size of
// padding "same".
func (n *network) padFor(name string, x *ops.Value, kernel int) *ops.Value {
	half := kernel / 2
	padding := [][2]int{{half - 1, half}, {half - 1, half}}
	if shape := x.Shape(); len(shape) == 4 && shape[1] >= 0 {
		for i := range padding {
			padding[i][0] = half - (1 - max(0, shape[1+i])%2)
		}
	}
	return n.call(name, &layers.ZeroPadding2D{Padding: padding}, x)
}

func (n *network) maxPool(name string, x *ops.Value, size, stride int, same bool) *ops.Value {
	return n.call(name, &layers.MaxPooling2D{PoolSize: []int{size}, Strides: []int{stride}, Padding: (&convOptions{same: same}).padding()}, x)
}

func (n *network) averagePool(name string, x *ops.Value, size, stride int, same bool) *ops.Value {
	return n.call(name, &layers.AveragePooling2D{PoolSize: []int{size}, Strides: []int{stride}, Padding: (&convOptions{same: same}).padding()}, x)
}

func (n *network) globalAverage(name string, x *ops.Value) *ops.Value {
	return n.call(name, &layers.GlobalAveragePooling2D{}, x)
}

func (n *network) add(name string, x ...*ops.Value) *ops.Value {
	return n.call(name, &layers.Add{}, x...)
}

func (n *network) multiply(name string, x ...*ops.Value) *ops.Value {
	return n.call(name, &layers.Multiply{}, x...)
}

func (n *network) concatenate(name string, axis int, x ...*ops.Value) *ops.Value {
	return n.call(name, &layers.Concatenate{Axis: new(axis)}, x...)
}

// dropExamples adds the dropout of whole examples, which skips a residual block. rate is the part
// of the examples.
func (n *network) dropExamples(name string, x *ops.Value, rate float64) *ops.Value {
	return n.call(name, &layers.Dropout{Rate: rate, NoiseShape: base.Shape{-1, 1, 1, 1}}, x)
}

// classify adds the layer "predictions".
func (n *network) classify(x *ops.Value, kernel, bias initializers.Initializer) *ops.Value {
	return n.call("predictions", &layers.Dense{Units: n.Classes, Activation: n.ClassifierActivation, KernelInitializer: kernel, BiasInitializer: bias}, x)
}

// pool reduces the features as the option Pooling requires. The names are those of the
// layers.
func (n *network) pool(x *ops.Value, average, largest string) *ops.Value {
	switch n.Pooling {
	case AveragePooling:
		return n.globalAverage(average, x)
	case MaxPooling:
		return n.call(largest, &layers.GlobalMaxPooling2D{}, x)
	}
	return x
}

// dropoutHead adds the mean of each channel, a dropout and the classifier, or the pooling of
// the features.
func (n *network) dropoutHead(x *ops.Value, rate float64, kernel, bias initializers.Initializer) *ops.Value {
	if n.NoTop {
		return n.pool(x, "avg_pool", "max_pool")
	}
	return n.classify(n.call("top_dropout", &layers.Dropout{Rate: rate}, n.globalAverage("avg_pool", x)), kernel, bias)
}

// squeeze multiplies channels by a function of the means of all channels, which goes through
// reduced ones.
func (n *network) squeeze(name string, x *ops.Value, reduced, filters int, f activations.Activation) *ops.Value {
	y := n.globalAverage(name+"squeeze", x)
	y = n.call(name+"reshape", &layers.Reshape{TargetShape: []int{1, 1, filters}}, y)
	y = n.conv(name+"reduce", y, reduced, 1, convOptions{same: true, activation: f, initializer: fanOut()})
	y = n.conv(name+"expand", y, filters, 1, convOptions{same: true, activation: activations.Sigmoid, initializer: fanOut()})
	return n.multiply(name+"excite", x, y)
}

// imageNetNorm adds the normalization of pixels of 0 to scale with the moments of ImageNet.
func (n *network) imageNetNorm(name string, x *ops.Value, axis int, scale float64) *ops.Value {
	l := &layers.Normalization{Axis: []int{axis}}
	for i, mean := range imageNetMean {
		deviation := imageNetDeviation[i] * scale
		l.Mean, l.Variance = append(l.Mean, mean*scale), append(l.Variance, deviation*deviation)
	}
	return n.call(name, l, x)
}

// head adds the end of most models: the mean of each channel and the classifier, or the
// pooling of the features. named means that the pooling layers have names.
func (n *network) head(x *ops.Value, named bool) *ops.Value {
	average, largest := "avg_pool", "max_pool"
	if !n.NoTop {
		return n.classify(n.globalAverage(average, x), nil, nil)
	}
	if !named {
		average, largest = "", ""
	}
	return n.pool(x, average, largest)
}

// channels returns the number of channels of an image.
func channels(x *ops.Value) int {
	shape := x.Shape()
	if len(shape) == 0 {
		return 1 // the scope has failed
	}
	return shape[len(shape)-1]
}

// rounded rounds a number of filters to a multiple of divisor.
func rounded(v float64, divisor int) int {
	return max(divisor, int(v+float64(divisor)/2)/divisor*divisor)
}

// divisible rounds a number of filters to a multiple of divisor, by less than 10% downwards.
func divisible(v float64, divisor int) int {
	n := rounded(v, divisor)
	if float64(n) < 0.9*v {
		n += divisor
	}
	return n
}
