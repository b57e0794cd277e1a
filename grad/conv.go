package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// convRules are the rules of what moves a window over images. A convolution is
// linear in image and filter: the gradients of it and of its gradients are the
// three ops of its family.
var convRules = merged(
	convFamily("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"),
	convFamily("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"),
	convFamily("DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter"),
)

func merged(families ...map[string]Rule) map[string]Rule {
	all := map[string]Rule{}
	for _, f := range families {
		for op, r := range f {
			all[op] = r
		}
	}
	return all
}

// convFamily returns the rules of a convolution y(x, f) and of its gradients with
// regard to x and to f.
func convFamily(conv, backInput, backFilter string) map[string]Rule {
	forward := func(s *ops.Scope, op *Op, x, f *ops.Value) *ops.Value {
		return s.Emit1(conv, windowAttrs(op), x, f)
	}
	input := func(s *ops.Scope, op *Op, like, f, dy *ops.Value) *ops.Value {
		return s.Emit1(backInput, windowAttrs(op), sizesOf(s, like), f, dy)
	}
	filter := func(s *ops.Scope, op *Op, x, like, dy *ops.Value) *ops.Value {
		return s.Emit1(backFilter, windowAttrs(op), x, sizesOf(s, like), dy)
	}
	return map[string]Rule{
		conv: func(s *ops.Scope, op *Op) {
			x, f, dy := op.In(0), op.In(1), op.Grad(0)
			giveAt(s, op, 0, func() *ops.Value { return input(s, op, x, f, dy) })
			giveAt(s, op, 1, func() *ops.Value { return filter(s, op, x, f, dy) })
		},
		backInput: func(s *ops.Scope, op *Op) {
			f, dy, dx := op.In(1), op.In(2), op.Grad(0)
			giveAt(s, op, 1, func() *ops.Value { return filter(s, op, dx, f, dy) })
			giveAt(s, op, 2, func() *ops.Value { return forward(s, op, dx, f) })
		},
		backFilter: func(s *ops.Scope, op *Op) {
			x, dy, df := op.In(0), op.In(2), op.Grad(0)
			giveAt(s, op, 0, func() *ops.Value { return input(s, op, x, df, dy) })
			giveAt(s, op, 2, func() *ops.Value { return forward(s, op, x, df) })
		},
	}
}

// windowAttrs returns the attributes that say how an op moves its window.
func windowAttrs(op *Op) graph.Attrs {
	var out graph.Attrs
	for _, a := range op.Attrs() {
		switch a.Name {
		case "strides", "ksize", "padding", "explicit_paddings", "data_format", "dilations":
			out = append(out, a)
		}
	}
	return out
}
