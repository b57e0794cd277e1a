package list

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/variant"
	"github.com/cairnml/cairn/tensor"
)

// stacks has the kernels of the stacks of TensorFlow 1. A stack belongs to one
// call of a model.
var stacks = []engine.Kernel{
	{Op: "Stack", Run: newStack},
	{Op: "StackPush", Run: stackPush},
	{Op: "StackPop", Run: stackPop},
	{Op: "StackClose", Run: stackClose},
	{Op: "StackV2", Run: newStack},
	{Op: "StackPushV2", Run: stackPush},
	{Op: "StackPopV2", Run: stackPop},
	{Op: "StackCloseV2", Run: stackClose},
}

// pile is a stack of TensorFlow 1, in which loops store values for their
// gradients.
type pile struct {
	store
	closed bool
}

// newStack makes a stack; the op's first version has no limit.
func newStack(c *engine.Call) error {
	p := &pile{store: store{DType: c.Attrs().Type("elem_type", tensor.Invalid)}}
	if c.NumIn() > 0 {
		if err := c.Need(1); err != nil {
			return err
		}
		n, err := intIn(c, 0, "the largest size")
		if err != nil {
			return err
		}
		p.Max = n
	}
	c.SetObject(0, p)
	return nil
}

// pileIn returns the stack in input 0 of a call of n inputs.
func pileIn(c *engine.Call, n int) (*pile, error) {
	if c.NumIn() != n {
		return nil, fmt.Errorf("takes %d inputs, %d were given", n, c.NumIn())
	}
	p, err := engine.Object[*pile](c, 0)
	if err == nil && p.closed {
		err = fmt.Errorf("the stack is closed")
	}
	return p, err
}

func stackPush(c *engine.Call) error {
	p, err := pileIn(c, 2)
	if err != nil {
		return err
	}
	if err := fits((*variant.List)(&p.store), c.Input(1)); err != nil {
		return err
	}
	if p.Max > 0 && len(p.Items) >= p.Max {
		return fmt.Errorf("the stack is full: it holds at most %d elements", p.Max)
	}
	if n := len(p.Items); n == cap(p.Items) {
		c.Fits(2*n+1, engine.ValueSize) // each stack is limited by itself
	}
	p.Items = append(p.Items, c.Refs().Share(1))
	c.Pass(0, 1)
	return nil
}

func stackPop(c *engine.Call) error {
	p, err := pileIn(c, 1)
	if err != nil {
		return err
	}
	n := len(p.Items)
	if n == 0 {
		return fmt.Errorf("the stack is empty")
	}
	if d := c.Attrs().Type("elem_type", p.DType); d != p.DType {
		return fmt.Errorf("the stack holds %v, not %v", p.DType, d)
	}
	c.Refs().Output(0, p.Items[n-1])
	p.Items[n-1] = engine.Value{}
	p.Items = p.Items[:n-1]
	return nil
}

func stackClose(c *engine.Call) error {
	p, err := pileIn(c, 1)
	if err != nil {
		return err
	}
	for _, v := range p.Items {
		c.Refs().Release(v)
	}
	p.Items, p.closed = nil, true
	return nil
}
