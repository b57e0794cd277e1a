package array

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// arranging are the ops that only move elements. They move tensors of variants
// and of resources as they move numbers. An op whose kernel computes with elements,
// or makes new ones, must not be in it.
var arranging = map[string]bool{
	"EnsureShape": true, "Reshape": true, "ExpandDims": true, "Squeeze": true, "Transpose": true, "BroadcastTo": true,
	"Concat": true, "ConcatV2": true, "Pack": true, "ParallelConcat": true, "Unpack": true, "Split": true, "SplitV": true,
	"Slice": true, "StridedSlice": true, "Reverse": true, "ReverseV2": true, "ReverseSequence": true, "Roll": true, "Tile": true,
	"Gather": true, "GatherV2": true, "GatherNd": true, "DynamicStitch": true, "ParallelDynamicStitch": true, "DynamicPartition": true,
}

// measuring are the ops that read no element, only the shapes.
var measuring = map[string]bool{"Shape": true, "ShapeN": true, "Size": true, "Rank": true}

// withHandles returns the kernels such that those of arranging and measuring
// ops accept tensors of handles, too. The kernel gets the numbers of the
// handles instead.
func withHandles(ks []engine.Kernel) []engine.Kernel {
	for i, k := range ks {
		if !arranging[k.Op] && !measuring[k.Op] {
			continue
		}
		prepare, run := k.Prepare, k.Run
		if prepare == nil {
			prepare = func(*engine.Node) (func(*engine.Call) error, error) { return run, nil }
		}
		ks[i].Run = nil
		ks[i].Prepare = func(n *engine.Node) (func(*engine.Call) error, error) {
			run, err := prepare(n)
			if err != nil || !takesHandles(n) {
				return run, err
			}
			return func(c *engine.Call) error { return runPositions(c, run) }, nil
		}
	}
	return ks
}

func takesHandles(n *engine.Node) bool {
	for _, in := range n.In {
		if in.DType == tensor.Variant || in.DType == tensor.Resource {
			return true
		}
	}
	return false
}

// runPositions runs a kernel on numbers for the handles among the inputs, and
// replaces the numbers in its outputs with the handles. A kernel moves the
// numbers as int64 elements. So it must not compute with them or make new ones.
func runPositions(c *engine.Call, run func(*engine.Call) error) error {
	var items []any
	for i := range c.NumIn() {
		v := c.Input(i)
		if t := v.Tensor; t != nil && (t.DType() == tensor.Variant || t.DType() == tensor.Resource) {
			return fmt.Errorf("input %d is a tensor of %v that holds no handles", i, t.DType())
		}
		if v.Tensor != nil || v.Object == nil {
			continue
		}
		own, shape := []any{v.Object}, tensor.Shape{}
		if h, ok := v.Object.(*engine.Handles); ok {
			own, shape = h.Items, h.Shape
		}
		if len(own) != shapes.Count(shape) {
			return fmt.Errorf("input %d has %d handles and shape %v", i, len(own), shape)
		}
		at := make([]int64, len(own))
		for k := range at {
			at[k] = int64(len(items) + k)
		}
		t, err := tensor.New(at, shape...)
		if err != nil {
			return err
		}
		items = append(items, own...)
		c.Refs().Retain(v) // no consumer may change an object that is in several tensors
		c.Substitute(i, t)
	}
	if err := run(c); err != nil || measuring[c.Op()] {
		return err
	}
	for i, v := range c.Refs().Outputs() {
		if err := c.Afford(16 * int64(v.Tensor.Len())); err != nil {
			return err
		}
		h := &engine.Handles{Shape: v.Tensor.Shape().Clone(), Items: make([]any, v.Tensor.Len())}
		for k, at := range tensor.Values[int64](v.Tensor) {
			if at >= int64(len(items)) { // an op that fills with zeros has no handle for them
				return fmt.Errorf("result %d wants a handle, and there is none", i)
			}
			h.Items[k] = items[at]
		}
		c.Refs().Release(v)
		if len(h.Shape) == 0 {
			c.Refs().Output(i, engine.HandleOf(h.Items[0]))
			continue
		}
		c.Refs().Output(i, engine.HandleOf(h))
	}
	return nil
}
