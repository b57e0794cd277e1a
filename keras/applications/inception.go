package applications

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/ops"
)

// InceptionV3 returns the model of "Rethinking the Inception Architecture for Computer
// Vision". Its images are preprocessed by ModeTF. Layers, their names and their order are those
// of tf_keras's applications/inception_v3.py, so that its weights fit.
func InceptionV3(ctx context.Context, opts *Options) (*keras.Functional, error) {
	n, err := begin(ctx, design{constructor: "InceptionV3", name: "inception_v3", size: 299, minSize: 75}, opts)
	if err != nil {
		return nil, err
	}
	x := n.inceptionStrided(n.input, 32)
	x = n.inceptionConv(x, 32, []int{3}, convOptions{})
	x = n.inception(x, 64, 3)
	x = n.maxPool("", x, 3, 2, false)
	x = n.inceptionConv(x, 80, []int{1}, convOptions{})
	x = n.inceptionConv(x, 192, []int{3}, convOptions{})
	x = n.maxPool("", x, 3, 2, false)
	for i, pooled := range []int{32, 64, 64} {
		a := n.inception(x, 64, 1)
		b := n.inception(n.inception(x, 48, 1), 64, 5)
		c := n.inception(n.inception(n.inception(x, 64, 1), 96, 3), 96, 3)
		x = n.concatenate(fmt.Sprintf("mixed%d", i), 3, a, b, c, n.inceptionPooled(x, pooled))
	}
	a := n.inceptionStrided(x, 384)
	b := n.inceptionStrided(n.inception(n.inception(x, 64, 1), 96, 3), 96)
	x = n.concatenate("mixed3", 3, a, b, n.maxPool("", x, 3, 2, false))
	for i, filters := range []int{128, 160, 160, 192} {
		x = n.inceptionLong(fmt.Sprintf("mixed%d", 4+i), x, filters)
	}
	a = n.inceptionStrided(n.inception(x, 192, 1), 320)
	b = n.inception(n.inception(n.inception(x, 192, 1), 192, 1, 7), 192, 7, 1)
	b = n.inceptionStrided(b, 192)
	x = n.concatenate("mixed8", 3, a, b, n.maxPool("", x, 3, 2, false))
	for i := range 2 {
		a := n.inception(x, 320, 1)
		b := n.inception(x, 384, 1)
		b = n.concatenate(fmt.Sprintf("mixed9_%d", i), 3, n.inception(b, 384, 1, 3), n.inception(b, 384, 3, 1))
		c := n.inception(n.inception(x, 448, 1), 384, 3)
		c = n.concatenate("", 3, n.inception(c, 384, 1, 3), n.inception(c, 384, 3, 1))
		x = n.concatenate(fmt.Sprintf("mixed%d", 9+i), 3, a, b, c, n.inceptionPooled(x, 192))
	}
	return n.model(n.head(x, false))
}

// inceptionConv adds a convolution with normalization and relu. As in tf_keras, these layers have
// automatic names, so the order of the calls decides the names of the weights.
func (n *network) inceptionConv(x *ops.Value, filters int, kernel []int, o convOptions) *ops.Value {
	o.noBias = true
	return n.relu("", n.norm("", n.conv2("", x, filters, kernel, o), normSettings{axis: 3, noScale: true}))
}

// inception adds inceptionConv that keeps the size. kernel is one number or two.
func (n *network) inception(x *ops.Value, filters int, kernel ...int) *ops.Value {
	return n.inceptionConv(x, filters, kernel, convOptions{same: true})
}

// inceptionStrided adds inceptionConv that halves the size.
func (n *network) inceptionStrided(x *ops.Value, filters int) *ops.Value {
	return n.inceptionConv(x, filters, []int{3}, convOptions{stride: 2})
}

// inceptionPooled adds the branch of means.
func (n *network) inceptionPooled(x *ops.Value, filters int) *ops.Value {
	return n.inception(n.averagePool("", x, 3, 1, true), filters, 1)
}

// inceptionLong adds a block with kernels of 1x7 and 7x1.
func (n *network) inceptionLong(name string, x *ops.Value, filters int) *ops.Value {
	a := n.inception(x, 192, 1)
	b := n.inception(n.inception(n.inception(x, filters, 1), filters, 1, 7), 192, 7, 1)
	c := n.inception(n.inception(x, filters, 1), filters, 7, 1)
	c = n.inception(n.inception(c, filters, 1, 7), filters, 7, 1)
	c = n.inception(c, 192, 1, 7)
	return n.concatenate(name, 3, a, b, c, n.inceptionPooled(x, 192))
}
