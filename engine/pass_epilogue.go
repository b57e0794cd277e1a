package engine

import (
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// fuseEpilogues lets convolutions and products add their bias and what runs
// beside them, and apply the activation, while the result is at hand: they
// become TensorFlow's _FusedConv2D, _FusedDepthwiseConv2dNative and
// _FusedMatMul.
func fuseEpilogues(u *Unit) error {
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
		if op == "" || !r.has(op) || n.Out[0].DType != tensor.Float32 || n.Attrs.String("padding", "") == "EXPLICIT" && op == "_FusedDepthwiseConv2dNative" {
			continue
		}
		e := epilogue{rewriter: r, node: n, last: n}
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
		if err := r.replace(e.last, op, attrs, append([]graph.Output{n.In[0], n.In[1]}, e.args...)...); err != nil {
			return err
		}
	}
	return r.finish()
}

// epilogue is what follows a convolution or product.
type epilogue struct {
	*rewriter
	node, last *graph.Node
	ops        []string
	args       []graph.Output
	alpha      *float64
}

// collect finds a bias, another summand, in either order, and an activation.
func (e *epilogue) collect() {
	e.bias()
	e.summand()
	if len(e.ops) == 1 && e.ops[0] == "Add" {
		if e.bias(); len(e.ops) == 2 { // fused ops take it first
			slices.Reverse(e.ops)
			slices.Reverse(e.args)
		}
	}
	e.activation()
}

// take notes that n does what op says to the result so far.
func (e *epilogue) take(n *graph.Node, op string, args ...graph.Output) {
	e.last, e.ops, e.args = n, append(e.ops, op), append(e.args, args...)
}

// next returns the node that alone takes the result so far, and as which input.
func (e *epilogue) next() (*graph.Node, int) {
	n := e.only(e.last.Output(0))
	if n == nil || len(n.Out) != 1 || n.Out[0].DType != tensor.Float32 || e.pinned[n] {
		return nil, 0
	}
	for i, in := range n.In {
		if in == e.last.Output(0) {
			return n, i
		}
	}
	return nil, 0
}

func (e *epilogue) bias() {
	n, i := e.next()
	if n == nil {
		return
	}
	l := linear{node: e.node}
	switch n.Op {
	case "BiasAdd":
		if i == 0 && n.Attrs.String("data_format", "NHWC") == l.format() {
			e.take(n, "BiasAdd", n.In[1])
		}
	case "AddV2", "Add":
		if o := n.In[1-i]; e.perChannel(l, o) {
			e.take(n, "BiasAdd", o)
		}
	}
}

func (e *epilogue) summand() {
	n, i := e.next()
	if n == nil || n.Op != "AddV2" && n.Op != "Add" {
		return
	}
	o := n.In[1-i]
	if y := e.node.Out[0].Shape; y.HasRank() && sameSizes(y, o.Fact().Shape) {
		e.take(n, "Add", o)
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

// activations are the ops whose names stand in fused_ops.
var activations = map[string]bool{"Relu": true, "Relu6": true, "Elu": true, "LeakyRelu": true, "Sigmoid": true, "Tanh": true}

func (e *epilogue) activation() {
	n, _ := e.next()
	switch {
	case n == nil:
		e.swish()
	case activations[n.Op]:
		e.take(n, n.Op)
		if n.Op == "LeakyRelu" {
			a := n.Attrs.Float("alpha", 0.2)
			e.alpha = &a
		}
	}
}

// swish finds x·sigmoid(x), which no definition of TensorFlow's names.
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
