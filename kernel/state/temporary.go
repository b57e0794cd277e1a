package state

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// The kernels of TemporaryVariable and DestroyTemporaryVariable.

// temporaries are the ops of temporary variables. A variable exists within one
// call, from the op that makes it to the op that returns its value and destroys
// it.
var temporaries = []engine.Kernel{
	{Op: "TemporaryVariable", Prepare: newTemporary},
	{Op: "DestroyTemporaryVariable", Prepare: destroyTemporary},
}

// temporaryKey is the key of a call's temporary variables.
type temporaryKey struct{}

// temporariesOf returns the temporary variables of a call by name.
func temporariesOf(c *engine.Call) map[string]*trackable.Variable {
	return c.State(temporaryKey{}, func() any { return map[string]*trackable.Variable{} }).(map[string]*trackable.Variable)
}

// newTemporary prepares TemporaryVariable. The value comes from the Go heap,
// since variables own their values. It begins with zeros; TensorFlow leaves it
// undefined.
func newTemporary(n *engine.Node) (func(*engine.Call) error, error) {
	name := n.Attrs.String("var_name", "")
	if name == "" {
		name = n.Name
	}
	dtype := n.Attrs.Type("dtype", tensor.Invalid)
	attr, _ := n.Attrs.Shape("shape")
	shape, ok := attr.Tensor()
	size := int64(16) // of a string
	if dtype.Fixed() {
		size = int64(dtype.Size())
	}
	if !ok {
		return nil, fmt.Errorf("the temporary variable %q needs a known shape, not %v", name, attr)
	}
	return func(c *engine.Call) error {
		all := temporariesOf(c)
		if all[name] != nil {
			return fmt.Errorf("there is a temporary variable %q already; DestroyTemporaryVariable ends it", name)
		}
		elements, err := shape.NumElements()
		if err == nil {
			err = c.Afford(int64(elements) * size)
		}
		if err != nil {
			return err
		}
		zero, err := tensor.Zeros(dtype, shape...)
		if err != nil {
			return err
		}
		v := trackable.NewVariable(zero).Named(name)
		all[name] = v
		c.SetRef(0, v)
		return nil
	}, nil
}

// destroyTemporary prepares DestroyTemporaryVariable.
func destroyTemporary(n *engine.Node) (func(*engine.Call) error, error) {
	name := n.Attrs.String("var_name", "")
	return func(c *engine.Call) error {
		v, err := c.NeedVar(0)
		if err != nil {
			return err
		}
		all := temporariesOf(c)
		if all[name] != v {
			return fmt.Errorf("the variable %q is not the temporary variable %q of this call", v.Name(), name)
		}
		delete(all, name)
		return c.Read(0, v)
	}, nil
}
