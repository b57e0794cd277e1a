package passes

import (
	"github.com/cairnml/cairn/engine/internal/analysis"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// LayerNormOp is the op that the pass "layer norm" makes of a layer
// normalization of x with gamma and beta over the last dimension. It has the
// attribute epsilon.
const LayerNormOp = "_LayerNorm"

// raiseLayerNorms replaces the ops of a layer normalization by one op. They
// subtract the mean of the last dimension, divide by the root of the variance
// plus a small number, multiply by a vector and add a vector. The factors may
// be multiplied first. A FusedBatchNorm with as many channels as rows is
// another form.
func raiseLayerNorms(u *Unit) error {
	r, err := newRewriter(u)
	if err != nil || !r.has(LayerNormOp) {
		return err
	}
	for _, n := range r.nodes {
		var l layerNormPattern
		ok := false
		switch n.Op {
		case "Rsqrt", "Sqrt":
			l, ok = r.writtenNorm(n)
		case "FusedBatchNormV2", "FusedBatchNormV3":
			l, ok = r.channelNorm(n)
		}
		if !ok || r.pinned[l.last] || !sameSizes(l.last.Out[0].Shape, l.x.Fact().Shape) {
			continue
		}
		if err := r.raiseNorm(l); err != nil {
			return err
		}
	}
	return r.finish()
}

// layerNormPattern is a normalization that was found. A gamma or beta without a
// Node means that it has none.
type layerNormPattern struct {
	x, gamma, beta graph.Output
	epsilon        float64
	width          int
	last           *graph.Node // whose result it is
}

// raiseNorm puts the op in the place of the last node.
func (r *rewriter) raiseNorm(l layerNormPattern) error {
	n := l.last
	for _, v := range []struct {
		o *graph.Output
		x float32
	}{{&l.gamma, 1}, {&l.beta, 0}} {
		if v.o.Node == nil {
			t := tensor.Must(tensor.Zeros(tensor.Float32, l.width))
			for i := range tensor.Values[float32](t) {
				tensor.Values[float32](t)[i] = v.x
			}
			var err error
			if *v.o, err = r.constant(n, t); err != nil {
				return err
			}
		}
		var err error
		if *v.o, err = r.reshaped(n, *v.o, l.width); err != nil {
			return err
		}
	}
	return r.replace(n, LayerNormOp, graph.Attrs{graph.Float("epsilon", l.epsilon)}, l.x, l.gamma, l.beta)
}

// writtenNorm returns the normalization that the root of a variance is a part of.
func (r *rewriter) writtenNorm(root *graph.Node) (l layerNormPattern, ok bool) {
	sum := root.In[0].Node
	if sum.Op != "AddV2" && sum.Op != "Add" || root.Out[0].DType != tensor.Float32 {
		return l, false
	}
	var mean graph.Output
	for i, v := range sum.In {
		if e, number := numberOf(sum.In[1-i]); number {
			l.epsilon = e
			l.x, mean, ok = variance(v)
		}
	}
	if !ok || !l.x.Fact().Shape.HasRank() || l.x.Fact().Shape.Rank() < 1 {
		return l, false
	}
	l.width = l.x.Fact().Shape.Dim(l.x.Fact().Shape.Rank() - 1)
	if l.width < 1 {
		return l, false
	}
	scale := root.Output(0) // the factor of the differences
	if m := r.only(scale); m != nil && m.Op == "Mul" && root.Op == "Rsqrt" {
		if g := other(m, scale); r.isVector(g, l.width) {
			l.gamma, scale = g, m.Output(0)
		}
	}
	if root.Op == "Rsqrt" && r.normOfFactors(&l, mean, scale) {
		return l, true
	}
	// (x - mean)·scale, or (x - mean)/root
	m := r.only(scale)
	if m == nil {
		return l, false
	}
	d := other(m, scale)
	switch {
	case root.Op == "Rsqrt" && m.Op == "Mul":
	case root.Op == "Sqrt" && m.Op == "RealDiv" && m.In[1] == scale:
	default:
		return l, false
	}
	if d.Node.Op != "Sub" || d.Node.In[0] != l.x || d.Node.In[1] != mean {
		return l, false
	}
	l.last = m
	r.affine(&l)
	return l, true
}

// normOfFactors finds x·scale + (beta - mean·scale).
func (r *rewriter) normOfFactors(l *layerNormPattern, mean, scale graph.Output) bool {
	users := r.users[scale]
	if len(users) != 2 || r.results[scale] {
		return false
	}
	for i, a := range users {
		b := users[1-i]
		if a.Op != "Mul" || b.Op != "Mul" || other(a, scale) != l.x || other(b, scale) != mean {
			continue
		}
		shift := r.only(b.Output(0))
		if shift == nil || shift.Op != "Sub" || shift.In[1] != b.Output(0) || !r.isVector(shift.In[0], l.width) {
			continue
		}
		sum := r.only(a.Output(0))
		if sum == nil || sum != r.only(shift.Output(0)) || sum.Op != "AddV2" && sum.Op != "Add" {
			continue
		}
		l.beta, l.last = shift.In[0], sum
		return true
	}
	return false
}

// affine includes a factor and a summand after the normalization in it.
func (r *rewriter) affine(l *layerNormPattern) {
	if n := r.only(l.last.Output(0)); n != nil && n.Op == "Mul" && l.gamma.Node == nil && !r.pinned[n] {
		if g := other(n, l.last.Output(0)); r.isVector(g, l.width) {
			l.gamma, l.last = g, n
		}
	}
	if n := r.only(l.last.Output(0)); n != nil && (n.Op == "AddV2" || n.Op == "Add" || n.Op == "BiasAdd") && !r.pinned[n] {
		if b := other(n, l.last.Output(0)); r.isVector(b, l.width) {
			l.beta, l.last = b, n
		}
	}
}

// other returns the operand of a node of two that isn't o.
func other(n *graph.Node, o graph.Output) graph.Output {
	if n.In[0] == o {
		return n.In[len(n.In)-1]
	}
	return n.In[0]
}

// isVector reports whether o has one number for each element of the last dimension,
// and no other dimensions but ones.
func (r *rewriter) isVector(o graph.Output, width int) bool {
	s := o.Fact().Shape
	n, ok := s.NumElements()
	return ok && n == width && s.Rank() > 0 && s.Dim(s.Rank()-1) == width && o.Fact().DType == tensor.Float32 && !o.Fact().Ref
}

// variance returns x and its mean if v is the variance of x over the last
// dimension.
func variance(v graph.Output) (x, mean graph.Output, ok bool) {
	if !isLastMean(v.Node) {
		return x, mean, false
	}
	n := v.Node.In[0].Node
	switch n.Op {
	case "Square":
		n = n.In[0].Node
		if n.Op != "Sub" {
			return x, mean, false
		}
	case "Mul":
		if n.In[0] != n.In[1] || n.In[0].Node.Op != "Sub" {
			return x, mean, false
		}
		n = n.In[0].Node
	case "SquaredDifference":
	default:
		return x, mean, false
	}
	for i := range n.In {
		x, mean = n.In[i], n.In[1-i]
		if isLastMean(mean.Node) && mean.Node.In[0] == x {
			return x, mean, true
		}
	}
	return x, mean, false
}

// isLastMean reports whether n is the mean over the last dimension, which it keeps.
func isLastMean(n *graph.Node) bool {
	if n.Op != "Mean" || !n.Attrs.Bool("keep_dims") || !n.In[0].Fact().Shape.HasRank() {
		return false
	}
	axes, ok := n.In[1].Fact().Ints()
	if !ok || len(axes) != 1 {
		return false
	}
	axis, ok := axes[0].Int()
	rank := int64(n.In[0].Fact().Shape.Rank())
	return ok && (axis == -1 || axis == rank-1)
}

// channelNorm returns the normalization that n computes, a FusedBatchNorm whose
// channels are the rows.
func (r *rewriter) channelNorm(n *graph.Node) (l layerNormPattern, ok bool) {
	in := n.In[0]
	if n.Attrs.Has("is_training") && !n.Attrs.Bool("is_training") || n.Attrs.String("data_format", "NHWC") != "NCHW" || in.Node.Op != "Reshape" || in.Fact().DType != tensor.Float32 ||
		n.Attrs.Float("exponential_avg_factor", 1) != 1 || !r.replaceable(n) {
		return l, false
	}
	l.x, l.epsilon = in.Node.In[0], n.Attrs.Float("epsilon", 1e-4)
	s, x := in.Fact().Shape, l.x.Fact().Shape
	if !s.Known() || s.Rank() != 4 || s.Dim(0) != 1 || !x.Known() || x.Rank() < 1 {
		return l, false
	}
	l.width = x.Dim(x.Rank() - 1)
	if l.width < 1 || s.Dim(2)*s.Dim(3) != l.width || !isFilled(n.In[1], 1) || !isFilled(n.In[2], 0) {
		return l, false
	}
	back := r.only(n.Output(0))
	if back == nil || back.Op != "Reshape" || back.In[0] != n.Output(0) {
		return l, false
	}
	l.last = back
	r.affine(&l)
	return l, true
}

// isFilled reports whether all elements of o are known to be v.
func isFilled(o graph.Output, v float32) bool {
	if o.Node.Op == "Fill" {
		x, ok := numberOf(o.Node.In[1])
		return ok && float32(x) == v
	}
	t := o.Fact().Value
	if t == nil {
		t, _ = analysis.ConstantOf(o.Node)
	}
	if t == nil || t.DType() != tensor.Float32 {
		return false
	}
	for _, x := range tensor.Values[float32](t) {
		if x != v {
			return false
		}
	}
	return true
}
