// Package control implements the kernels of control flow and of calls: conditionals,
// loops, function calls, checks and prints of values, and the nodes whose
// values a caller feeds.
//
// Arguments are moved to a function: a value without another holder belongs to
// the function, which may change it in place.
package control

import (
	"fmt"
	"time"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/internal/variant"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table. Package kernel adds the checks of inputs' ranks.
func Kernels() []engine.Kernel {
	return []engine.Kernel{
		{Op: "If", Prepare: prepareIf},
		{Op: "StatelessIf", Prepare: prepareIf},
		{Op: "Case", Prepare: prepareCase},
		{Op: "StatelessCase", Prepare: prepareCase},
		{Op: "While", Prepare: prepareWhile},
		{Op: "StatelessWhile", Prepare: prepareWhile},
		{Op: "XlaWhile", Prepare: prepareXLAWhile},
		{Op: "For", Prepare: prepareFor},
		{Op: "PartitionedCall", Prepare: prepareCall},
		{Op: "StatefulPartitionedCall", Prepare: prepareCall},
		{Op: "BatchFunction", Prepare: prepareBatch},
		{Op: "SymbolicGradient", Prepare: symbolicGradient},
		{Op: "Const", Prepare: constant},
		{Op: "Placeholder", Run: placeholder},
		{Op: "PlaceholderV2", Run: placeholder},
		{Op: "PlaceholderWithDefault", Run: passAll},
		{Op: "FakeParam", Prepare: fakeParam},
		{Op: "NoOp", Run: func(*engine.Call) error { return nil }},
		{Op: "IdentityN", Run: passAll},
		{Op: "PreventGradient", Run: passAll},
		{Op: "GuaranteeConst", Run: passAll},
		{Op: "DebugIdentity", Run: passAll},
		{Op: "DebugGradientIdentity", Run: passAll},
		{Op: "DebugIdentityV2", Run: passAll},
		{Op: "DebugIdentityV3", Run: passAll},
		{Op: "Copy", Run: passAll},
		{Op: "CopyHost", Run: passAll},
		{Op: "RefIdentity", Run: passAll},
		{Op: "RefSelect", Run: refSelect},
		{Op: "ControlTrigger", Run: func(*engine.Call) error { return nil }},
		{Op: "DeviceIndex", Prepare: deviceIndex},
		{Op: "Timestamp", Run: timestamp},
		{Op: "Assert", Prepare: assert},
		{Op: "Abort", Prepare: abort},
		{Op: "Print", Prepare: printValues},
		{Op: "PrintV2", Prepare: printString},
		{Op: "CheckNumerics", Prepare: checkNumerics},
		{Op: "CheckNumericsV2", Prepare: checkNumerics},
	}
}

// truth reports whether a condition is true: a scalar that isn't zero or an empty string, or a
// tensor with elements. The rules are TensorFlow's for If, While and Case: ToBool in
// functional_ops.cc.
func truth(v engine.Value) (bool, error) {
	t := v.Tensor
	if t == nil {
		return false, fmt.Errorf("the condition is no tensor")
	}
	if len(t.Shape()) > 0 {
		return t.Len() > 0, nil
	}
	switch t.DType() {
	case tensor.Bool:
		return tensor.Values[bool](t)[0], nil
	case tensor.String:
		return t.Strings()[0] != "", nil
	case tensor.Float16:
		return tensor.Values[tensor.F16](t)[0]&0x7fff != 0, nil
	case tensor.BFloat16:
		return tensor.Values[tensor.BF16](t)[0]&0x7fff != 0, nil
	case tensor.Float32:
		return tensor.Values[float32](t)[0] != 0, nil
	case tensor.Float64:
		return tensor.Values[float64](t)[0] != 0, nil
	case tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64:
		for _, b := range t.Bytes() {
			if b != 0 {
				return true, nil
			}
		}
		return false, nil
	}
	return false, fmt.Errorf("a condition can't be %v", t.DType())
}

// call runs f with the inputs from the given one on, moved, and sets the
// outputs to its results.
func call(c *engine.Call, f engine.Function, from int) error {
	args := c.Refs().TakeFrom(from)
	out, err := f.Call(c, args, args[:0])
	if err != nil {
		return err
	}
	for i, v := range out {
		c.Refs().Output(i, v)
	}
	return nil
}

func prepareCall(n *engine.Node) (func(*engine.Call) error, error) {
	f, err := n.Function("f", n.In)
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error { return call(c, f, 0) }, nil
}

// afterCondition returns the facts of the arguments after a condition.
func afterCondition(in []graph.Fact) []graph.Fact {
	if len(in) == 0 {
		return nil
	}
	return in[1:]
}

func prepareIf(n *engine.Node) (func(*engine.Call) error, error) {
	yes, err := n.Function("then_branch", afterCondition(n.In))
	if err != nil {
		return nil, err
	}
	no, err := n.Function("else_branch", afterCondition(n.In))
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		if c.NumIn() == 0 {
			return fmt.Errorf("needs a condition")
		}
		ok, err := truth(c.Input(0))
		switch {
		case err != nil:
			return err
		case ok:
			return call(c, yes, 1)
		}
		return call(c, no, 1)
	}, nil
}

