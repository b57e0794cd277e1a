package passes

import (
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// FastAttr is the attribute of nodes whose functions, exp, tanh and the like, may be
// computed in the type of their elements: within a few units in the last place,
// where the kernels round once otherwise.
const FastAttr = "_fast"

// fastOps are the ops whose kernels know [FastAttr].
var fastOps = []string{ElementwiseOp, "Softmax", AttentionOp, "_FusedConv2D", "_FusedDepthwiseConv2dNative", "_FusedMatMul", RowsOp}

// markFast lets functions of float32 be fast.
func markFast(u *Unit) error {
	for _, n := range u.Function.Graph.Nodes() {
		if slices.Contains(fastOps, n.Op) && n.Out[0].DType == tensor.Float32 {
			n.Attrs = append(slices.Clone(n.Attrs), graph.Bool(FastAttr, true))
		}
	}
	return nil
}
