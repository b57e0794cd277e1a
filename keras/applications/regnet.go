package applications

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
)

// regNetTable has the sizes of one model.
type regNetTable struct {
	depths, widths [4]int
	group          int // the channels of one group of a convolution
}

// regNets are the numbers of blocks and of channels in each stage, by the variants. They are those
// of tf_keras's applications/regnet.py, as are the names and the order of layers below.
var regNets = map[string]regNetTable{
	"X002": {[4]int{1, 1, 4, 7}, [4]int{24, 56, 152, 368}, 8},
	"X004": {[4]int{1, 2, 7, 12}, [4]int{32, 64, 160, 384}, 16},
	"X006": {[4]int{1, 3, 5, 7}, [4]int{48, 96, 240, 528}, 24},
	"X008": {[4]int{1, 3, 7, 5}, [4]int{64, 128, 288, 672}, 16},
	"X016": {[4]int{2, 4, 10, 2}, [4]int{72, 168, 408, 912}, 24},
	"X032": {[4]int{2, 6, 15, 2}, [4]int{96, 192, 432, 1008}, 48},
	"X040": {[4]int{2, 5, 14, 2}, [4]int{80, 240, 560, 1360}, 40},
	"X064": {[4]int{2, 4, 10, 1}, [4]int{168, 392, 784, 1624}, 56},
	"X080": {[4]int{2, 5, 15, 1}, [4]int{80, 240, 720, 1920}, 120},
	"X120": {[4]int{2, 5, 11, 1}, [4]int{224, 448, 896, 2240}, 112},
	"X160": {[4]int{2, 6, 13, 1}, [4]int{256, 512, 896, 2048}, 128},
	"X320": {[4]int{2, 7, 13, 1}, [4]int{336, 672, 1344, 2520}, 168},
	"Y002": {[4]int{1, 1, 4, 7}, [4]int{24, 56, 152, 368}, 8},
	"Y004": {[4]int{1, 3, 6, 6}, [4]int{48, 104, 208, 440}, 8},
	"Y006": {[4]int{1, 3, 7, 4}, [4]int{48, 112, 256, 608}, 16},
	"Y008": {[4]int{1, 3, 8, 2}, [4]int{64, 128, 320, 768}, 16},
	"Y016": {[4]int{2, 6, 17, 2}, [4]int{48, 120, 336, 888}, 24},
	"Y032": {[4]int{2, 5, 13, 1}, [4]int{72, 216, 576, 1512}, 24},
	"Y040": {[4]int{2, 6, 12, 2}, [4]int{128, 192, 512, 1088}, 64},
	"Y064": {[4]int{2, 7, 14, 2}, [4]int{144, 288, 576, 1296}, 72},
	"Y080": {[4]int{2, 4, 10, 1}, [4]int{168, 448, 896, 2016}, 56},
	"Y120": {[4]int{2, 5, 11, 1}, [4]int{224, 448, 896, 2240}, 112},
	"Y160": {[4]int{2, 4, 11, 1}, [4]int{224, 448, 1232, 3024}, 112},
	"Y320": {[4]int{2, 5, 12, 1}, [4]int{232, 696, 1392, 3712}, 232},
}

// regNet connects the model of a variant, a key of regNets.
func regNet(ctx context.Context, variant string, opts *Options) (*keras.Functional, error) {
	name := "regnet" + strings.ToLower(variant)
	n, err := begin(ctx, design{constructor: "RegNet" + variant, name: name, size: 224, minSize: 32, features: hasPreprocessing | onlyLogits}, opts)
	if err != nil {
		return nil, err
	}
	table, x := regNets[variant], n.input
	if !n.NoPreprocessing {
		x = n.call(name+"_prestem_rescaling", &layers.Rescaling{Scale: layers.Numbers{1.0 / 255}}, x)
	}
	x = n.regNetConv(name+"_stem_conv", x, 32, 3, convOptions{stride: 2, same: true})
	x = n.regNetNorm(name+"_stem_bn", name+"_stem_relu", x)
	for i, width := range table.widths {
		for j := range table.depths[i] {
			block := fmt.Sprintf("%s_Stage_%d_%cBlock_%d", name, i, variant[0], j)
			x = n.regNetBlock(block, x, width, width/table.group, j == 0, variant[0] == 'Y')
		}
	}
	if n.NoTop {
		return n.model(n.pool(x, "", ""))
	}
	x = n.globalAverage("1_head_gap", x)
	return n.model(n.call("1head_dense", &layers.Dense{Units: n.Classes}, x))
}

// regNetBlock adds a residual block whose middle convolution has groups.
func (n *network) regNetBlock(name string, x *ops.Value, filters, groups int, first, squeeze bool) *ops.Value {
	in, skip, stride := channels(x), x, 1
	if first {
		stride = 2
		skip = n.regNetConv(name+"_skip_1x1", x, filters, 1, convOptions{stride: stride})
		skip = n.norm(name+"_skip_bn", skip, regNetNorm())
	}
	x = n.regNetConv(name+"_conv_1x1_1", x, filters, 1, convOptions{})
	x = n.regNetNorm(name+"_conv_1x1_1_bn", name+"_conv_1x1_1_relu", x)
	x = n.regNetConv(name+"_conv_3x3", x, filters, 3, convOptions{stride: stride, same: true, groups: groups})
	x = n.regNetNorm(name+"_conv_3x3_bn", name+"_conv_3x3_relu", x)
	if squeeze {
		x = n.regNetSqueeze(name+"_squeeze_and_excite_", x, in/4, filters)
	}
	x = n.regNetConv(name+"_conv_1x1_2", x, filters, 1, convOptions{})
	x = n.norm(name+"_conv_1x1_2_bn", x, regNetNorm())
	return n.call(name+"_exit_relu", &layers.ReLU{}, n.sum(x, skip))
}

// regNetSqueeze multiplies channels by a function of the means of all channels.
func (n *network) regNetSqueeze(name string, x *ops.Value, reduced, filters int) *ops.Value {
	he := initializers.HeNormal{}
	y := n.call(name+"gap", &layers.GlobalAveragePooling2D{KeepDims: true}, x)
	y = n.conv(name+"squeeze", y, reduced, 1, convOptions{activation: activations.Relu, initializer: he})
	y = n.conv(name+"excite", y, filters, 1, convOptions{activation: activations.Sigmoid, initializer: he})
	return n.function("math.multiply", y, map[string]any{"y": x})
}

func (n *network) regNetConv(name string, x *ops.Value, filters, kernel int, o convOptions) *ops.Value {
	o.noBias, o.initializer = true, initializers.HeNormal{}
	return n.conv(name, x, filters, kernel, o)
}

func regNetNorm() normSettings {
	return normSettings{axis: -1, momentum: new(0.9), epsilon: new(1e-5)}
}

// regNetNorm adds a normalization and a relu.
func (n *network) regNetNorm(norm, relu string, x *ops.Value) *ops.Value {
	return n.call(relu, &layers.ReLU{}, n.norm(norm, x, regNetNorm()))
}
