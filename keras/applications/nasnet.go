package applications

import (
	"context"
	"strconv"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
)

// NASNetMobile returns the smaller model of "Learning Transferable Architectures for Scalable
// Image Recognition". Preprocess its images with ModeTF.
func NASNetMobile(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return nasNet(ctx, "Mobile", 224, 1056/24, 4, 32, false, opts) // the paper's penultimate filters / 24
}

// NASNetLarge returns the larger model of the same paper. Preprocess its images with ModeTF.
func NASNetLarge(ctx context.Context, opts *Options) (*keras.Functional, error) {
	return nasNet(ctx, "Large", 331, 4032/24, 6, 96, true, opts)
}

// cells are the outputs of the last two cells. previous is nil before the first cell.
type cells struct{ last, previous *ops.Value }

// nasNet connects three stages. blocks is the number of normal cells in each. If skip is set,
// the cell after a reduction still sees the output two cells before the reduction. filters are the
// channels of the first stage's branches, stem those of the first convolution. Layers, their names
// and their order are those of tf_keras's applications/nasnet.py, so that its weights fit.
func nasNet(ctx context.Context, variant string, size, filters, blocks, stem int, skip bool, opts *Options) (*keras.Functional, error) {
	n, err := begin(ctx, design{constructor: "NASNet" + variant, name: "NASNet", size: size, minSize: 32}, opts)
	if err != nil {
		return nil, err
	}
	x := n.conv("stem_conv1", n.input, stem, 3, convOptions{stride: 2, noBias: true, initializer: initializers.HeNormal{}})
	c := cells{last: n.norm("stem_bn1", x, nasNorm())}
	c = n.reductionCell(c, filters/4, "stem_1")
	c = n.reductionCell(c, filters/2, "stem_2")
	for stage := range 3 {
		if stage > 0 {
			reduced := n.reductionCell(c, filters<<stage, "reduce_"+strconv.Itoa(stage*blocks))
			if skip {
				reduced.previous = c.previous
			}
			c = reduced
		}
		first := stage * blocks
		if stage > 0 {
			first++
		}
		for i := range blocks {
			c = n.normalCell(c, filters<<stage, strconv.Itoa(first+i))
		}
	}
	x = n.relu("", c.last)
	if n.NoTop {
		return n.model(n.pool(x, "", ""))
	}
	return n.model(n.classify(n.globalAverage("", x), nil, nil))
}

func nasNorm() normSettings {
	return normSettings{axis: -1, momentum: new(0.9997), epsilon: new(0.001)}
}

// normalCell adds a cell that keeps the size.
func (n *network) normalCell(c cells, filters int, id string) cells {
	p := n.adjusted(c, filters, id)
	h := n.squeezed(c.last, filters, "normal_conv_1_"+id, "normal_bn_1_"+id)
	x1 := n.add("normal_add_1_"+id, n.separableBlock(h, filters, 5, 1, "normal_left1_"+id), n.separableBlock(p, filters, 3, 1, "normal_right1_"+id))
	x2 := n.add("normal_add_2_"+id, n.separableBlock(p, filters, 5, 1, "normal_left2_"+id), n.separableBlock(p, filters, 3, 1, "normal_right2_"+id))
	x3 := n.add("normal_add_3_"+id, n.averagePool("normal_left3_"+id, h, 3, 1, true), p)
	x4 := n.add("normal_add_4_"+id, n.averagePool("normal_left4_"+id, p, 3, 1, true), n.averagePool("normal_right4_"+id, p, 3, 1, true))
	x5 := n.add("normal_add_5_"+id, n.separableBlock(h, filters, 3, 1, "normal_left5_"+id), h)
	return cells{n.concatenate("normal_concat_"+id, -1, p, x1, x2, x3, x4, x5), c.last}
}

