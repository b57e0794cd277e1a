package applications

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
)

// EfficientNetB0 returns the smallest model of "EfficientNet: Rethinking Model Scaling for
// Convolutional Neural Networks". It scales pixels of 0 to 255 itself.
func EfficientNetB0(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return efficientNet(ctx, "B0", 1.0, 1.0, 224, 0.2, opts)
}

// EfficientNetB1 returns the next larger model after [EfficientNetB0].
func EfficientNetB1(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return efficientNet(ctx, "B1", 1.0, 1.1, 240, 0.2, opts)
}

// EfficientNetB2 returns the next larger model after [EfficientNetB1].
func EfficientNetB2(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return efficientNet(ctx, "B2", 1.1, 1.2, 260, 0.3, opts)
}

// EfficientNetB3 returns the next larger model after [EfficientNetB2].
func EfficientNetB3(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return efficientNet(ctx, "B3", 1.2, 1.4, 300, 0.3, opts)
}

// EfficientNetB4 returns the next larger model after [EfficientNetB3].
func EfficientNetB4(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return efficientNet(ctx, "B4", 1.4, 1.8, 380, 0.4, opts)
}

// EfficientNetB5 returns the next larger model after [EfficientNetB4].
func EfficientNetB5(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return efficientNet(ctx, "B5", 1.6, 2.2, 456, 0.4, opts)
}

// EfficientNetB6 returns the next larger model after [EfficientNetB5].
func EfficientNetB6(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return efficientNet(ctx, "B6", 1.8, 2.6, 528, 0.5, opts)
}

// EfficientNetB7 returns the next larger model after [EfficientNetB6].
func EfficientNetB7(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return efficientNet(ctx, "B7", 2.0, 3.1, 600, 0.5, opts)
}

// efficientStages are the stages of B0, which the other models scale.
var efficientStages = []efficientStage{
	{3, 1, 32, 16, 1, 1, 0.25, false}, {3, 2, 16, 24, 6, 2, 0.25, false}, {5, 2, 24, 40, 6, 2, 0.25, false}, {3, 3, 40, 80, 6, 2, 0.25, false},
	{5, 3, 80, 112, 6, 1, 0.25, false}, {5, 4, 112, 192, 6, 2, 0.25, false}, {3, 1, 192, 320, 6, 1, 0.25, false},
}

// efficientNet connects a model. width and depth are the factors of the channels and of the blocks,
// size is the default height and width of images, dropout the rate before the classifier. Layers,
// their names and their order are those of tf_keras's applications/efficientnet.py, so that its
// weights fit.
func efficientNet(ctx context.Context, variant string, width, depth float64, size int, dropout float64, opts *Options) (*keras.Functional, error) {
	n, err := begin(ctx, design{constructor: "EfficientNet" + variant, name: "efficientnet" + strings.ToLower(variant), size: size, minSize: 32}, opts)
	if err != nil {
		return nil, err
	}
	v := &efficientVersion{norm: normSettings{axis: 3}, depthwise: "dwconv", zeros: true}
	filters := func(f int) int { return divisible(float64(f)*width, 8) }
	x := n.call("", &layers.Rescaling{Scale: layers.Numbers{1.0 / 255}}, n.input)
	x = n.call("", &layers.Normalization{Axis: []int{3}}, x)
	x = n.padFor("stem_conv_pad", x, 3)
	x = n.conv("stem_conv", x, filters(32), 3, convOptions{stride: 2, noBias: true, initializer: fanOut()})
	x = n.activation("stem_activation", n.norm("stem_bn", x, v.norm), activations.Swish)
	stages := scaledStages(efficientStages, filters, depth)
	total := 0
	for _, stage := range stages {
		total += stage.blocks
	}
	x = n.efficientStages(v, x, stages, total)
	return n.model(n.efficientTop(v, x, filters(1280), dropout, nil))
}

// efficientStage is a row of the tables of EfficientNet.
type efficientStage struct {
	kernel, blocks, in, out, expansion, stride int     // in and out are channels, before scaling
	squeeze                                    float64 // the part of the channels in the squeeze; 0 for none
	fused                                      bool    // one convolution in place of an expansion and one by channel
}

// efficientVersion has the differences between the blocks of the two versions.
type efficientVersion struct {
	norm      normSettings
	depthwise string // the name of the convolution by channel
	zeros     bool   // zeros are put around images before a stride
}

