package passes

import (
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// foldBatchNorms takes batch normalization with fixed moments apart: into the
// filter and the bias of the convolution or product before it, or else into one
// multiplication and one addition. The factors are computed once, as they depend
// on variables alone. It also folds other factors and summands that have a number
// for each channel.
func foldBatchNorms(u *Unit) error {
	r, err := newRewriter(u)
	if err != nil {
		return err
	}
	for _, n := range r.nodes {
		switch n.Op {
		case "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3":
			err = r.foldNorm(n)
		case "Mul":
			err = r.foldFactor(n)
		case "AddV2", "Add", "Sub":
			err = r.foldSummand(n)
		}
		if err != nil {
			return err
		}
	}
	return r.finish()
}

// linear is a convolution or product, and the vector that is added to its
// channels.
type linear struct {
	node *graph.Node
	bias graph.Output // of Node nil: none
}

// linearAt returns the convolution or product that computes o, with its bias if
// there is one. It requires an invariant filter, and that no other node uses
// the result.
func (r *rewriter) linearAt(o graph.Output) (linear, bool) {
	if r.only(o) == nil || o.Fact().DType != tensor.Float32 {
		return linear{}, false
	}
	n := o.Node
	switch n.Op {
	case "Conv2D", "DepthwiseConv2dNative", "MatMul":
		return linear{node: n}, r.invariant(n.In[1])
	case "BiasAdd", "AddV2", "Add":
		l, ok := r.linearAt(n.In[0])
		if !ok || l.bias.Node != nil || !r.invariant(n.In[1]) {
			return linear{}, false
		}
		if n.Op == "BiasAdd" && n.Attrs.String("data_format", "NHWC") != l.format() || n.Op != "BiasAdd" && !r.perChannel(l, n.In[1]) {
			return linear{}, false
		}
		l.bias = n.In[1]
		return l, true
	}
	return linear{}, false
}

// format returns the position of the channels: "NHWC", last, or "NCHW".
func (l linear) format() string {
	if l.node.Op == "MatMul" {
		return "NHWC"
	}
	return l.node.Attrs.String("data_format", "NHWC")
}

// perChannel reports whether o has one number for each channel of l's result
// and broadcasts along the last dimension, and the channels are last.
func (r *rewriter) perChannel(l linear, o graph.Output) bool {
	s, y := o.Fact().Shape, l.node.Out[0].Shape
	return l.format() == "NHWC" && s.HasRank() && s.Rank() == 1 && s.Dim(0) > 0 && y.HasRank() && s.Dim(0) == y.Dim(y.Rank()-1)
}

// scaled returns l's filter times a vector with a factor for each channel. It
// returns false, and adds no node, if the filter's shape isn't known.
func (r *rewriter) scaled(l linear, factor graph.Output) (graph.Output, bool, error) {
	filter := l.node.In[1]
	dims := []int32(nil) // of the factor, unless it is a vector along the last dimension
	switch {
	case l.node.Op == "DepthwiseConv2dNative":
		s := filter.Fact().Shape
		if !s.HasRank() || s.Rank() != 4 || s.Dim(3) < 1 {
			return graph.Output{}, false, nil
		}
		dims = []int32{-1, int32(s.Dim(3))}
	case l.node.Op == "MatMul" && l.node.Attrs.Bool("transpose_b"):
		dims = []int32{-1, 1}
	}
	if dims != nil {
		shape, err := r.constant(l.node, tensor.Vector(dims...))
		if err != nil {
			return graph.Output{}, false, err
		}
		n, err := r.add(l.node, "Reshape", nil, factor, shape)
		if err != nil {
			return graph.Output{}, false, err
		}
		factor = n.Output(0)
	}
	n, err := r.add(l.node, "Mul", nil, filter, factor)
	if err != nil {
		return graph.Output{}, false, err
	}
	return n.Output(0), true, nil
}

// binary adds a node of an op with two inputs, named after like.
func (r *rewriter) binary(like *graph.Node, op string, a, b graph.Output) (graph.Output, error) {
	n, err := r.add(like, op, nil, a, b)
	if err != nil {
		return graph.Output{}, err
	}
	return n.Output(0), nil
}

// foldNorm replaces a FusedBatchNorm of inference, with mean and variance that don't change, by a scaled filter
// and a bias, or by a product and a sum. It leaves other nodes alone. The bits change.
func (r *rewriter) foldNorm(n *graph.Node) error {
	if n.Attrs.Bool("is_training") || !n.Attrs.Has("is_training") || n.In[0].Fact().DType != tensor.Float32 || !r.replaceable(n) || !r.has("Rsqrt", "Mul", "AddV2", "Sub", "BiasAdd") {
		return nil
	}
	for _, in := range n.In[1:] {
		if s := in.Fact().Shape; !r.invariant(in) || !s.HasRank() || s.Rank() != 1 {
			return nil
		}
	}
	x, gamma, beta, mean, variance := n.In[0], n.In[1], n.In[2], n.In[3], n.In[4]
	epsilon, err := r.constant(n, tensor.Scalar(float32(n.Attrs.Float("epsilon", 1e-4))))
	if err != nil {
		return err
	}
	v, err := r.binary(n, "AddV2", variance, epsilon)
	if err != nil {
		return err
	}
	root, err := r.add(n, "Rsqrt", nil, v)
	if err != nil {
		return err
	}
	factor, err := r.binary(n, "Mul", gamma, root.Output(0))
	if err != nil {
		return err
	}
	format := n.Attrs.String("data_format", "NHWC")
	l, ok := r.linearAt(x)
	if ok && l.format() == format && r.only(x) == n {
		if filter, ok, err := r.scaled(l, factor); err != nil {
			return err
		} else if ok {
			// (y + bias - mean)·factor + beta = y·factor + ((bias - mean)·factor + beta)
			shift, err := r.shift(n, l.bias, mean, factor, beta)
			if err != nil {
				return err
			}
			l.node.In[1] = filter
			return r.replace(n, "BiasAdd", graph.Attrs{graph.String("data_format", format)}, l.node.Output(0), shift)
		}
	}
	if format != "NHWC" {
		return nil
	}
	shift, err := r.shift(n, graph.Output{}, mean, factor, beta)
	if err != nil {
		return err
	}
	scaled, err := r.add(n, "Mul", nil, x, factor)
	if err != nil {
		return err
	}
	return r.replace(n, "AddV2", nil, scaled.Output(0), shift)
}

// shift returns (bias - mean)·factor + beta.
func (r *rewriter) shift(n *graph.Node, bias, mean, factor, beta graph.Output) (graph.Output, error) {
	if bias.Node == nil {
		m, err := r.binary(n, "Mul", mean, factor)
		if err != nil {
			return m, err
		}
		return r.binary(n, "Sub", beta, m)
	}
	d, err := r.binary(n, "Sub", bias, mean)
	if err != nil {
		return d, err
	}
	if d, err = r.binary(n, "Mul", d, factor); err != nil {
		return d, err
	}
	return r.binary(n, "AddV2", d, beta)
}

// foldFactor multiplies the filter of the convolution or product before n by a
// factor for each channel.
func (r *rewriter) foldFactor(n *graph.Node) error {
	for i, x := range n.In {
		factor := n.In[1-i]
		l, ok := r.linearAt(x)
		if !ok || r.only(x) != n || !r.invariant(factor) || !r.perChannel(l, factor) || !r.has("BiasAdd") {
			continue
		}
		filter, ok, err := r.scaled(l, factor)
		if err != nil || !ok {
			return err
		}
		bias := l.bias
		if bias.Node == nil {
			// The product takes the multiplication's place.
			in := append([]graph.Output{l.node.In[0], filter}, l.node.In[2:]...)
			return r.replace(n, l.node.Op, withoutTypes(l.node.Attrs), in...)
		}
		if bias, err = r.binary(n, "Mul", bias, factor); err != nil {
			return err
		}
		l.node.In[1] = filter
		return r.replace(n, "BiasAdd", nil, l.node.Output(0), bias)
	}
	return nil
}

// foldSummand makes the addition or subtraction of a number for each channel a
// bias.
func (r *rewriter) foldSummand(n *graph.Node) error {
	for i, x := range n.In {
		v := n.In[1-i]
		l, ok := r.linearAt(x)
		if !ok || r.only(x) != n || !r.invariant(v) || !r.perChannel(l, v) || n.Op == "Sub" && i == 1 || !r.has("BiasAdd") {
			continue
		}
		var err error
		switch {
		case n.Op == "Sub" && l.bias.Node != nil:
			v, err = r.binary(n, "Sub", l.bias, v)
		case n.Op == "Sub":
			var neg *graph.Node
			if neg, err = r.add(n, "Neg", nil, v); err == nil {
				v = neg.Output(0)
			}
		case l.bias.Node != nil:
			v, err = r.binary(n, "AddV2", l.bias, v)
		}
		if err != nil {
			return err
		}
		return r.replace(n, "BiasAdd", nil, l.node.Output(0), v)
	}
	return nil
}

// withoutTypes returns the attributes that don't follow from the inputs.
func withoutTypes(attrs graph.Attrs) graph.Attrs {
	var out graph.Attrs
	for _, a := range attrs {
		if a.Kind != graph.AttrType && !strings.HasPrefix(a.Name, "_") {
			out = append(out, a)
		}
	}
	return out
}
