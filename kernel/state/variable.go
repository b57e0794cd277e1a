// Package state implements the kernels that read and write variables, and the fused
// steps of optimizers, with TensorFlow's formulas
// (tensorflow/core/kernels/training_ops.cc).
//
// A variable is updated in place if its storage has no other holder. The
// variables of one op are locked together, so that other goroutines see all of
// a step or none.
package state

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/parts"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	return slices.Concat([]engine.Kernel{
		{Op: "ReadVariableOp", Run: read},
		{Op: "AssignVariableOp", Prepare: func(n *engine.Node) (func(*engine.Call) error, error) {
			if n.Attrs.Bool("validate_shape") {
				return assign, nil
			}
			return assignAny, nil
		}},
		{Op: "AssignAddVariableOp", Types: engine.Types{"dtype": elementwise.Summands()}, Run: func(c *engine.Call) error { return assignWith(c, elementwise.AddTo) }},
		{Op: "AssignSubVariableOp", Types: engine.Types{"dtype": elementwise.Summands()}, Run: func(c *engine.Call) error { return assignWith(c, elementwise.SubFrom) }},
		{Op: "VarIsInitializedOp", Run: isInitialized},
		{Op: "VariableShape", Run: variableShape},
		{Op: "ResourceGather", Run: resourceGather},
		{Op: "DisableCopyOnRead", Run: disableCopyOnRead},
	}, optimizers, sparseOptimizers, references(), temporaries, scatters())
}

// read returns the variable's value. Later changes of the variable don't change it.
func read(c *engine.Call) error {
	v, err := c.NeedVar(0)
	if err != nil {
		return err
	}
	return c.Read(0, v)
}

// errNoValue returns the error of an op that needs the value.
func errNoValue(v *trackable.Variable) error {
	return fmt.Errorf("the variable %q has no value", v.Name())
}

// assign stores a copy of input 1 in the variable. Its type and shape must be
// those that the variable accepts.
func assign(c *engine.Call) error {
	v, x, err := target(c)
	if err != nil {
		return err
	}
	if err := v.Accepts(x.DType(), x.Shape()); err != nil {
		return fmt.Errorf("the variable %q %w", v.Name(), err)
	}
	if d, s := v.DType(), v.Shape(); d != x.DType() || !s.Equal(x.Shape()) || !d.Fixed() {
		return v.Store(x.Clone()) // a first value, or another size
	}
	return v.Update(func(buf *tensor.Tensor) error {
		copy(buf.Bytes(), x.Bytes())
		return nil
	})
}

// assignAny allows a value of any shape, of the same type.
func assignAny(c *engine.Call) error {
	v, x, err := target(c)
	if err != nil {
		return err
	}
	if d := v.DType(); d != x.DType() || v.ValueShape().Equal(x.Shape()) || v.Accepts(d, x.Shape()) == nil {
		return assign(c)
	}
	v.Init(x.Clone())
	return nil
}

// target returns the variable in input 0 and the tensor in input 1.
func target(c *engine.Call) (*trackable.Variable, *tensor.Tensor, error) {
	v, err := c.NeedTarget(2)
	if err != nil {
		return nil, nil, err
	}
	return v, c.In(1), nil
}

// assignWith changes a variable by a value of its type and shape.
func assignWith(c *engine.Call, f func(dst, x *tensor.Tensor) error) error {
	v, x, err := target(c)
	if err != nil {
		return err
	}
	if v.DType() == tensor.Invalid {
		return errNoValue(v)
	}
	return v.Update(func(buf *tensor.Tensor) error { return f(buf, x) })
}

// isInitialized reports whether the variable has a value.
func isInitialized(c *engine.Call) error {
	v, err := c.NeedVar(0)
	if err != nil {
		return err
	}
	c.Set(0, tensor.Scalar(v.DType() != tensor.Invalid))
	return nil
}

// variableShape returns the shape of the variable's value.
func variableShape(c *engine.Call) error {
	v, err := c.NeedVar(0)
	if err != nil {
		return err
	}
	s := v.Shape()
	if c.Attrs().Type("out_type", tensor.Int32) == tensor.Int64 {
		out := make([]int64, len(s))
		for i, n := range s {
			out[i] = int64(n)
		}
		c.Set(0, tensor.Vector(out...))
		return nil
	}
	out := make([]int32, len(s))
	for i, n := range s {
		out[i] = int32(n)
	}
	c.Set(0, tensor.Vector(out...))
	return nil
}

// resourceGather picks rows of a variable, or of each of a batch of its parts.
func resourceGather(c *engine.Call) error {
	v, indices, err := target(c)
	if err != nil {
		return err
	}
	x, release := v.Borrow()
	defer release()
	if x == nil {
		return errNoValue(v)
	}
	batch := c.Attrs().Int("batch_dims", 0)
	if err := parts.Gather(c, x, indices, int(batch), batch); err != nil {
		return fmt.Errorf("the variable %q: %w", v.Name(), err)
	}
	return nil
}

// disableCopyOnRead does nothing, because values that were read never change
// here.
func disableCopyOnRead(c *engine.Call) error {
	if c.NumIn() != 1 {
		return fmt.Errorf("takes 1 input, %d were given", c.NumIn())
	}
	_, err := c.NeedVar(0)
	return err
}
