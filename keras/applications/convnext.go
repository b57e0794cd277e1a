package applications

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
)

// ConvNeXtTiny returns the smallest model of "A ConvNet for the 2020s". As the larger ones, it
// normalizes pixels of 0 to 255 itself, if they have 3 channels and Options.NoPreprocessing
// isn't set.
func ConvNeXtTiny(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return convNeXt(ctx, "Tiny", "tiny", 96, 9, opts)
}

// ConvNeXtSmall returns the next larger model after [ConvNeXtTiny].
func ConvNeXtSmall(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return convNeXt(ctx, "Small", "small", 96, 27, opts)
}

// ConvNeXtBase returns the next larger model after [ConvNeXtSmall].
func ConvNeXtBase(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return convNeXt(ctx, "Base", "base", 128, 27, opts)
}

// ConvNeXtLarge returns the next larger model after [ConvNeXtBase].
func ConvNeXtLarge(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return convNeXt(ctx, "Large", "large", 192, 27, opts)
}

// ConvNeXtXLarge returns the next larger model after [ConvNeXtLarge].
func ConvNeXtXLarge(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return convNeXt(ctx, "XLarge", "xlarge", 256, 27, opts)
}

// convNeXt connects a model. Its first stage has width channels, and its third one has thirdDepth
// blocks. Layers, their names and their order are those of tf_keras's applications/convnext.py, so
// that its weights fit.
func convNeXt(ctx context.Context, variant, suffix string, width, thirdDepth int, opts *Options) (*keras.Functional, error) {
	name := "convnext_" + suffix
	n, err := begin(ctx, design{constructor: "ConvNeXt" + variant, name: name, size: 224, minSize: 32, features: hasPreprocessing}, opts)
	if err != nil {
		return nil, err
	}
	x := n.input
	if !n.NoPreprocessing && channels(x) == 3 {
		x = n.imageNetNorm(name+"_prestem_normalization", x, -1, 255) // the last axis; pixels of 0 to 255
	}
	for i, depth := range []int{3, 3, thirdDepth, 3} {
		filters := width << i
		if i == 0 {
			x = n.sequence(name+"_stem", x,
				keras.Named(name+"_stem_conv", &layers.Conv2D{Filters: filters, KernelSize: []int{4}, Strides: []int{4}}),
				keras.Named(name+"_stem_layernorm", convNeXtNorm()))
		} else {
			x = n.sequence(fmt.Sprintf("%s_downsampling_block_%d", name, i-1), x,
				keras.Named(fmt.Sprintf("%s_downsampling_layernorm_%d", name, i-1), convNeXtNorm()),
				keras.Named(fmt.Sprintf("%s_downsampling_conv_%d", name, i-1), &layers.Conv2D{Filters: filters, KernelSize: []int{2}, Strides: []int{2}}))
		}
		for j := range depth {
			x = n.convNeXtBlock(fmt.Sprintf("%s_stage_%d_block_%d", name, i, j), x, filters)
		}
	}
	if n.NoTop {
		// As in tf_keras, these layers have automatic names.
		return n.model(n.call("", convNeXtNorm(), n.pool(x, "", "")))
	}
	x = n.call(name+"_head_layernorm", convNeXtNorm(), n.globalAverage(name+"_head_gap", x))
	return n.model(n.call(name+"_head_dense", &layers.Dense{Units: n.Classes, Activation: n.ClassifierActivation}, x))
}

func convNeXtNorm() *layers.LayerNormalization {
	return &layers.LayerNormalization{Epsilon: new(1e-6)}
}

// sequence adds layers as one sequential model.
func (n *network) sequence(name string, x *ops.Value, list ...keras.Callable) *ops.Value {
	return n.call(name, keras.NewSequential(list...), x)
}

// convNeXtBlock adds a residual block.
func (n *network) convNeXtBlock(name string, x *ops.Value, filters int) *ops.Value {
	y := n.conv(name+"_depthwise_conv", x, filters, 7, convOptions{same: true, groups: filters})
	y = n.call(name+"_layernorm", convNeXtNorm(), y)
	y = n.call(name+"_pointwise_conv_1", &layers.Dense{Units: 4 * filters}, y)
	y = n.activation(name+"_gelu", y, activations.Gelu)
	y = n.call(name+"_pointwise_conv_2", &layers.Dense{Units: filters}, y)
	y = n.call(name+"_layer_scale", &layers.LayerScale{InitValues: 1e-6, ProjectionDim: filters}, y)
	return n.sum(x, n.activation(name+"_identity", y, activations.Linear))
}
