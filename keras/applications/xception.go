package applications

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/ops"
)

// Xception returns the model of "Xception: Deep Learning with Depthwise Separable
// Convolutions". Its images are preprocessed by ModeTF. Layers, their names and their order are
// those of tf_keras's applications/xception.py, so that its weights fit.
func Xception(ctx context.Context, opts *Options) (*keras.Functional, error) {
	n, err := begin(ctx, design{constructor: "Xception", name: "xception", size: 299, minSize: 71}, opts)
	if err != nil {
		return nil, err
	}
	norm := normSettings{axis: -1}
	x := n.conv("block1_conv1", n.input, 32, 3, convOptions{stride: 2, noBias: true})
	x = n.relu("block1_conv1_act", n.norm("block1_conv1_bn", x, norm))
	x = n.conv("block1_conv2", x, 64, 3, convOptions{noBias: true})
	x = n.relu("block1_conv2_act", n.norm("block1_conv2_bn", x, norm))
	for i, filters := range []int{128, 256, 728} {
		block := i + 2
		residual := n.projected(x, filters)
		if block > 2 {
			x = n.relu(fmt.Sprintf("block%d_sepconv1_act", block), x)
		}
		x = n.separableNorm(block, 1, x, filters)
		x = n.relu(fmt.Sprintf("block%d_sepconv2_act", block), x)
		x = n.separableNorm(block, 2, x, filters)
		x = n.maxPool(fmt.Sprintf("block%d_pool", block), x, 3, 2, true)
		x = n.add("", x, residual)
	}
	for block := 5; block <= 12; block++ {
		residual := x
		for i := 1; i <= 3; i++ {
			x = n.relu(fmt.Sprintf("block%d_sepconv%d_act", block, i), x)
			x = n.separableNorm(block, i, x, 728)
		}
		x = n.add("", x, residual)
	}
	residual := n.projected(x, 1024)
	for i, filters := range []int{728, 1024} {
		x = n.relu(fmt.Sprintf("block13_sepconv%d_act", i+1), x)
		x = n.separableNorm(13, i+1, x, filters)
	}
	x = n.add("", n.maxPool("block13_pool", x, 3, 2, true), residual)
	for i, filters := range []int{1536, 2048} {
		x = n.relu(fmt.Sprintf("block14_sepconv%d_act", i+1), n.separableNorm(14, i+1, x, filters))
	}
	return n.model(n.head(x, false))
}

// projected adds the residual of a block that halves the size.
func (n *network) projected(x *ops.Value, filters int) *ops.Value {
	return n.norm("", n.conv("", x, filters, 1, convOptions{stride: 2, same: true, noBias: true}), normSettings{axis: -1})
}

// separableNorm adds convolution i of a block with its normalization.
func (n *network) separableNorm(block, i int, x *ops.Value, filters int) *ops.Value {
	name := fmt.Sprintf("block%d_sepconv%d", block, i)
	return n.norm(name+"_bn", n.separable(name, x, filters, 3, convOptions{same: true}), normSettings{axis: -1})
}
