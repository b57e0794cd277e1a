package array

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// xlaKernels returns the kernels of XLA's ops that mark or move values. TensorFlow
// compiles each for the CPU when a graph runs it outside of a compiled function.
func xlaKernels() []engine.Kernel {
	return []engine.Kernel{
		{Op: "XlaSharding", Run: identity},
		{Op: "XlaSetBound", Run: passFirst},
		{Op: "XlaSpmdFullToShardShape", Prepare: wholeShard("")},
		{Op: "XlaSpmdShardToFullShape", Prepare: wholeShard("full_shape")},
		{Op: "XlaOptimizationBarrier", Run: passInputs},
		{Op: "XlaDynamicSlice", Run: xlaDynamicSlice},
		{Op: "XlaDynamicUpdateSlice", Run: xlaDynamicUpdateSlice},
	}
}

// wholeShard returns the preparation of a move between a tensor and the part of it that one
// device holds. The CPU is one device, so both are the same; full is the attribute with the
// tensor's shape, if the op has one.
func wholeShard(full string) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		if s := n.Attrs.String("manual_sharding", ""); s != "" {
			return nil, fmt.Errorf("manual_sharding names devices, and there is only one")
		}
		want, _ := n.Attrs.Shape(full)
		return func(c *engine.Call) error {
			if err := c.NeedTensors(0); err != nil {
				return err
			}
			if s := c.In(0).Shape(); full != "" && !want.Accepts(s) {
				return fmt.Errorf("full_shape is %v, and the only device holds %v", want, s)
			}
			return passFirst(c)
		}, nil
	}
}

// passFirst returns the first input unchanged.
func passFirst(c *engine.Call) error {
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	return c.Forward(0, 0, c.In(0).Shape())
}

// passInputs returns every input unchanged.
func passInputs(c *engine.Call) error {
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	for i := range c.NumIn() {
		c.Pass(i, i)
	}
	return nil
}

// starts returns the offset of a block of the given size in a tensor of shape
// s. XLA moves a block that is partly outside to the nearest position inside.
func starts(s, size tensor.Shape, at *tensor.Tensor) (offset int, err error) {
	var room shapes.Room[graph.Elem]
	list, err := shapes.Elems(room[:0], at, "the list of start indices")
	if err != nil {
		return 0, err
	}
	if len(list) != len(s) || len(size) != len(s) {
		return 0, fmt.Errorf("there are %d start indices and a block of %d dimensions for a tensor of %d", len(list), len(size), len(s))
	}
	strides := shapes.Strides(s)
	for i, n := range s {
		if size[i] < 0 || size[i] > n {
			return 0, fmt.Errorf("dimension %d of the block is %d, outside of [0, %d]", i, size[i], n)
		}
		k, ok := list[i].Int()
		if !ok {
			return 0, fmt.Errorf("start index %d is not known", i)
		}
		offset += int(min(max(k, 0), int64(n-size[i]))) * strides[i]
	}
	return offset, nil
}

// xlaDynamicSlice returns a block of the input.
func xlaDynamicSlice(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	x := c.In(0)
	var room shapes.Room[graph.Elem]
	list, err := shapes.Elems(room[:0], c.In(2), "the list of sizes")
	if err != nil {
		return err
	}
	dims := make(tensor.Shape, len(list))
	for i, e := range list {
		k, ok := e.Int()
		if dims[i] = int(k); !ok || int64(dims[i]) != k {
			return fmt.Errorf("size %d is %v, which is no size of a dimension", i, e)
		}
	}
	at, err := starts(x.Shape(), dims, c.In(1))
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, x.DType(), dims)
	if err != nil {
		return err
	}
	move(c, out, x, dims, view{strides: shapes.Strides(dims)}, view{at: at, strides: shapes.Strides(x.Shape())})
	return nil
}

// xlaDynamicUpdateSlice returns the input with a block replaced.
func xlaDynamicUpdateSlice(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	x, update := c.In(0), c.In(1)
	if x.DType() != update.DType() {
		return fmt.Errorf("the update is %v, the input %v", update.DType(), x.DType())
	}
	at, err := starts(x.Shape(), update.Shape(), c.In(2))
	if err != nil {
		return err
	}
	out, err := c.AllocOver(0, 0, x.DType(), x.Shape())
	if err != nil {
		return err
	}
	if out != x {
		whole := view{strides: shapes.Strides(x.Shape())}
		move(c, out, x, x.Shape(), whole, whole)
	}
	dims := update.Shape()
	move(c, out, update, dims, view{at: at, strides: shapes.Strides(x.Shape())}, view{strides: shapes.Strides(dims)})
	return nil
}