func prepareCase(n *engine.Node) (func(*engine.Call) error, error) {
	branches, err := n.FunctionList("branches", afterCondition(n.In))
	if err != nil {
		return nil, err
	}
	if len(branches) == 0 {
		return nil, fmt.Errorf("has no branches")
	}
	return func(c *engine.Call) error {
		if c.NumIn() == 0 || c.In(0) == nil || c.In(0).DType() != tensor.Int32 || c.In(0).Len() != 1 {
			return fmt.Errorf("the branch's index is not one int32")
		}
		i := int(tensor.Values[int32](c.In(0))[0])
		if i < 0 || i >= len(branches) {
			i = len(branches) - 1 // the last branch is the default
		}
		return call(c, branches[i], 1)
	}, nil
}

// prepareFor prepares a loop over integers. Its body takes the number and the
// results of the round before.
func prepareFor(n *engine.Node) (func(*engine.Call) error, error) {
	body, err := n.Function("body", nil)
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		if c.NumIn() < 3 {
			return fmt.Errorf("takes a start, a limit and a delta")
		}
		var at [3]int64
		for i := range at {
			v, err := tensor.Item[int32](c.In(i))
			if err != nil {
				return err
			}
			at[i] = int64(v)
		}
		start, limit, delta := at[0], at[1], at[2]
		if delta == 0 || delta > 0 && start > limit || delta < 0 && start < limit {
			return fmt.Errorf("steps of %d don't lead from %d to %d", delta, start, limit)
		}
		state, body := c.Refs().TakeFrom(3), engine.Repeat(body)
		defer body.End()
		vars := len(state)
		var err error
		for i := start; delta > 0 && i < limit || delta < 0 && i > limit; i += delta {
			args := append([]engine.Value{engine.ValueOf(tensor.Scalar(int32(i)))}, state...)
			if state, err = body.Call(c, args, state[:0]); err != nil {
				return err
			}
			if len(state) != vars {
				return fmt.Errorf("the body has %d results, the loop %d variables", len(state), vars)
			}
		}
		for i, v := range state {
			c.Refs().Output(i, v)
		}
		return nil
	}, nil
}

// symbolicGradient refuses the op when its node is prepared.
func symbolicGradient(n *engine.Node) (func(*engine.Call) error, error) {
	f, _ := n.Attrs.Func("f")
	return nil, fmt.Errorf("the gradient of the function %q is to be made while the graph runs, as TensorFlow did before 2.0; that is not supported: differentiate the function before it is saved", f.FuncName())
}

func passAll(c *engine.Call) error {
	for i := range c.NumIn() {
		c.Pass(i, i)
	}
	return nil
}

// refSelect passes one of several references on.
func refSelect(c *engine.Call) error {
	if c.NumIn() < 2 || c.In(0) == nil || c.In(0).DType() != tensor.Int32 || c.In(0).Len() != 1 {
		return fmt.Errorf("the index is not one int32, or there is nothing to choose from")
	}
	i := int(tensor.Values[int32](c.In(0))[0])
	if i < 0 || i >= c.NumIn()-1 {
		return fmt.Errorf("the index %d is outside of [0, %d)", i, c.NumIn()-1)
	}
	c.Pass(0, 1+i)
	return nil
}

func constant(n *engine.Node) (func(*engine.Call) error, error) {
	t := n.Attrs.Tensor("value")
	if t == nil {
		return nil, fmt.Errorf("needs the tensor attribute value")
	}
	if d := n.Attrs.Type("dtype", t.DType()); d != t.DType() {
		return nil, fmt.Errorf("the attribute dtype is %v, the value %v", d, t.DType())
	}
	return func(c *engine.Call) error {
		c.Set(0, t)
		return nil
	}, nil
}

func placeholder(c *engine.Call) error {
	n := c.Node()
	d := n.Attrs.Type("dtype", tensor.Invalid)
	s, _ := n.Attrs.Shape("shape")
	return fmt.Errorf("a value for the placeholder %q (%v%v) must be fed", n.Name, d, s)
}

// fakeParam makes a placeholder for a value of a conditional's other branch. No
// op reads its elements.
func fakeParam(n *engine.Node) (func(*engine.Call) error, error) {
	d := n.Attrs.Type("dtype", tensor.Invalid)
	p, _ := n.Attrs.Shape("shape")
	shape := make(tensor.Shape, max(p.Rank(), 0))
	for i := range shape {
		shape[i] = max(p.Dim(i), 0)
	}
	if d == tensor.Variant || d == tensor.Resource {
		return func(c *engine.Call) error {
			c.SetObject(0, variant.Nothing{})
			return nil
		}, nil
	}
	return func(c *engine.Call) error {
		t, err := c.Alloc(0, d, shape)
		if err == nil {
			clear(t.Bytes())
		}
		return err
	}, nil
}

// timestamp returns the seconds since 1970.
func timestamp(c *engine.Call) error {
	c.Set(0, tensor.Scalar(float64(time.Now().UnixMicro())/1e6))
	return nil
}

// deviceIndex returns the index of the op's device in a list of names. All ops
// run on the CPU; if the list has none, it is the list's length.
func deviceIndex(n *engine.Node) (func(*engine.Call) error, error) {
	names := n.Attrs.Strings("device_names")
	at := len(names)
	for i, s := range names {
		if s == "CPU" {
			at = i
			break
		}
	}
	return func(c *engine.Call) error {
		c.Set(0, tensor.Scalar(int32(at)))
		return nil
	}, nil
}
