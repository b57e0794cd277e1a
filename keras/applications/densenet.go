package applications

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/ops"
)

// DenseNet121 returns the model of 121 layers of "Densely Connected Convolutional
// Networks". Its images are preprocessed by ModeTorch.
func DenseNet121(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return denseNet(ctx, "DenseNet121", []int{6, 12, 24, 16}, opts)
}

// DenseNet169 returns [DenseNet121] with 169 layers.
func DenseNet169(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return denseNet(ctx, "DenseNet169", []int{6, 12, 32, 32}, opts)
}

// DenseNet201 returns [DenseNet121] with 201 layers.
func DenseNet201(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return denseNet(ctx, "DenseNet201", []int{6, 12, 48, 32}, opts)
}

// denseNet connects a model with a number of blocks for each stage. Layers, their names and their
// order are those of tf_keras's applications/densenet.py, so that its weights fit.
func denseNet(ctx context.Context, constructor string, blocks []int, opts *Options) (*keras.Functional, error) {
	n, err := begin(ctx, design{constructor: constructor, name: strings.ToLower(constructor), size: 224, minSize: 32}, opts)
	if err != nil {
		return nil, err
	}
	norm := resNetNorm()
	x := n.conv("conv1/conv", n.pad("", n.input, 3, 3), 64, 7, convOptions{stride: 2, noBias: true})
	x = n.relu("conv1/relu", n.norm("conv1/bn", x, norm))
	x = n.maxPool("pool1", n.pad("", x, 1, 1), 3, 2, false)
	for stage, count := range blocks {
		if stage > 0 {
			name := fmt.Sprintf("pool%d", stage+1)
			x = n.relu(name+"_relu", n.norm(name+"_bn", x, norm))
			x = n.conv(name+"_conv", x, channels(x)/2, 1, convOptions{noBias: true})
			x = n.averagePool(name+"_pool", x, 2, 2, false)
		}
		for i := range count {
			x = n.denseNetBlock(fmt.Sprintf("conv%d_block%d", stage+2, i+1), x)
		}
	}
	return n.model(n.head(n.relu("relu", n.norm("bn", x, norm)), true))
}

// denseNetBlock adds 32 channels to x.
func (n *network) denseNetBlock(name string, x *ops.Value) *ops.Value {
	const growth = 32
	norm := resNetNorm()
	y := n.relu(name+"_0_relu", n.norm(name+"_0_bn", x, norm))
	y = n.conv(name+"_1_conv", y, 4*growth, 1, convOptions{noBias: true})
	y = n.relu(name+"_1_relu", n.norm(name+"_1_bn", y, norm))
	y = n.conv(name+"_2_conv", y, growth, 3, convOptions{same: true, noBias: true})
	return n.concatenate(name+"_concat", 3, x, y)
}
