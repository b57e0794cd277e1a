package passes

import (
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// fuseEpilogues adds bias, residual and activation to the convolution or
// product before them, which becomes TensorFlow's _FusedConv2D,
// _FusedDepthwiseConv2dNative or _FusedMatMul.
func fuseEpilogues(u *Unit) error { return fuseLinear(u, false) }

// fuseConvolutions does the same as [fuseEpilogues] for convolutions, if no bit
// of a result changes. It leaves products alone: they become faster only if their
// weights are packed in advance, which needs invariant weights.
func fuseConvolutions(u *Unit) error { return fuseLinear(u, true) }

// fuseLinear fuses epilogues into convolutions and products. If exact, it skips
// products and fusions that change rounding.
func fuseLinear(u *Unit, exact bool) error {
	r, err := newRewriter(u)
	if err != nil {
		return err
	}
	for _, n := range r.nodes {
		op := ""
		switch n.Op {
		case "Conv2D":
			op = "_FusedConv2D"
		case "DepthwiseConv2dNative":
			op = "_FusedDepthwiseConv2dNative"
		case "MatMul":
			op = "_FusedMatMul"
		}
		if op == "" || exact && op == "_FusedMatMul" || !r.has(op) || n.Out[0].DType != tensor.Float32 || n.Attrs.String("padding", "") == "EXPLICIT" && op == "_FusedDepthwiseConv2dNative" {
			continue
		}
		e := epilogue{rewriter: r, node: n, last: n, exact: exact}
		e.collect()
		if len(e.ops) == 0 || op == "_FusedConv2D" && len(e.args) == 0 {
			continue
		}
		attrs := withoutTypes(n.Attrs)
		for _, name := range []string{"grad_a", "grad_b"} {
			attrs = attrs.Without(name)
		}
		if op == "_FusedDepthwiseConv2dNative" {
			attrs = attrs.Without("explicit_paddings")
		}
		if op == "_FusedConv2D" {
			types := make([]tensor.DType, len(e.args))
			for i := range types {
				types[i] = tensor.Float32
			}
			attrs = append(attrs, graph.Types("TArgs", types...), graph.Int("num_host_args", 0))
		}
		attrs = append(attrs, graph.Int("num_args", int64(len(e.args))), graph.Strings("fused_ops", e.ops...))
		if e.alpha != nil {
			attrs = append(attrs, graph.Float("leakyrelu_alpha", *e.alpha))
		}
		if err := e.replaceLast(op, attrs); err != nil {
			return err
		}
	}
	if err := r.joinReshapes(); err != nil {
		return err
	}
	return r.finish()
}

// epilogue is the sequence of ops after a convolution or product.
type epilogue struct {
	*rewriter
	node, last *graph.Node
	ops        []string       // fused_ops
	args       []graph.Output // their inputs
	alpha      *float64       // of LeakyRelu
	exact      bool           // the order of sums stays
	behind     bool           // the node that next returned uses a Reshape of the result so far
	reshaped   bool           // a node that take has recorded does
}

// collect finds a bias, another summand, in either order, and an activation.
func (e *epilogue) collect() {
	e.bias()
	e.summand()
	if !e.exact && len(e.ops) == 1 && e.ops[0] == "Add" {
		if e.bias(); len(e.ops) == 2 { // fused ops take it first
			slices.Reverse(e.ops)
			slices.Reverse(e.args)
		}
	}
	e.activation()
}

// replaceLast replaces the last node by the op, or by a Reshape of the op's
// result.
func (e *epilogue) replaceLast(op string, attrs graph.Attrs) error {
	in := append([]graph.Output{e.node.In[0], e.node.In[1]}, e.args...)
	y := e.node.Out[0].Shape
	if !e.reshaped {
		return e.rewriter.replace(e.last, op, attrs, in...)
	}
	for i, o := range e.args {
		dims := y.Dims()
		if i == 0 && e.ops[0] == "BiasAdd" {
			dims = dims[1:]
		}
		var err error
		if in[i+2], err = e.rewriter.reshaped(e.node, o, dims...); err != nil {
			return err
		}
	}
	m, err := e.add(e.node, op, attrs, in...)
	if err != nil {
		return err
	}
	return e.becomeReshape(e.last, m.Output(0), e.last.Out[0].Shape.Dims()...)
}

// take records that n applies op to the result so far.
func (e *epilogue) take(n *graph.Node, op string, args ...graph.Output) {
	e.reshaped = e.reshaped || e.behind
	e.last, e.ops, e.args = n, append(e.ops, op), append(e.args, args...)
}

// next returns the only user of the result so far, or nil, and the value that it
// uses. After a product, that may be a Reshape of the result.
func (e *epilogue) next() (*graph.Node, graph.Output) {
	o := e.last.Output(0)
	e.behind = false
	n := e.only(o)
	for n != nil && n.Op == "Reshape" && n.In[0] == o && e.node.Op == "MatMul" && !e.pinned[n] && settled(n.Out[0].Shape, 1) && settled(e.node.Out[0].Shape, 1) {
		o = n.Output(0)
		e.behind = true
		n = e.only(o)
	}
	if n == nil || len(n.Out) != 1 || n.Out[0].DType != tensor.Float32 || e.pinned[n] || !slices.Contains(n.In, o) {
		return nil, o
	}
	return n, o
}

func (e *epilogue) bias() {
	n, o := e.next()
	if n == nil {
		return
	}
	l := linear{node: e.node}
	switch n.Op {
	case "BiasAdd":
		if n.In[0] == o && n.Attrs.String("data_format", "NHWC") == l.format() && (!e.isBehind() || e.spans(n.In[1], o)) {
			e.take(n, "BiasAdd", n.In[1])
		}
	case "AddV2", "Add":
		if b := other(n, o); e.isBehind() && e.spans(b, o) || !e.isBehind() && e.perChannel(l, b) {
			e.take(n, "BiasAdd", b)
		}
	}
}

// isBehind reports whether the node that next returned has another shape than
// the product.
func (e *epilogue) isBehind() bool { return e.reshaped || e.behind }

// spans reports whether b has a number for each column of the product, and broadcasts
// to o, a Reshape of the product.
func (e *epilogue) spans(b, o graph.Output) bool {
	s, y := b.Fact().Shape, o.Fact().Shape
	if !settled(s, 0) || b.Fact().DType != tensor.Float32 || b.Fact().Ref || count(s.Dims()) != e.node.Out[0].Shape.Dim(1) {
		return false
	}
	dims := s.Dims()
	for len(dims) > 0 && dims[0] == 1 {
		dims = dims[1:]
	}
	k := y.Rank() - len(dims)
	return len(dims) > 0 && k >= 0 && s.Rank() <= y.Rank() && slices.Equal(dims, y.Dims()[k:])
}

func (e *epilogue) summand() {
	n, o := e.next()
	if n == nil || n.Op != "AddV2" && n.Op != "Add" || n.In[0] == n.In[1] {
		return
	}
	b := other(n, o)
	if y := o.Fact().Shape; sameSizes(y, b.Fact().Shape) && sameSizes(y, n.Out[0].Shape) && !b.Fact().Ref && (!e.isBehind() || settled(y, 1)) {
		e.take(n, "Add", b)
	}
}

// sameSizes reports whether both shapes are known to be the same.
func sameSizes(a, b graph.PartialShape) bool {
	if !a.HasRank() || !b.HasRank() || a.Rank() != b.Rank() {
		return false
	}
	for i := range a.Rank() {
		if a.Dim(i) != b.Dim(i) || a.Dim(i) == -1 {
			return false
		}
	}
	return true
}

// activations are the ops whose names may be in fused_ops, as far as kernel/internal/epilogue knows them.
var activations = map[string]bool{"Relu": true, "Relu6": true, "Elu": true, "LeakyRelu": true, "Sigmoid": true, "Tanh": true}

func (e *epilogue) activation() {
	n, _ := e.next()
	switch {
	case n == nil:
		e.swish()
	case n.Op == GeluOp && e.node.Op == "MatMul":
		if n.Attrs.Bool("approximate") {
			e.take(n, "GeluApproximate")
		} else {
			e.take(n, "GeluExact")
		}
	case activations[n.Op]:
		e.take(n, n.Op)
		if n.Op == "LeakyRelu" {
			a := n.Attrs.Float("alpha", 0.2)
			e.alpha = &a
		}
	}
}

// swish finds x·sigmoid(x). TensorFlow's fused_ops have no name for it: "Swish" is
// Cairn's.
func (e *epilogue) swish() {
	x := e.last.Output(0)
	users := e.users[x]
	if len(users) != 2 || e.results[x] || e.pinned[e.last] {
		return
	}
	s, m := users[0], users[1]
	if s.Op != "Sigmoid" {
		s, m = m, s
	}
	if s.Op != "Sigmoid" || m.Op != "Mul" || e.only(s.Output(0)) != m || e.pinned[m] {
		return
	}
	if y := s.Output(0); m.In[0] == x && m.In[1] == y || m.In[0] == y && m.In[1] == x {
		e.take(m, "Swish")
	}
}