// reductionCell adds a cell that halves the size. The irregular names are Keras's.
func (n *network) reductionCell(c cells, filters int, id string) cells {
	p := n.adjusted(c, filters, id)
	h := n.squeezed(c.last, filters, "reduction_conv_1_"+id, "reduction_bn_1_"+id)
	h3 := n.padFor("reduction_pad_1_"+id, h, 3)
	x1 := n.add("reduction_add_1_"+id, n.separableBlock(h, filters, 5, 2, "reduction_left1_"+id), n.separableBlock(p, filters, 7, 2, "reduction_right1_"+id))
	x2 := n.add("reduction_add_2_"+id, n.maxPool("reduction_left2_"+id, h3, 3, 2, false), n.separableBlock(p, filters, 7, 2, "reduction_right2_"+id))
	x3 := n.add("reduction_add3_"+id, n.averagePool("reduction_left3_"+id, h3, 3, 2, false), n.separableBlock(p, filters, 5, 2, "reduction_right3_"+id))
	x4 := n.add("", x2, n.averagePool("reduction_left4_"+id, x1, 3, 1, true))
	x5 := n.add("reduction_add4_"+id, n.separableBlock(x1, filters, 3, 1, "reduction_left4_"+id), n.maxPool("reduction_right5_"+id, h3, 3, 2, false))
	return cells{n.concatenate("reduction_concat_"+id, -1, x2, x3, x4, x5), c.last}
}

// adjusted returns the output of the previous cell with the size of the last one's and filters
// channels.
func (n *network) adjusted(c cells, filters int, id string) *ops.Value {
	p := c.previous
	switch {
	case p == nil:
		return c.last
	case width(p) != width(c.last):
		return n.halved(p, filters, id)
	case channels(p) != filters:
		return n.squeezed(p, filters, "adjust_conv_projection_"+id, "adjust_bn_"+id)
	}
	return p
}

// halved takes every second pixel, at even places for half of the channels and at odd ones for
// the others.
func (n *network) halved(p *ops.Value, filters int, id string) *ops.Value {
	o := convOptions{same: true, noBias: true, initializer: initializers.HeNormal{}}
	p = n.relu("adjust_relu_1_"+id, p)
	even := n.averagePool("adjust_avg_pool_1_"+id, p, 1, 2, false)
	even = n.conv("adjust_conv_1_"+id, even, filters/2, 1, o)
	odd := n.call("", &layers.Cropping2D{Cropping: [][2]int{{1, 0}, {1, 0}}}, n.pad("", p, 0, 1))
	odd = n.averagePool("adjust_avg_pool_2_"+id, odd, 1, 2, false)
	odd = n.conv("adjust_conv_2_"+id, odd, filters/2, 1, o)
	return n.norm("adjust_bn_"+id, n.concatenate("", -1, even, odd), nasNorm())
}

// squeezed returns x with filters channels.
func (n *network) squeezed(x *ops.Value, filters int, conv, norm string) *ops.Value {
	x = n.conv(conv, n.relu("", x), filters, 1, convOptions{same: true, noBias: true, initializer: initializers.HeNormal{}})
	return n.norm(norm, x, nasNorm())
}

// separableBlock adds two separable convolutions with relus before them.
func (n *network) separableBlock(x *ops.Value, filters, kernel, stride int, id string) *ops.Value {
	o := convOptions{same: true, initializer: initializers.HeNormal{}}
	first := o
	x = n.relu("", x)
	if stride == 2 {
		x = n.padFor("separable_conv_1_pad_"+id, x, kernel)
		first.stride, first.same = 2, false
	}
	x = n.norm("separable_conv_1_bn_"+id, n.separable("separable_conv_1_"+id, x, filters, kernel, first), nasNorm())
	x = n.separable("separable_conv_2_"+id, n.relu("", x), filters, kernel, o)
	return n.norm("separable_conv_2_bn_"+id, x, nasNorm())
}

// width returns the width of images, -1 if it isn't known.
func width(x *ops.Value) int {
	shape := x.Shape()
	if len(shape) < 2 {
		return -1 // the scope has failed
	}
	return shape[len(shape)-2]
}
