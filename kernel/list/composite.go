package list

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/variant"
	"github.com/cairnml/cairn/tensor"
)

// composites are the ops that put the components of a composite into one
// variant and take them out again. In one variant, a composite can be an element
// of a list or a dataset.
var composites = []engine.Kernel{
	{Op: "CompositeTensorVariantFromComponents", Run: func(c *engine.Call) error {
		v := &variant.Composite{Metadata: c.Attrs().String("metadata", "")}
		for i := range c.NumIn() {
			v.Components = append(v.Components, c.Refs().Share(i))
		}
		c.SetObject(0, v)
		return nil
	}},
	{Op: "CompositeTensorVariantToComponents", Run: func(c *engine.Call) error {
		v, err := engine.Object[*variant.Composite](c, 0)
		if err != nil {
			return err
		}
		want := c.Attrs().Types("Tcomponents")
		if !slices.EqualFunc(v.Components, want, func(a engine.Value, d tensor.DType) bool { return a.DType() == d }) {
			return fmt.Errorf("the composite tensor has %d components of other types than %v", len(v.Components), want)
		}
		for i, x := range v.Components {
			c.Refs().Output(i, c.Refs().Retain(x))
		}
		return nil
	}},
}
