package state

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// The kernels of VarHandleOp, DestroyResourceOp and TensorFlow 1's variables:
// VariableV2, Variable, Assign, AssignAdd, AssignSub, IsVariableInitialized,
// the optimizers' Apply* and SparseApply*, SdcaShrinkL1, CountUpTo and
// ResourceCountUpTo. Containers and shared names decide which nodes share a
// variable; the rules are TensorFlow's and must stay.

// references returns the ops of TensorFlow 1's variables, which pass references
// on. An op that changes a variable returns the reference.
func references() []engine.Kernel {
	table := []engine.Kernel{
		{Op: "VarHandleOp", Prepare: handle},
		{Op: "DestroyResourceOp", Run: destroy},
		{Op: "VariableV2", Prepare: reference},
		{Op: "Variable", Prepare: reference},
		{Op: "IsVariableInitialized", Run: isInitialized},
		{Op: "Assign", Prepare: assignReference},
		{Op: "AssignAdd", Types: engine.Types{"T": elementwise.Summands()}, Run: giveBack(func(c *engine.Call) error { return assignWith(c, elementwise.AddTo) })},
		{Op: "AssignSub", Types: engine.Types{"T": elementwise.Summands()}, Run: giveBack(func(c *engine.Call) error { return assignWith(c, elementwise.SubFrom) })},
		{Op: "SdcaShrinkL1", Run: shrink},
		{Op: "CountUpTo", Run: countUpTo},
		{Op: "ResourceCountUpTo", Run: countUpTo},
	}
	for _, k := range slices.Concat(optimizers, sparseOptimizers) {
		k.Op, k.Run = strings.TrimPrefix(k.Op, "Resource"), giveBack(k.Run)
		switch k.Op {
		case "ApplyKerasMomentum", "ApplyAdamWithAmsgrad", "SparseApplyKerasMomentum": // of resources only
			continue
		}
		table = append(table, k)
	}
	return table
}

// giveBack runs an op and sets output 0 to the reference in input 0.
func giveBack(run func(*engine.Call) error) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := run(c); err != nil {
			return err
		}
		c.SetRef(0, c.Input(0).Variable())
		return nil
	}
}

// shrink moves the weights towards zero by l1/l2, the penalties of a model that
// dual coordinate ascent trains.
func shrink(c *engine.Call) error {
	by := float32(c.Attrs().Float("l1", 0) / c.Attrs().Float("l2", 0))
	for i := range c.NumIn() {
		v, err := c.NeedVar(i)
		if err != nil {
			return err
		}
		if d := v.DType(); d == tensor.Invalid {
			return errNoValue(v)
		} else if d != tensor.Float32 {
			return fmt.Errorf("variable %d is %v, not float32", i, d)
		}
		err = v.Update(func(buf *tensor.Tensor) error {
			w := tensor.Values[float32](buf)
			for i, x := range w {
				w[i] = float32(math.Copysign(float64(max(float32(math.Abs(float64(x)))-by, 0)), float64(x)))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// variableOf returns a function that finds a node's variable in the instance.
// If there is none it makes one, without a value.
func variableOf(n *engine.Node) func(c *engine.Call) (*trackable.Variable, error) {
	name := n.Attrs.String("shared_name", "")
	if name == "" {
		name = n.Name
	}
	key := engine.VariableKey(n.Attrs.String("container", ""), name)
	shape, known := n.Attrs.Shape("shape")
	create := func() (any, error) {
		v := trackable.NewVariable(nil).Named(name)
		if known && shape.HasRank() && !shape.Known() {
			v.SetShape(shape.Anonymous().Dims())
		}
		return v, nil
	}
	return func(c *engine.Call) (*trackable.Variable, error) {
		o, err := c.Instance().Resource(key, create)
		if err != nil {
			return nil, err
		}
		v, ok := o.(*trackable.Variable)
		if !ok {
			return nil, fmt.Errorf("the resource %q is a %T, not a variable", name, o)
		}
		return v, nil
	}
}

// handle prepares VarHandleOp.
func handle(n *engine.Node) (func(*engine.Call) error, error) {
	find := variableOf(n)
	return func(c *engine.Call) error {
		v, err := find(c)
		if err == nil {
			c.SetObject(0, v)
		}
		return err
	}, nil
}

// reference prepares VariableV2 and Variable.
func reference(n *engine.Node) (func(*engine.Call) error, error) {
	find := variableOf(n)
	return func(c *engine.Call) error {
		v, err := find(c)
		if err == nil {
			c.SetRef(0, v)
		}
		return err
	}, nil
}

// destroy removes a resource's value; later ops find none.
func destroy(c *engine.Call) error {
	if c.NumIn() != 1 {
		return fmt.Errorf("takes 1 input, %d were given", c.NumIn())
	}
	v := c.Input(0).Variable()
	switch {
	case v == nil:
		return nil // other resources are freed with their holders
	case v.DType() == tensor.Invalid && !c.Attrs().Bool("ignore_lookup_error"):
		return errNoValue(v)
	}
	v.Init(nil)
	return nil
}

// assignReference prepares Assign. Without validate_shape a value of any type
// and shape replaces the one before.
func assignReference(n *engine.Node) (func(*engine.Call) error, error) {
	if a, ok := n.Attrs.Lookup("validate_shape"); !ok || a.Value() == true {
		return giveBack(assign), nil
	}
	return giveBack(func(c *engine.Call) error {
		v, x, err := target(c)
		if err != nil {
			return err
		}
		if d := v.DType(); d != tensor.Invalid && (d != x.DType() || !v.Shape().Equal(x.Shape())) {
			v.Init(x.Clone()) // the shape may change in any way
			return nil
		}
		return assign(c)
	}), nil
}

// countUpTo adds one to a variable below the limit, and returns the value
// before.
func countUpTo(c *engine.Call) error {
	v, err := c.NeedVar(0)
	if err != nil {
		return err
	}
	limit := c.Attrs().Int("limit", 0)
	if v.DType() == tensor.Invalid {
		return errNoValue(v)
	}
	var old *tensor.Tensor
	err = v.Update(func(buf *tensor.Tensor) error {
		if buf.Len() != 1 {
			return fmt.Errorf("counts in a scalar, not in %v%v", buf.DType(), buf.Shape())
		}
		old = buf.Clone()
		switch buf.DType() {
		case tensor.Int32:
			return count(tensor.Values[int32](buf), limit)
		case tensor.Int64:
			return count(tensor.Values[int64](buf), limit)
		}
		return fmt.Errorf("isn't defined for %v", buf.DType())
	})
	if err == nil {
		c.Set(0, old)
	}
	return err
}

// count adds 1 to x[0], or returns an error from limit on.
func count[T int32 | int64](x []T, limit int64) error {
	if int64(x[0]) >= limit {
		return fmt.Errorf("reached the limit of %d", limit)
	}
	x[0]++
	return nil
}
