package array

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/parts"
	"github.com/cairnml/cairn/kernel/internal/scatter"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of TensorScatterUpdate, TensorScatterAdd, TensorScatterSub,
// TensorScatterMin, TensorScatterMax, ScatterNdNonAliasingAdd,
// TensorStridedSliceUpdate, StridedSliceAssign and ResourceStridedSliceAssign.

// tensorScatters returns the ops that return a copy of a tensor with changes in
// some parts.
func tensorScatters() []engine.Kernel {
	of := func(op string, types []tensor.DType, h scatter.How) engine.Kernel {
		k := engine.Kernel{Op: op, Run: tensorScatter(h), Precision: engine.Accumulated}
		if types != nil {
			k.Types = engine.Types{"T": types}
		}
		return k
	}
	return []engine.Kernel{
		of("TensorScatterUpdate", nil, scatter.Update),
		of("TensorScatterAdd", scatter.Types(), scatter.Add),
		of("TensorScatterSub", scatter.Types(), scatter.Sub),
		of("TensorScatterMin", scatter.Ordered(), scatter.Min),
		of("TensorScatterMax", scatter.Ordered(), scatter.Max),
		of("ScatterNdNonAliasingAdd", append(scatter.Types(), tensor.Bool), scatter.Add),
	}
}

func tensorScatter(h scatter.How) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := c.Need(3); err != nil {
			return err
		}
		x, indices, updates := c.In(0), c.In(1), c.In(2)
		if x.DType() != updates.DType() {
			return fmt.Errorf("the tensor is %v, the updates %v", x.DType(), updates.DType())
		}
		at, inner, err := places(c, indices, x.Shape())
		if err != nil {
			return err
		}
		if err := shape.Scatter(indices.Shape(), updates.Shape(), x.Shape()); err != nil {
			return err
		}
		out, err := copyOf(c)
		if err != nil || out.Len() == 0 || len(at) == 0 {
			return err
		}
		if len(updates.Shape()) == 0 {
			updates = tensor.Must(updates.Reshape(1))
		}
		return scatter.To(c, out, at, inner, updates, h)
	}
}

// copyOf sets output 0 to a copy of input 0, in its memory if the input has no
// other reader.
func copyOf(c *engine.Call) (*tensor.Tensor, error) {
	x := c.In(0)
	out, err := c.AllocOver(0, 0, x.DType(), x.Shape())
	if err == nil && out != x {
		parts.Copy(out, x, 0, 0, x.Len())
	}
	return out, err
}

// stridedUpdate returns a copy of a tensor in which a slice is replaced.
func stridedUpdate(c *engine.Call, m *shape.Masks) error {
	if err := c.Need(5); err != nil {
		return err
	}
	if a, b := c.In(0).DType(), c.In(4).DType(); a != b {
		return fmt.Errorf("the tensor is %v, the value %v", a, b)
	}
	var room [32]int
	b, to, err := strided(c, room[:], c.In(0).Shape(), 1, m)
	if err != nil {
		return err
	}
	out, err := copyOf(c)
	if err != nil {
		return err
	}
	return put(c, out, b, to)
}

// stridedAssign replaces a slice of a variable. An error of the inputs leaves
// the variable unchanged.
func stridedAssign(c *engine.Call, m *shape.Masks) error {
	v, err := c.NeedTarget(5)
	if err != nil {
		return err
	}
	if v.DType() == tensor.Invalid {
		return fmt.Errorf("the variable %q has no value; assign one first", v.Name())
	}
	err = v.Update(func(x *tensor.Tensor) error {
		if d := c.In(4).DType(); x.DType() != d {
			return fmt.Errorf("the variable is %v, the value %v", x.DType(), d)
		}
		var room [32]int
		b, to, err := strided(c, room[:], x.Shape(), 1, m)
		if err != nil {
			return err
		}
		return put(c, x, b, to)
	})
	if err == nil && c.Op() == "StridedSliceAssign" {
		c.SetRef(0, v)
	}
	return err
}

// put writes input 4, broadcast to the slice's shape, to a slice. An empty
// slice accepts any shape, as in TensorFlow.
func put(c *engine.Call, x *tensor.Tensor, b shape.Block, to view) error {
	if shapes.Count(b.Size) == 0 {
		return nil
	}
	v := c.In(4)
	if !v.Shape().Equal(b.Out) {
		if err := shape.BroadcastTo(v.Shape(), b.Out); err != nil {
			return fmt.Errorf("the value has shape %v, the slice %v: %w", v.Shape(), b.Out, err)
		}
		wide, err := tensor.Zeros(v.DType(), b.Out...)
		if err != nil {
			return err
		}
		move(c, wide, v, b.Out, view{strides: shapes.Strides(b.Out)}, view{strides: shapes.BroadcastStrides(v.Shape(), b.Out)})
		v = wide
	}
	move(c, x, v, b.Size, to, view{strides: shapes.Strides(b.Size)})
	return nil
}
