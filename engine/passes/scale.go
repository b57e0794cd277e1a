package passes

import (
	"math"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// foldScales moves a multiplication by an invariant number, such as that of
// attention's scores, into the weights of a product before it. Reshapes,
// transpositions, biases and other products may be between the two.
func foldScales(u *Unit) error {
	r, err := newRewriter(u)
	if err != nil || !r.has("Mul", "Reciprocal") {
		return err
	}
	replaced := map[graph.Output]graph.Output{}
	for _, n := range r.nodes {
		if n.Op != "Mul" && n.Op != "RealDiv" || r.pinned[n] || n.Out[0].DType != tensor.Float32 {
			continue
		}
		for i, x := range n.In {
			factor := n.In[1-i]
			if n.Op == "RealDiv" && i == 1 || !r.isNumber(factor) || r.invariant(x) || !sameSizes(x.Fact().Shape, n.Out[0].Shape) || r.only(x) != n {
				continue
			}
			var targets []scaleTarget
			if !r.scalable(x, &targets, 0) {
				continue
			}
			if n.Op == "RealDiv" {
				inverse, err := r.add(n, "Reciprocal", nil, factor)
				if err != nil {
					return err
				}
				factor = inverse.Output(0)
			}
			for _, t := range targets {
				scaled, err := r.binary(t.node, "Mul", t.node.In[t.input], factor)
				if err != nil {
					return err
				}
				t.node.In[t.input] = scaled
			}
			replaced[n.Output(0)] = x
			break
		}
	}
	rewire(r.Function, replaced)
	return r.finish()
}

// isNumber reports whether o is one invariant number. A constant must not be
// infinite, NaN, zero or subnormal: its product with zeros among the weights, or
// that of its reciprocal, may be NaN. The values of variables are not checked.
func (r *rewriter) isNumber(o graph.Output) bool {
	if v, ok := numberOf(o); ok && (v-v != 0 || math.Abs(v) < 0x1p-126) {
		return false
	}
	n, ok := o.Fact().Shape.NumElements()
	return ok && n == 1 && o.Fact().Shape.Rank() == 0 && r.invariant(o) && o.Fact().DType == tensor.Float32 && !o.Fact().Ref
}

// scaleTarget is an input, the same in all calls, that is multiplied.
type scaleTarget struct {
	node  *graph.Node
	input int
}

// scalable reports whether o, if it has one user, can be multiplied by other values
// instead. It adds these to targets.
func (r *rewriter) scalable(o graph.Output, targets *[]scaleTarget, depth int) bool {
	n := o.Node
	if r.only(o) == nil || !r.replaceable(n) || len(n.Out) != 1 || o.Fact().DType != tensor.Float32 || depth > 8 || !n.Effect().Pure() {
		return false
	}
	before := len(*targets)
	switch n.Op {
	case "MatMul", "Conv2D", "DepthwiseConv2dNative":
		if r.invariant(n.In[1]) && !r.invariant(n.In[0]) {
			*targets = append(*targets, scaleTarget{n, 1})
			return true
		}
	case "Reshape", "Transpose", "Squeeze", "ExpandDims":
		return r.scalable(n.In[0], targets, depth+1)
	case "BiasAdd", "AddV2", "Add", "Sub":
		for i, x := range n.In {
			if c := n.In[1-i]; r.invariant(c) && c.Fact().DType == tensor.Float32 && r.scalable(x, targets, depth+1) {
				*targets = append(*targets, scaleTarget{n, 1 - i})
				return true
			}
		}
	}
	switch n.Op {
	case "MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum":
		for _, x := range slices.Clone(n.In) {
			*targets = (*targets)[:before]
			if len(n.In) == 2 && r.scalable(x, targets, depth+1) {
				return true
			}
		}
	}
	*targets = (*targets)[:before]
	return false
}
