package applications

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/layers"
)

// VGG16 returns the model of 16 layers of "Very Deep Convolutional Networks for Large-Scale
// Image Recognition". Its images are preprocessed by ModeCaffe.
func VGG16(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return vgg(ctx, "VGG16", []int{2, 2, 3, 3, 3}, opts)
}

// VGG19 returns [VGG16] with 19 layers.
func VGG19(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return vgg(ctx, "VGG19", []int{2, 2, 4, 4, 4}, opts)
}

// vgg connects a model with a number of convolutions for each block. Layers, their names and their
// order are those of tf_keras's applications/vgg16.py and vgg19.py, so that its weights fit.
func vgg(ctx context.Context, constructor string, blocks []int, opts *Options) (*keras.Functional, error) {
	n, err := begin(ctx, design{constructor: constructor, name: strings.ToLower(constructor), size: 224, minSize: 32}, opts)
	if err != nil {
		return nil, err
	}
	x := n.input
	for i, count := range blocks {
		for j := range count {
			x = n.conv(fmt.Sprintf("block%d_conv%d", i+1, j+1), x, min(64<<i, 512), 3, convOptions{same: true, activation: activations.Relu})
		}
		x = n.maxPool(fmt.Sprintf("block%d_pool", i+1), x, 2, 2, false)
	}
	if n.NoTop {
		return n.model(n.pool(x, "", ""))
	}
	x = n.call("flatten", &layers.Flatten{}, x)
	for _, name := range []string{"fc1", "fc2"} {
		x = n.call(name, &layers.Dense{Units: 4096, Activation: activations.Relu}, x)
	}
	return n.model(n.classify(x, nil, nil))
}
