package passes

import (
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// FastAttr is the attribute of nodes whose kernels may compute exp, tanh and similar
// functions in the type of the elements. The error is a few units in the last place.
// Without the attribute kernels compute in a wider type and round once.
const FastAttr = "_fast"

// fastOps are the ops whose kernels know [FastAttr].
var fastOps = []string{ElementwiseOp, "Softmax", AttentionOp, "_FusedConv2D", "_FusedDepthwiseConv2dNative", "_FusedMatMul", RowsOp}

// markFast sets [FastAttr] on nodes of float32.
func markFast(u *Unit) error {
	for _, n := range u.Function.Graph.Nodes() {
		if slices.Contains(fastOps, n.Op) && n.Out[0].DType == tensor.Float32 {
			n.Attrs = append(slices.Clone(n.Attrs), graph.Bool(FastAttr, true))
		}
	}
	return nil
}
