package applications

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
)

// MobileNet returns the model of "MobileNets: Efficient Convolutional Neural Networks for
// Mobile Vision Applications". Its images are preprocessed by ModeTF. Layers, their names and
// their order are those of tf_keras's applications/mobilenet.py, so that its weights fit.
func MobileNet(ctx context.Context, opts *Options) (*keras.Functional, error) {
	n, err := begin(ctx, design{constructor: "MobileNet", size: 224, minSize: 32, features: hasAlpha}, opts)
	if err != nil {
		return nil, err
	}
	n.design.name = fmt.Sprintf("mobilenet_%.2f_%s", n.Alpha, n.rows())
	norm := normSettings{axis: -1}
	x := n.conv("conv1", n.input, n.filters(32), 3, convOptions{stride: 2, same: true, noBias: true})
	x = n.relu6("conv1_relu", n.norm("conv1_bn", x, norm))
	strided := []int{2, 4, 6, 12}
	for i, filters := range []int{64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024} {
		id := strconv.Itoa(i + 1)
		o := convOptions{same: true}
		if slices.Contains(strided, i+1) {
			x = n.pad("conv_pad_"+id, x, 0, 1)
			o = convOptions{stride: 2}
		}
		x = n.depthwise("conv_dw_"+id, x, 3, o)
		x = n.relu6("conv_dw_"+id+"_relu", n.norm("conv_dw_"+id+"_bn", x, norm))
		x = n.conv("conv_pw_"+id, x, n.filters(filters), 1, convOptions{same: true, noBias: true})
		x = n.relu6("conv_pw_"+id+"_relu", n.norm("conv_pw_"+id+"_bn", x, norm))
	}
	if n.NoTop {
		return n.model(n.pool(x, "", ""))
	}
	x = n.call("", &layers.GlobalAveragePooling2D{KeepDims: true}, x)
	x = n.call("dropout", &layers.Dropout{Rate: 1e-3}, x)
	x = n.conv("conv_preds", x, n.Classes, 1, convOptions{same: true})
	x = n.call("reshape_2", &layers.Reshape{TargetShape: []int{n.Classes}}, x)
	return n.model(n.activation("predictions", x, n.ClassifierActivation))
}

// filters returns a number of filters times Alpha, rounded down.
func (n *network) filters(f int) int { return int(float64(f) * n.Alpha) }

// rows returns the height of images for the model's name, as Python prints it.
func (n *network) rows() string {
	if n.InputShape[0] < 0 {
		return "None"
	}
	return strconv.Itoa(n.InputShape[0])
}

// MobileNetV2 returns the model of "MobileNetV2: Inverted Residuals and Linear
// Bottlenecks". Its images are preprocessed by ModeTF.
func MobileNetV2(ctx context.Context, opts *Options) (*keras.Functional, error) {
	n, err := begin(ctx, design{constructor: "MobileNetV2", size: 224, minSize: 32, features: hasAlpha}, opts)
	if err != nil {
		return nil, err
	}
	n.design.name = fmt.Sprintf("mobilenetv2_%.2f_%s", n.Alpha, n.rows())
	norm := mobileNorm()
	x := n.conv("Conv1", n.input, divisible(32*n.Alpha, 8), 3, convOptions{stride: 2, same: true, noBias: true})
	x = n.relu6("Conv1_relu", n.norm("bn_Conv1", x, norm))
	id := 0
	for _, stage := range []struct{ filters, blocks, stride int }{
		{16, 1, 1}, {24, 2, 2}, {32, 3, 2}, {64, 4, 2}, {96, 3, 1}, {160, 3, 2}, {320, 1, 1},
	} {
		for i := range stage.blocks {
			stride := stage.stride
			if i > 0 {
				stride = 1
			}
			x = n.invertedResidual(x, stage.filters, stride, id)
			id++
		}
	}
	last := 1280
	if n.Alpha > 1 {
		last = divisible(1280*n.Alpha, 8)
	}
	x = n.conv("Conv_1", x, last, 1, convOptions{noBias: true})
	x = n.relu6("out_relu", n.norm("Conv_1_bn", x, norm))
	if n.NoTop {
		return n.model(n.pool(x, "", ""))
	}
	return n.model(n.classify(n.globalAverage("", x), nil, nil))
}

// mobileNorm returns the settings of MobileNetV2 and MobileNetV3.
func mobileNorm() normSettings {
	return normSettings{axis: -1, momentum: new(0.999), epsilon: new(0.001)}
}

// invertedResidual adds a block of MobileNetV2: more channels, a convolution of each, fewer
// channels. id is the number of the block from 0; the first one has no expansion, and an irregular
// name, as in tf_keras's mobilenet_v2.py.
func (n *network) invertedResidual(x *ops.Value, filters, stride, id int) *ops.Value {
	norm := mobileNorm()
	in, inputs := channels(x), x
	filters = divisible(float64(n.filters(filters)), 8)
	prefix := "expanded_conv_"
	if id > 0 {
		prefix = fmt.Sprintf("block_%d_", id)
		x = n.conv(prefix+"expand", x, 6*in, 1, convOptions{same: true, noBias: true})
		x = n.relu6(prefix+"expand_relu", n.norm(prefix+"expand_BN", x, norm))
	}
	o := convOptions{same: true}
	if stride == 2 {
		x = n.padFor(prefix+"pad", x, 3)
		o = convOptions{stride: 2}
	}
	x = n.depthwise(prefix+"depthwise", x, 3, o)
	x = n.relu6(prefix+"depthwise_relu", n.norm(prefix+"depthwise_BN", x, norm))
	x = n.conv(prefix+"project", x, filters, 1, convOptions{same: true, noBias: true})
	x = n.norm(prefix+"project_BN", x, norm)
	if in == filters && stride == 1 {
		return n.add(prefix+"add", inputs, x)
	}
	return x
}
