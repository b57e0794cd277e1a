package applications

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
)

// ResNetRS50 returns the smallest model of "Revisiting ResNets: Improved Training and Scaling
// Strategies". It scales pixels of 0 to 255 itself.
func ResNetRS50(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return resNetRS(ctx, 50, []int{3, 4, 6, 3}, 0, 0.25, opts)
}

// ResNetRS101 returns [ResNetRS50] with 101 layers.
func ResNetRS101(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return resNetRS(ctx, 101, []int{3, 4, 23, 3}, 0, 0.25, opts)
}

// ResNetRS152 returns [ResNetRS50] with 152 layers.
func ResNetRS152(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return resNetRS(ctx, 152, []int{3, 8, 36, 3}, 0, 0.25, opts)
}

// ResNetRS200 returns [ResNetRS50] with 200 layers.
func ResNetRS200(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return resNetRS(ctx, 200, []int{3, 24, 36, 3}, 0.1, 0.25, opts)
}

// ResNetRS270 returns [ResNetRS50] with 270 layers.
func ResNetRS270(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return resNetRS(ctx, 270, []int{4, 29, 53, 4}, 0.1, 0.25, opts)
}

// ResNetRS350 returns [ResNetRS50] with 350 layers.
func ResNetRS350(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return resNetRS(ctx, 350, []int{4, 36, 72, 4}, 0.1, 0.4, opts)
}

// ResNetRS420 returns [ResNetRS50] with 420 layers.
func ResNetRS420(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return resNetRS(ctx, 420, []int{4, 44, 87, 4}, 0.1, 0.4, opts)
}

// resNetRS connects a model. drop is the dropout of the deepest blocks, dropout that before the
// classifier, blocks the number of blocks in each stage. Layers, their names and their order are
// those of tf_keras's applications/resnet_rs.py, so that its weights fit.
func resNetRS(ctx context.Context, depth int, blocks []int, drop, dropout float64, opts *Options) (*keras.Functional, error) {
	d := design{constructor: fmt.Sprintf("ResNetRS%d", depth), name: fmt.Sprintf("resnet-rs-%d", depth), size: 224, minSize: 32, features: hasPreprocessing}
	n, err := begin(ctx, d, opts)
	if err != nil {
		return nil, err
	}
	x := n.input
	if !n.NoPreprocessing {
		three := channels(x) == 3
		x = n.call("", &layers.Rescaling{Scale: layers.Numbers{1.0 / 255}}, x)
		if three {
			x = n.imageNetNorm("", x, 3, 1)
		}
	}
	for i, c := range []struct{ filters, stride int }{{32, 2}, {32, 1}, {64, 1}, {64, 2}} {
		x = n.fixedConv(fmt.Sprintf("stem_1_stem_conv_%d", i+1), x, c.filters, 3, c.stride)
		x = n.norm(fmt.Sprintf("stem_1_stem_batch_norm_%d", i+1), x, resNetRSNorm())
		x = n.relu(fmt.Sprintf("stem_1_stem_act_%d", i+1), x)
	}
	for i, count := range blocks {
		for j := range count {
			stride := 1
			if i > 0 && j == 0 {
				stride = 2
			}
			name := fmt.Sprintf("BlockGroup%d__block_%d_", i+2, j)
			x = n.resNetRSBlock(name, x, 64<<i, stride, j == 0, drop*float64(i+2)/float64(len(blocks)+1))
		}
	}
	return n.model(n.dropoutHead(x, dropout, nil, nil))
}

func resNetRSNorm() normSettings {
	return normSettings{axis: 3, momentum: new(0.0), epsilon: new(1e-5)}
}

// fixedConv adds a convolution whose borders don't depend on the size of images.
func (n *network) fixedConv(name string, x *ops.Value, filters, kernel, stride int) *ops.Value {
	if stride > 1 {
		x = n.pad("", x, (kernel-1)/2, kernel/2)
	}
	return n.conv(name, x, filters, kernel, convOptions{stride: stride, same: stride == 1, noBias: true, initializer: fanOut()})
}

// resNetRSBlock adds a bottleneck block with squeeze and excitation.
func (n *network) resNetRSBlock(name string, x *ops.Value, filters, stride int, project bool, drop float64) *ops.Value {
	norm := resNetRSNorm()
	shortcut := x
	if project {
		if stride == 2 {
			shortcut = n.averagePool(name+"_projection_pooling", shortcut, 2, 2, true)
		}
		shortcut = n.fixedConv(name+"_projection_conv", shortcut, 4*filters, 1, 1)
		shortcut = n.norm(name+"_projection_batch_norm", shortcut, norm)
	}
	x = n.fixedConv(name+"_conv_1", x, filters, 1, 1)
	x = n.relu(name+"_act_1", n.norm(name+"batch_norm_1", x, norm))
	x = n.fixedConv(name+"_conv_2", x, filters, 3, stride)
	x = n.relu(name+"_act_2", n.norm(name+"_batch_norm_2", x, norm))
	x = n.fixedConv(name+"_conv_3", x, 4*filters, 1, 1)
	x = n.norm(name+"_batch_norm_3", x, norm)
	x = n.squeeze(name+"_se_se_", x, filters, 4*filters, activations.Relu)
	if drop > 0 {
		x = n.dropExamples(name+"_drop", x, drop)
	}
	return n.relu(name+"_output_act", n.add("", x, shortcut))
}
