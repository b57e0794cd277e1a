package applications

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/ops"
)

// ResNet50 returns the model of 50 layers of "Deep Residual Learning for Image
// Recognition". Its images are preprocessed by ModeCaffe.
func ResNet50(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return resNet(ctx, "ResNet50", []int{3, 4, 6, 3}, opts)
}

// ResNet101 returns [ResNet50] with 101 layers.
func ResNet101(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return resNet(ctx, "ResNet101", []int{3, 4, 23, 3}, opts)
}

// ResNet152 returns [ResNet50] with 152 layers.
func ResNet152(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return resNet(ctx, "ResNet152", []int{3, 8, 36, 3}, opts)
}

// ResNet50V2 returns the model of 50 layers of "Identity Mappings in Deep Residual
// Networks". Its images are preprocessed by ModeTF.
func ResNet50V2(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return resNetV2(ctx, "ResNet50V2", []int{3, 4, 6, 3}, opts)
}

// ResNet101V2 returns [ResNet50V2] with 101 layers.
func ResNet101V2(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return resNetV2(ctx, "ResNet101V2", []int{3, 4, 23, 3}, opts)
}

// ResNet152V2 returns [ResNet50V2] with 152 layers.
func ResNet152V2(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return resNetV2(ctx, "ResNet152V2", []int{3, 8, 36, 3}, opts)
}

func resNetNorm() normSettings { return normSettings{axis: 3, epsilon: new(1.001e-5)} }

// beginResNet checks the options and adds the first convolution of both versions.
func beginResNet(ctx context.Context, constructor string, opts *Options) (*network, *ops.Value, error) {
	n, err := begin(ctx, design{constructor: constructor, name: strings.ToLower(constructor), size: 224, minSize: 32}, opts)
	if err != nil {
		return nil, nil, err
	}
	x := n.pad("conv1_pad", n.input, 3, 3)
	return n, n.conv("conv1_conv", x, 64, 7, convOptions{stride: 2}), nil
}

// resNet connects a model with a number of blocks for each stage. Layers, their names and their
// order are those of tf_keras's applications/resnet.py, so that its weights fit.
func resNet(ctx context.Context, constructor string, blocks []int, opts *Options) (*keras.Functional, error) {
	n, x, err := beginResNet(ctx, constructor, opts)
	if err != nil {
		return nil, err
	}
	x = n.relu("conv1_relu", n.norm("conv1_bn", x, resNetNorm()))
	x = n.maxPool("pool1_pool", n.pad("pool1_pad", x, 1, 1), 3, 2, false)
	for stage, count := range blocks {
		filters := 64 << stage
		for i := range count {
			stride := 1
			if i == 0 && stage > 0 {
				stride = 2
			}
			x = n.resNetBlock(fmt.Sprintf("conv%d_block%d", stage+2, i+1), x, filters, stride, i == 0)
		}
	}
	return n.model(n.head(x, true))
}

// resNetBlock adds a bottleneck block.
func (n *network) resNetBlock(name string, x *ops.Value, filters, stride int, project bool) *ops.Value {
	norm := resNetNorm()
	shortcut := x
	if project {
		shortcut = n.conv(name+"_0_conv", x, 4*filters, 1, convOptions{stride: stride})
		shortcut = n.norm(name+"_0_bn", shortcut, norm)
	}
	x = n.conv(name+"_1_conv", x, filters, 1, convOptions{stride: stride})
	x = n.relu(name+"_1_relu", n.norm(name+"_1_bn", x, norm))
	x = n.conv(name+"_2_conv", x, filters, 3, convOptions{same: true})
	x = n.relu(name+"_2_relu", n.norm(name+"_2_bn", x, norm))
	x = n.norm(name+"_3_bn", n.conv(name+"_3_conv", x, 4*filters, 1, convOptions{}), norm)
	return n.relu(name+"_out", n.add(name+"_add", shortcut, x))
}

// resNetV2 connects a model as resNet does, of the second version: tf_keras's
// applications/resnet_v2.py.
func resNetV2(ctx context.Context, constructor string, blocks []int, opts *Options) (*keras.Functional, error) {
	n, x, err := beginResNet(ctx, constructor, opts)
	if err != nil {
		return nil, err
	}
	x = n.maxPool("pool1_pool", n.pad("pool1_pad", x, 1, 1), 3, 2, false)
	for stage, count := range blocks {
		for i := range count {
			stride := 1
			if i == count-1 && stage < len(blocks)-1 {
				stride = 2
			}
			x = n.resNetV2Block(fmt.Sprintf("conv%d_block%d", stage+2, i+1), x, 64<<stage, stride, i == 0)
		}
	}
	x = n.relu("post_relu", n.norm("post_bn", x, resNetNorm()))
	return n.model(n.head(x, true))
}

// resNetV2Block adds a bottleneck block with the activations before the convolutions.
func (n *network) resNetV2Block(name string, x *ops.Value, filters, stride int, project bool) *ops.Value {
	norm := resNetNorm()
	first := n.relu(name+"_preact_relu", n.norm(name+"_preact_bn", x, norm))
	shortcut := x
	switch {
	case project:
		shortcut = n.conv(name+"_0_conv", first, 4*filters, 1, convOptions{stride: stride})
	case stride > 1:
		shortcut = n.maxPool("", x, 1, stride, false)
	}
	x = n.conv(name+"_1_conv", first, filters, 1, convOptions{stride: 1, noBias: true})
	x = n.relu(name+"_1_relu", n.norm(name+"_1_bn", x, norm))
	x = n.pad(name+"_2_pad", x, 1, 1)
	x = n.conv(name+"_2_conv", x, filters, 3, convOptions{stride: stride, noBias: true})
	x = n.relu(name+"_2_relu", n.norm(name+"_2_bn", x, norm))
	x = n.conv(name+"_3_conv", x, 4*filters, 1, convOptions{})
	return n.add(name+"_out", shortcut, x)
}