// scaledStages returns stages of a model that is scaled in width and depth.
func scaledStages(stages []efficientStage, filters func(int) int, depth float64) []efficientStage {
	out := make([]efficientStage, len(stages))
	for i, stage := range stages {
		stage.in, stage.out = filters(stage.in), filters(stage.out)
		stage.blocks = int(math.Ceil(depth * float64(stage.blocks)))
		out[i] = stage
	}
	return out
}

// efficientStages adds all blocks. The dropout of a block grows with its place among total.
func (n *network) efficientStages(v *efficientVersion, x *ops.Value, stages []efficientStage, total int) *ops.Value {
	done := 0
	for i, stage := range stages {
		for j := range stage.blocks {
			if j > 0 {
				stage.stride, stage.in = 1, stage.out
			}
			x = n.efficientBlock(v, fmt.Sprintf("block%d%c_", i+1, 'a'+j), x, &stage, 0.2*float64(done)/float64(total))
			done++
		}
	}
	return x
}

// efficientBlock adds an inverted residual block with squeeze and excitation.
func (n *network) efficientBlock(v *efficientVersion, name string, x *ops.Value, stage *efficientStage, drop float64) *ops.Value {
	inputs, filters := x, stage.in*stage.expansion
	whole := convOptions{stride: stage.stride, same: true, noBias: true, initializer: fanOut()}
	expand, project := convOptions{same: true, noBias: true, initializer: fanOut()}, convOptions{same: true, noBias: true, initializer: fanOut()}
	expandKernel, projectKernel := 1, 1
	switch {
	case stage.fused && stage.expansion != 1:
		expand, expandKernel = whole, stage.kernel
	case stage.fused:
		project, projectKernel = whole, stage.kernel
	}
	if stage.expansion != 1 {
		x = n.conv(name+"expand_conv", x, filters, expandKernel, expand)
		x = n.activation(name+"expand_activation", n.norm(name+"expand_bn", x, v.norm), activations.Swish)
	}
	if !stage.fused {
		if stage.stride == 2 && v.zeros {
			x = n.padFor(name+"dwconv_pad", x, stage.kernel)
			whole.same = false
		}
		x = n.depthwise(name+v.depthwise, x, stage.kernel, whole)
		x = n.activation(name+"activation", n.norm(name+"bn", x, v.norm), activations.Swish)
	}
	x = n.efficientSqueeze(name, x, stage, filters)
	x = n.norm(name+"project_bn", n.conv(name+"project_conv", x, stage.out, projectKernel, project), v.norm)
	if stage.fused && stage.expansion == 1 {
		x = n.activation(name+"project_activation", x, activations.Swish)
	}
	if stage.stride == 1 && stage.in == stage.out {
		if drop > 0 {
			x = n.dropExamples(name+"drop", x, drop)
		}
		x = n.add(name+"add", x, inputs)
	}
	return x
}

// efficientSqueeze multiplies channels by a function of the means of all channels.
func (n *network) efficientSqueeze(name string, x *ops.Value, stage *efficientStage, filters int) *ops.Value {
	if stage.squeeze == 0 {
		return x
	}
	reduced := max(1, int(float64(stage.in)*stage.squeeze))
	return n.squeeze(name+"se_", x, reduced, filters, activations.Swish)
}

// efficientTop adds the last convolution and the classifier with a dropout before it.
func (n *network) efficientTop(v *efficientVersion, x *ops.Value, filters int, dropout float64, bias initializers.Initializer) *ops.Value {
	x = n.conv("top_conv", x, filters, 1, convOptions{same: true, noBias: true, initializer: fanOut()})
	x = n.activation("top_activation", n.norm("top_bn", x, v.norm), activations.Swish)
	return n.dropoutHead(x, dropout, fanOutUniform(), bias)
}

// fanOut returns the initializer of the kernels of EfficientNet and ResNetRS.
func fanOut() initializers.Initializer {
	return initializers.VarianceScaling{Scale: 2, Mode: initializers.FanOut, Distribution: initializers.TruncatedNormalDistribution}
}

// fanOutUniform returns the initializer of the classifier of EfficientNet.
func fanOutUniform() initializers.Initializer {
	return initializers.VarianceScaling{Scale: 1.0 / 3, Mode: initializers.FanOut, Distribution: initializers.UniformDistribution}
}
