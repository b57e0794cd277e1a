package kernel_test

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// A program adds an op: a kernel under a new name, in a set that is passed to
// the functions that run ops.
func ExampleAll() {
	set, err := kernel.All().With(engine.Kernel{Op: "CountZeros", Run: func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		x, err := tensor.ValuesOf[float32](c.In(0))
		if err != nil {
			return err
		}
		n := int32(0)
		for _, v := range x {
			if v == 0 {
				n++
			}
		}
		c.Set(0, tensor.Scalar(n))
		return nil
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := function.Eager(context.Background(), &function.Options{Kernels: set})
	fmt.Println(s.Emit1("CountZeros", nil, ops.Relu(s, []float32{-1, 2, -3})), s.Err())
	// Output: 2 <nil>
}
