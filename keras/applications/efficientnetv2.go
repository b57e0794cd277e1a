package applications

import (
	"context"
	"strings"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/layers"
)

// EfficientNetV2B0 returns the smallest model of "EfficientNetV2: Smaller Models and Faster
// Training". It scales pixels of 0 to 255 itself.
func EfficientNetV2B0(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return efficientNetV2(ctx, "B0", 1.0, 1.0, 224, efficientStagesV2B, opts)
}

// EfficientNetV2B1 returns the next larger model after [EfficientNetV2B0].
func EfficientNetV2B1(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return efficientNetV2(ctx, "B1", 1.0, 1.1, 240, efficientStagesV2B, opts)
}

// EfficientNetV2B2 returns the next larger model after [EfficientNetV2B1].
func EfficientNetV2B2(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return efficientNetV2(ctx, "B2", 1.1, 1.2, 260, efficientStagesV2B, opts)
}

// EfficientNetV2B3 returns the next larger model after [EfficientNetV2B2].
func EfficientNetV2B3(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return efficientNetV2(ctx, "B3", 1.2, 1.4, 300, efficientStagesV2B, opts)
}

// EfficientNetV2S returns the small model of a separate design.
func EfficientNetV2S(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return efficientNetV2(ctx, "S", 1.0, 1.0, 384, []efficientStage{
		{3, 2, 24, 24, 1, 1, 0, true}, {3, 4, 24, 48, 4, 2, 0, true}, {3, 4, 48, 64, 4, 2, 0, true},
		{3, 6, 64, 128, 4, 2, 0.25, false}, {3, 9, 128, 160, 6, 1, 0.25, false}, {3, 15, 160, 256, 6, 2, 0.25, false},
	}, opts)
}

// EfficientNetV2M returns the next larger model after [EfficientNetV2S].
func EfficientNetV2M(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return efficientNetV2(ctx, "M", 1.0, 1.0, 480, []efficientStage{
		{3, 3, 24, 24, 1, 1, 0, true}, {3, 5, 24, 48, 4, 2, 0, true}, {3, 5, 48, 80, 4, 2, 0, true},
		{3, 7, 80, 160, 4, 2, 0.25, false}, {3, 14, 160, 176, 6, 1, 0.25, false}, {3, 18, 176, 304, 6, 2, 0.25, false},
		{3, 5, 304, 512, 6, 1, 0.25, false},
	}, opts)
}

// EfficientNetV2L returns the next larger model after [EfficientNetV2M].
func EfficientNetV2L(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return efficientNetV2(ctx, "L", 1.0, 1.0, 480, []efficientStage{
		{3, 4, 32, 32, 1, 1, 0, true}, {3, 7, 32, 64, 4, 2, 0, true}, {3, 7, 64, 96, 4, 2, 0, true},
		{3, 10, 96, 192, 4, 2, 0.25, false}, {3, 19, 192, 224, 6, 1, 0.25, false}, {3, 25, 224, 384, 6, 2, 0.25, false},
		{3, 7, 384, 640, 6, 1, 0.25, false},
	}, opts)
}

// efficientStagesV2B are the stages of B0, which the other B models scale.
var efficientStagesV2B = []efficientStage{
	{3, 1, 32, 16, 1, 1, 0, true}, {3, 2, 16, 32, 4, 2, 0, true}, {3, 2, 32, 48, 4, 2, 0, true},
	{3, 3, 48, 96, 4, 2, 0.25, false}, {3, 5, 96, 112, 6, 1, 0.25, false}, {3, 8, 112, 192, 6, 2, 0.25, false},
}

// efficientNetV2 connects a model, as efficientNet does for the first version. Layers, their names
// and their order are those of tf_keras's applications/efficientnet_v2.py, so that its weights fit.
func efficientNetV2(ctx context.Context, variant string, width, depth float64, size int, stages []efficientStage, opts *Options) (*keras.Functional, error) {
	d := design{constructor: "EfficientNetV2" + variant, name: "efficientnetv2-" + strings.ToLower(variant), size: size, minSize: 32, features: hasPreprocessing}
	n, err := begin(ctx, d, opts)
	if err != nil {
		return nil, err
	}
	v := &efficientVersion{norm: normSettings{axis: 3, momentum: new(0.9)}, depthwise: "dwconv2"}
	filters := func(f int) int { return rounded(float64(f)*width, 8) }
	x := n.input
	switch {
	case n.NoPreprocessing:
	case variant[0] == 'B' && channels(x) == 3:
		x = n.call("", &layers.Rescaling{Scale: layers.Numbers{1.0 / 255}}, x)
		x = n.imageNetNorm("", x, 3, 1)
	default:
		x = n.call("", &layers.Rescaling{Scale: layers.Numbers{1.0 / 128}, Offset: layers.Numbers{-1}}, x)
	}
	x = n.conv("stem_conv", x, filters(stages[0].in), 3, convOptions{stride: 2, same: true, noBias: true, initializer: fanOut()})
	x = n.activation("stem_activation", n.norm("stem_bn", x, v.norm), activations.Swish)
	total := 0 // of B0, in models that are deeper too
	for _, stage := range stages {
		total += stage.blocks
	}
	x = n.efficientStages(v, x, scaledStages(stages, filters, depth), total)
	return n.model(n.efficientTop(v, x, filters(1280), 0.2, initializers.TensorFlowConstant{}))
}
