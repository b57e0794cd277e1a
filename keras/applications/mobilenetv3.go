package applications

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
)

// mobileBlock is a row of the tables of MobileNetV3.
type mobileBlock struct {
	expansion float64 // the factor of the input's channels
	filters   int     // the output's channels, times Alpha
	large     bool    // the kernel is 5x5 unless the model is minimalistic
	stride    int
	squeeze   bool // has a squeeze-and-excite block unless the model is minimalistic
	hardSwish bool // instead of relu, unless the model is minimalistic
}

// MobileNetV3Small returns the smaller model of "Searching for MobileNetV3". It scales
// pixels of 0 to 255 itself.
func MobileNetV3Small(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return mobileNetV3(ctx, "Small", "MobilenetV3small", 1024, []mobileBlock{
		{1, 16, false, 2, true, false}, {72.0 / 16, 24, false, 2, false, false}, {88.0 / 24, 24, false, 1, false, false},
		{4, 40, true, 2, true, true}, {6, 40, true, 1, true, true}, {6, 40, true, 1, true, true},
		{3, 48, true, 1, true, true}, {3, 48, true, 1, true, true},
		{6, 96, true, 2, true, true}, {6, 96, true, 1, true, true}, {6, 96, true, 1, true, true},
	}, opts)
}

// MobileNetV3Large returns the larger model of "Searching for MobileNetV3". It scales
// pixels of 0 to 255 itself.
func MobileNetV3Large(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return mobileNetV3(ctx, "Large", "MobilenetV3large", 1280, []mobileBlock{
		{1, 16, false, 1, false, false}, {4, 24, false, 2, false, false}, {3, 24, false, 1, false, false},
		{3, 40, true, 2, true, false}, {3, 40, true, 1, true, false}, {3, 40, true, 1, true, false},
		{6, 80, false, 2, false, true}, {2.5, 80, false, 1, false, true}, {2.3, 80, false, 1, false, true}, {2.3, 80, false, 1, false, true},
		{6, 112, false, 1, true, true}, {6, 112, false, 1, true, true},
		{6, 160, true, 2, true, true}, {6, 160, true, 1, true, true}, {6, 160, true, 1, true, true},
	}, opts)
}

// mobileNetV3 connects a model. last is the number of channels before the classifier. Layers, their
// names and their order are those of tf_keras's applications/mobilenet_v3.py, so that its weights fit.
func mobileNetV3(ctx context.Context, size, name string, last int, blocks []mobileBlock, opts *Options) (*keras.Functional, error) {
	n, err := begin(ctx, design{constructor: "MobileNetV3" + size, name: name, size: 224, minSize: 32,
		features: hasAlpha | hasMinimalistic | hasPreprocessing | anySizeWithTop}, opts)
	if err != nil {
		return nil, err
	}
	norm := mobileNorm()
	x := n.input
	if !n.NoPreprocessing {
		x = n.call("", &layers.Rescaling{Scale: layers.Numbers{1.0 / 127.5}, Offset: layers.Numbers{-1}}, x)
	}
	x = n.conv("Conv", x, 16, 3, convOptions{stride: 2, same: true, noBias: true})
	x = n.mobileActivation(n.norm("Conv/BatchNorm", x, norm), true)
	for id, b := range blocks {
		x = n.mobileBlock(x, b, id)
	}
	x = n.conv("Conv_1", x, divisible(float64(channels(x)*6), 8), 1, convOptions{same: true, noBias: true})
	x = n.mobileActivation(n.norm("Conv_1/BatchNorm", x, norm), true)
	if n.NoTop {
		return n.model(n.pool(x, "avg_pool", "max_pool"))
	}
	if n.Alpha > 1 {
		last = divisible(float64(last)*n.Alpha, 8)
	}
	x = n.call("", &layers.GlobalAveragePooling2D{KeepDims: true}, x)
	x = n.mobileActivation(n.conv("Conv_2", x, last, 1, convOptions{same: true}), true)
	x = n.call("", &layers.Dropout{Rate: 0.2}, x)
	x = n.conv("Logits", x, n.Classes, 1, convOptions{same: true})
	return n.model(n.activation("Predictions", n.call("", &layers.Flatten{}, x), n.ClassifierActivation))
}

// mobileActivation adds the hard swish of a model that isn't minimalistic, or a relu.
func (n *network) mobileActivation(x *ops.Value, hardSwish bool) *ops.Value {
	if !hardSwish || n.Minimalistic {
		return n.call("", &layers.ReLU{}, x)
	}
	return n.multiply("", x, n.hardSigmoid(x))
}

// hardSigmoid computes min(max(x+3, 0), 6)/6 with the layers that tf_keras has for it.
func (n *network) hardSigmoid(x *ops.Value) *ops.Value {
	relu := n.relu6("", n.sum(x, 3.0))
	return n.function("math.multiply", relu, map[string]any{"y": 1.0 / 6, "name": nil})
}

// mobileBlock adds an inverted residual block with squeeze and excitation.
func (n *network) mobileBlock(x *ops.Value, b mobileBlock, id int) *ops.Value {
	norm := mobileNorm()
	in, shortcut := channels(x), x
	filters := divisible(float64(b.filters)*n.Alpha, 8)
	expanded := divisible(float64(in)*b.expansion, 8)
	prefix := "expanded_conv/"
	if id > 0 {
		prefix = fmt.Sprintf("expanded_conv_%d/", id)
		x = n.conv(prefix+"expand", x, expanded, 1, convOptions{same: true, noBias: true})
		x = n.mobileActivation(n.norm(prefix+"expand/BatchNorm", x, norm), b.hardSwish)
	}
	kernel := 3
	if b.large && !n.Minimalistic {
		kernel = 5
	}
	o := convOptions{same: true}
	if b.stride == 2 {
		x = n.padFor(prefix+"depthwise/pad", x, kernel)
		o = convOptions{stride: 2}
	}
	x = n.depthwise(prefix+"depthwise", x, kernel, o)
	x = n.mobileActivation(n.norm(prefix+"depthwise/BatchNorm", x, norm), b.hardSwish)
	if b.squeeze && !n.Minimalistic {
		x = n.mobileSqueeze(prefix+"squeeze_excite/", x, expanded)
	}
	x = n.conv(prefix+"project", x, filters, 1, convOptions{same: true, noBias: true})
	x = n.norm(prefix+"project/BatchNorm", x, norm)
	if b.stride == 1 && in == filters {
		return n.add(prefix+"Add", shortcut, x)
	}
	return x
}

// mobileSqueeze multiplies channels by a function of the means of all channels.
func (n *network) mobileSqueeze(prefix string, x *ops.Value, filters int) *ops.Value {
	y := n.call(prefix+"AvgPool", &layers.GlobalAveragePooling2D{KeepDims: true}, x)
	y = n.conv(prefix+"Conv", y, divisible(float64(filters)*0.25, 8), 1, convOptions{same: true})
	y = n.call(prefix+"Relu", &layers.ReLU{}, y)
	y = n.hardSigmoid(n.conv(prefix+"Conv_1", y, filters, 1, convOptions{same: true}))
	return n.multiply(prefix+"Mul", x, y)
}
