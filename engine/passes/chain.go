package passes

import (
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// ElementwiseOp is the op that the pass "elementwise chains" makes, if it has a
// kernel; [Fusion.Ops] lists the ops that it may contain. Its attributes ops
// and operands are the program. ops has the names of the ops in order. operands
// has two numbers for each op: the index of an input or, from the number of
// inputs on, of an earlier op; -1 means that there is no second operand. The
// result of the last op is the output.
const ElementwiseOp = "_Elementwise"

// maxChain is the largest number of ops that one op replaces.
const maxChain = 256

// fuseChains replaces elementwise ops by one op if no other node uses their
// results. The kernel executes all of them on a few thousand elements before it
// continues with the next, so that the values between stay in the cache. The
// operations on each element and their order stay.
func fuseChains(u *Unit) error {
	k := u.Kernels.Fusion(ElementwiseOp)
	if k == nil {
		return nil
	}
	r, err := newRewriter(u)
	if err != nil {
		return err
	}
	taken := map[*graph.Node]bool{}
	for _, n := range slices.Backward(r.nodes) {
		if taken[n] || !r.chains(k, n) {
			continue
		}
		group := r.group(k, n)
		for _, m := range group {
			taken[m] = true
		}
		if len(group) > 1 {
			if err := r.fuse(group); err != nil {
				return err
			}
		}
	}
	return r.finish()
}

// chains reports whether n may be a part of a chain.
func (r *rewriter) chains(k *Fusion, n *graph.Node) bool {
	if !slices.Contains(k.Ops, n.Op) || len(n.Out) != 1 || r.pinned[n] || r.invariant(n.Output(0)) || k.Types != nil && !slices.Contains(k.Types, n.Out[0].DType) {
		return false
	}
	y := n.Out[0].Shape
	for _, in := range n.In {
		if f := in.Fact(); f.Ref || f.DType != n.Out[0].DType || !f.Shape.HasRank() {
			return false
		}
	}
	switch n.Op {
	case "BiasAdd": // along the last dimension
		b := n.In[1].Fact().Shape
		return n.Attrs.String("data_format", "NHWC") == "NHWC" && y.HasRank() && y.Rank() > 1 && b.Rank() == 1 && sameSizes(b, graph.ShapeOf(y.Dim(y.Rank()-1)))
	case "TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReluGrad": // which don't broadcast
		return sameSizes(n.In[0].Fact().Shape, n.In[1].Fact().Shape)
	}
	return y.HasRank() && (n.Out[0].DType == tensor.Float32 || n.Out[0].DType == tensor.Float64)
}

// group returns the nodes that can be one with n, in order, n last.
func (r *rewriter) group(k *Fusion, n *graph.Node) []*graph.Node {
	in := map[*graph.Node]bool{n: true}
	group := []*graph.Node{n}
	for i := 0; i < len(group) && len(group) < maxChain; i++ {
		for _, o := range group[i].In {
			m := o.Node
			if in[m] || r.results[o] || !r.chains(k, m) || m.Out[0].DType != n.Out[0].DType || !sameSizes(m.Out[0].Shape, n.Out[0].Shape) || len(group) == maxChain ||
				slices.ContainsFunc(r.users[o], func(u *graph.Node) bool { return !in[u] }) {
				continue
			}
			in[m] = true
			group = append(group, m)
		}
	}
	slices.SortFunc(group, func(a, b *graph.Node) int { return a.Index() - b.Index() })
	return group
}

// fuse makes the last node of a group one node that does the work of all.
func (r *rewriter) fuse(group []*graph.Node) error {
	var in []graph.Output
	place := map[graph.Output]int{}
	for _, n := range group {
		place[n.Output(0)] = -1
	}
	for _, n := range group {
		for _, o := range n.In {
			if _, ok := place[o]; !ok {
				place[o] = len(in)
				in = append(in, o)
			}
		}
	}
	var ops []string
	var operands []int64
	for i, n := range group {
		ops = append(ops, n.Op)
		operands = append(operands, int64(place[n.In[0]]), -1)
		if len(n.In) > 1 {
			operands[2*i+1] = int64(place[n.In[1]])
		}
		place[n.Output(0)] = len(in) + i
	}
	return r.replace(group[len(group)-1], ElementwiseOp, graph.Attrs{graph.Strings("ops", ops...), graph.Ints("operands", operands...)}, in...)
}
