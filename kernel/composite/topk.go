package composite

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of ApproxTopK.

// prepareTopK prepares ApproxTopK, which on the CPU is exact. It returns k
// elements for either value of aggregate_to_topk.
func prepareTopK(n *engine.Node) (func(*engine.Call) error, error) {
	if len(n.In) != 1 || !n.In[0].Shape.HasRank() {
		// The rank, and with it the last dimension, is known only when the op runs.
		return func(c *engine.Call) error {
			if err := c.Need(1); err != nil {
				return err
			}
			run, err := topK(&engine.Node{Op: n.Op, Attrs: n.Attrs, Functions: n.Functions, In: []graph.Fact{{DType: c.In(0).DType(), Shape: graph.Whole(c.In(0).Shape())}}})
			if err != nil {
				return err
			}
			return run(c)
		}, nil
	}
	return topK(n)
}

// topK builds the function of ApproxTopK: TopKV2 along the last dimension, with
// that of the attribute swapped into its place. For the smallest elements it
// negates before and after.
func topK(n *engine.Node) (func(*engine.Call) error, error) {
	rank, axis := n.In[0].Shape.Rank(), n.Attrs.Int("reduction_dimension", -1)
	if axis < 0 {
		axis += int64(rank)
	}
	if axis < 0 || axis >= int64(rank) {
		return nil, fmt.Errorf("reduction_dimension %d is none of the %d dimensions", n.Attrs.Int("reduction_dimension", -1), rank)
	}
	k := n.Attrs.Int("k", 0)
	if k < 0 || k != int64(int32(k)) {
		return nil, fmt.Errorf("k is %d", k)
	}
	return of(1, func(b *body, in []graph.Output) []graph.Output {
		// The same swap with the last dimension restores the order.
		order := make([]int32, rank)
		for i := range order {
			order[i] = int32(i)
		}
		order[axis], order[rank-1] = order[rank-1], order[axis]
		swap := func(x graph.Output) graph.Output { return b.one("Transpose", x, b.constant(tensor.Vector(order...))) }
		x, largest := swap(in[0]), b.node.Attrs.Bool("is_max_k")
		if !largest {
			x = b.one("Neg", x)
		}
		out := b.op("TopKV2", nil, x, b.constant(tensor.Scalar(int32(k))))
		values := out[0]
		if !largest {
			values = b.one("Neg", values)
		}
		return []graph.Output{swap(values), swap(out[1])}
	})(n)
}
