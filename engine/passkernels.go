package engine

import (
	"context"
	"slices"

	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// passKernels implements [passes.Kernels] for the passes of one compilation.
type passKernels struct {
	set  *KernelSet
	call Call
	env  Env
}

// Has implements [passes.Kernels].
func (k *passKernels) Has(op string) bool { return k.set.Lookup(op) != nil }

// Definition implements [passes.Kernels].
func (k *passKernels) Definition(op string) *graph.OpDef { return k.set.Definition(op) }

// Fusion implements [passes.Kernels].
func (k *passKernels) Fusion(op string) *passes.Fusion {
	kernel := k.set.Lookup(op)
	if kernel == nil {
		return nil
	}
	return &passes.Fusion{Ops: kernel.Fuses, Types: kernel.Types["T"]}
}

// Evaluate implements [passes.Kernels].
func (k *passKernels) Evaluate(n *graph.Node, in []*tensor.Tensor, maxBytes int64) []*tensor.Tensor {
	kernel := k.set.Lookup(n.Op)
	if kernel == nil {
		return nil
	}
	k.env.MaxOutput = maxBytes
	c := &k.call
	c.begin(context.Background(), &k.env)
	node := &Node{Op: n.Op, Name: n.Name, Attrs: n.Attrs, Out: n.Out}
	for i, t := range in {
		node.In = append(node.In, n.In[i].Fact())
		c.in = append(c.in, ValueOf(t))
	}
	p, err := kernel.prepare(node)
	if err != nil || c.run(p) != nil || len(c.out) != len(n.Out) {
		return nil
	}
	if slices.ContainsFunc(c.out, func(v Value) bool { return v.Tensor == nil }) {
		return nil
	}
	out := make([]*tensor.Tensor, len(c.out))
	for i, v := range c.out {
		out[i] = v.Tensor
	}
	return out
}
