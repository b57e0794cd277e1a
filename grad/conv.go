package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// convRules are the rules of ops that move a window over images. A convolution
// is linear in image and filter: the gradients of it and of its gradients are
// the three ops of its family.
var convRules = merged(
	convFamily("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"),
	convFamily("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"),
	convFamily("DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter"),
	maxFamily("MaxPool", "MaxPoolGrad", "MaxPoolGradGrad"),
	maxFamily("MaxPoolV2", "MaxPoolGradV2", "MaxPoolGradGradV2"),
	maxFamily("MaxPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad"),
	avgFamily("AvgPool", "AvgPoolGrad"),
	avgFamily("AvgPool3D", "AvgPool3DGrad"),
	map[string]Rule{
		"MaxPoolWithArgmax": func(s *ops.Scope, op *Op) {
			op.Give(0, s.Emit1("MaxPoolGradWithArgmax", windowAttrs(op), op.In(0), op.Grad(0), op.Out(1)))
		},
		"FractionalAvgPool": func(s *ops.Scope, op *Op) {
			shape := s.Emit1("Shape", graph.Attrs{graph.Type("out_type", tensor.Int64)}, op.In(0))
			op.Give(0, s.Emit1("FractionalAvgPoolGrad", attrsOf(op, "overlapping"), shape, op.Grad(0), op.Out(1), op.Out(2)))
		},
		"FractionalMaxPool": func(s *ops.Scope, op *Op) {
			op.Give(0, s.Emit1("FractionalMaxPoolGrad", attrsOf(op, "overlapping"), op.In(0), op.Out(0), op.Grad(0), op.Out(1), op.Out(2)))
		},
		"LRN": func(s *ops.Scope, op *Op) {
			op.Give(0, s.Emit1("LRNGrad", op.Attrs(), op.Grad(0), op.In(0), op.Out(0)))
		},
		"BatchNormWithGlobalNormalization": func(s *ops.Scope, op *Op) {
			// The gradients are in the order of the inputs except for the last two.
			g := s.Emit("BatchNormWithGlobalNormalizationGrad", op.Attrs(), op.In(0), op.In(1), op.In(2), op.In(4), op.Grad(0))
			for i := range g {
				op.Give(i, g[i])
			}
		},
		"FusedBatchNorm":       gradBatchNorm,
		"FusedBatchNormV2":     gradBatchNorm,
		"FusedBatchNormV3":     gradBatchNorm,
		"FusedBatchNormGrad":   gradBatchNormGrad,
		"FusedBatchNormGradV2": gradBatchNormGrad,
		"FusedBatchNormGradV3": gradBatchNormGrad,
	},
)

// maxFamily returns the rules of a maximum over windows, of its gradient and of that
// one's gradient. The windows of some are inputs.
func maxFamily(pool, back, second string) map[string]Rule {
	emit := func(s *ops.Scope, op *Op, name string, first int, in ...ops.Input) *ops.Value {
		for i := first; i < op.NumIn(); i++ {
			in = append(in, op.In(i))
		}
		return s.Emit1(name, windowAttrs(op), in...)
	}
	return map[string]Rule{
		pool: func(s *ops.Scope, op *Op) {
			op.Give(0, emit(s, op, back, 1, op.In(0), op.Out(0), op.Grad(0)))
		},
		back:   maxSecond(second, emit),
		second: maxSecond(back, emit),
	}
}

// maxSecond returns the rule of an op that is linear in its gradient, input 2, and
// constant almost everywhere in the images and the op's output for them.
func maxSecond(name string, emit func(s *ops.Scope, op *Op, name string, first int, in ...ops.Input) *ops.Value) Rule {
	return func(s *ops.Scope, op *Op) {
		for i := range 2 {
			if op.Needs(i) {
				op.Give(i, ops.ZerosLike(s, op.In(i)))
			}
		}
		giveAt(s, op, 2, func() *ops.Value { return emit(s, op, name, 3, op.In(0), op.In(1), op.Grad(0)) })
	}
}

// avgFamily returns the rules of a mean over windows and of its gradient.
func avgFamily(pool, back string) map[string]Rule {
	return map[string]Rule{
		pool: func(s *ops.Scope, op *Op) {
			op.Give(0, s.Emit1(back, windowAttrs(op), sizesOf(s, op.In(0)), op.Grad(0)))
		},
		back: func(s *ops.Scope, op *Op) {
			op.Give(1, s.Emit1(pool, windowAttrs(op), op.Grad(0)))
		},
	}
}

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

// windowAttrs returns the attributes of an op that determine how its window
// moves.
func windowAttrs(op *Op) graph.Attrs {
	var out graph.Attrs
	for _, a := range op.Attrs() {
		switch a.Name {
		case "strides", "ksize", "padding", "explicit_paddings", "data_format", "dilations", "include_batch_in_index":
			out = append(out, a)
		}
	}
	return out
}
