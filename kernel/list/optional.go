package list

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/variant"
	"github.com/cairnml/cairn/tensor"
)

// optionals has the kernels of optionals: a value, or none.
var optionals = []engine.Kernel{
	{Op: "OptionalNone", Run: func(c *engine.Call) error { c.SetObject(0, &variant.Optional{}); return nil }},
	{Op: "OptionalFromValue", Run: optionalFromValue},
	{Op: "OptionalHasValue", Run: optionalHasValue},
	{Op: "OptionalGetValue", Run: optionalGetValue},
}

func optionalFromValue(c *engine.Call) error {
	o := &variant.Optional{Has: true, Values: make([]engine.Value, c.NumIn())}
	for i := range o.Values {
		o.Values[i] = c.Refs().Share(i)
	}
	c.SetObject(0, o)
	return nil
}

func optionalHasValue(c *engine.Call) error {
	o, err := engine.Object[*variant.Optional](c, 0)
	if err == nil {
		c.Set(0, tensor.Scalar(o.Has))
	}
	return err
}

func optionalGetValue(c *engine.Call) error {
	o, err := engine.Object[*variant.Optional](c, 0)
	if err != nil {
		return err
	}
	if !o.Has {
		return fmt.Errorf("the optional holds nothing")
	}
	types, shapes := c.Attrs().Types("output_types"), c.Attrs().Shapes("output_shapes")
	if types != nil && len(types) != len(o.Values) {
		return fmt.Errorf("the optional holds %d values, not %d", len(o.Values), len(types))
	}
	for i, v := range o.Values {
		if types != nil && v.DType() != types[i] {
			return fmt.Errorf("value %d is %v, not %v", i, v.DType(), types[i])
		}
		if v.Tensor != nil && i < len(shapes) && !shapes[i].Accepts(v.Tensor.Shape()) {
			return fmt.Errorf("value %d has shape %v, not %v", i, v.Tensor.Shape(), shapes[i])
		}
		c.Refs().Output(i, c.Refs().Retain(v))
	}
	return nil
}
