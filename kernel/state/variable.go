// Package state holds the kernels that read and write variables, and the fused
// steps of optimizers, with TensorFlow's formulas
// (tensorflow/core/kernels/training_ops.cc).
//
// A variable is updated in place where nobody else holds its storage. The
// variables of one op are locked together, so that other goroutines see all of
// a step or none.
package state

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/internal/vec"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Kernels is the family's table.
func Kernels() []engine.Kernel {
	return append([]engine.Kernel{
		{Op: "ReadVariableOp", Run: read},
		{Op: "AssignVariableOp", Run: assign, SideEffect: true},
		{Op: "AssignAddVariableOp", Run: func(c *engine.Call) error { return assignWith(c, adds) }, SideEffect: true},
		{Op: "AssignSubVariableOp", Run: func(c *engine.Call) error { return assignWith(c, subs) }, SideEffect: true},
		{Op: "VarIsInitializedOp", Run: isInitialized},
		{Op: "VariableShape", Run: variableShape},
		{Op: "ResourceGather", Run: resourceGather},
	}, optimizers...)
}

func read(c *engine.Call) error {
	v, err := c.NeedVar(0)
	if err != nil {
		return err
	}
	t := v.Load()
	if t == nil {
		return errNoValue(v)
	}
	c.Set(0, t)
	return nil
}

func errNoValue(v *trackable.Variable) error {
	return fmt.Errorf("the variable %q has no value", v.Name())
}

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

func target(c *engine.Call) (*trackable.Variable, *tensor.Tensor, error) {
	if c.NumIn() != 2 {
		return nil, nil, fmt.Errorf("takes 2 inputs, %d were given", c.NumIn())
	}
	v, err := c.NeedVar(0)
	if err == nil {
		err = c.NeedTensors(1)
	}
	return v, c.In(1), err
}

// inPlace is dst = dst op x by element type.
type inPlace map[tensor.DType]func(dst, x *tensor.Tensor)

func assignWith(c *engine.Call, ops inPlace) error {
	v, x, err := target(c)
	if err != nil {
		return err
	}
	f := ops[x.DType()]
	if f == nil {
		return (&elementwise.ByType{}).Unsupported(x.DType())
	}
	if v.DType() == tensor.Invalid {
		return errNoValue(v)
	}
	return v.Update(func(buf *tensor.Tensor) error {
		if buf.DType() != x.DType() || !buf.Shape().Equal(x.Shape()) {
			// Not by name: asking for it would wait for this very update.
			return fmt.Errorf("the variable is %v%v, the value %v%v", buf.DType(), buf.Shape(), x.DType(), x.Shape())
		}
		f(buf, x)
		return nil
	})
}

type number interface {
	vec.Number
	tensor.Element
}

func add[T number](dst, x *tensor.Tensor) {
	d := tensor.Values[T](dst)
	vec.AddVV(d, d, tensor.Values[T](x))
}

func sub[T number](dst, x *tensor.Tensor) {
	d := tensor.Values[T](dst)
	vec.SubVV(d, d, tensor.Values[T](x))
}

func halfWith[H elementwise.Half](f func(dst, a, b []float32)) func(dst, x *tensor.Tensor) {
	return func(dst, x *tensor.Tensor) {
		a, b := make([]float32, dst.Len()), make([]float32, x.Len())
		elementwise.Widen(a, tensor.Values[H](dst))
		elementwise.Widen(b, tensor.Values[H](x))
		f(a, a, b)
		elementwise.Narrow(tensor.Values[H](dst), a)
	}
}

var adds = inPlace{
	tensor.Float32: add[float32], tensor.Float64: add[float64],
	tensor.Float16: halfWith[tensor.F16](vec.AddVV[float32]), tensor.BFloat16: halfWith[tensor.BF16](vec.AddVV[float32]),
	tensor.Int8: add[int8], tensor.Int16: add[int16], tensor.Int32: add[int32], tensor.Int64: add[int64],
	tensor.Uint8: add[uint8], tensor.Uint16: add[uint16], tensor.Uint32: add[uint32], tensor.Uint64: add[uint64],
	tensor.Complex64: add[complex64], tensor.Complex128: add[complex128],
}

var subs = inPlace{
	tensor.Float32: sub[float32], tensor.Float64: sub[float64],
	tensor.Float16: halfWith[tensor.F16](vec.SubVV[float32]), tensor.BFloat16: halfWith[tensor.BF16](vec.SubVV[float32]),
	tensor.Int8: sub[int8], tensor.Int16: sub[int16], tensor.Int32: sub[int32], tensor.Int64: sub[int64],
	tensor.Uint8: sub[uint8], tensor.Uint16: sub[uint16], tensor.Uint32: sub[uint32], tensor.Uint64: sub[uint64],
	tensor.Complex64: sub[complex64], tensor.Complex128: sub[complex128],
}

func isInitialized(c *engine.Call) error {
	v, err := c.NeedVar(0)
	if err != nil {
		return err
	}
	c.Set(0, tensor.Scalar(v.DType() != tensor.Invalid))
	return nil
}

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

// resourceGather picks rows of a variable.
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
	s := x.Shape()
	dims, err := shape.Rows(s, indices.Shape())
	if err != nil {
		return fmt.Errorf("%q: %w", v.Name(), err)
	}
	rows, err := shapes.AllInts(indices, "the indices")
	if err != nil {
		return err
	}
	if !x.DType().Fixed() {
		return fmt.Errorf("isn't defined for %v", x.DType())
	}
	out, err := c.Alloc(0, x.DType(), dims)
	if err != nil {
		return err
	}
	size := shapes.Count(s[1:]) * x.DType().Size()
	for i, r := range rows {
		if r < 0 || r >= int64(s[0]) {
			return fmt.Errorf("index %d is outside of [0, %d)", r, s[0])
		}
		copy(out.Bytes()[i*size:(i+1)*size], x.Bytes()[int(r)*size:])
	}
	return nil
}
