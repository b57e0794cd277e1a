package control

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of While, StatelessWhile and XlaWhile.

// prepareWhile prepares a loop. Its variables are moved from one round to the
// next; the condition only reads them.
func prepareWhile(n *engine.Node) (func(*engine.Call) error, error) { return prepareLoop(n, false) }

// prepareXLAWhile prepares a loop of XLA. Its condition is one bool, and its
// variables keep their types and shapes.
func prepareXLAWhile(n *engine.Node) (func(*engine.Call) error, error) { return prepareLoop(n, true) }

// prepareLoop prepares a loop; fixed is set for XLA's.
func prepareLoop(n *engine.Node, fixed bool) (func(*engine.Call) error, error) {
	var vars []graph.Fact // facts that are true before the first and after every round
	if len(n.Out) == len(n.In) {
		vars = n.Out
	}
	cond, err := n.Function("cond", vars)
	if err != nil {
		return nil, err
	}
	body, err := n.Function("body", vars)
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		n := c.NumIn()
		var start []form
		if fixed {
			if err := c.NeedTensors(0); err != nil {
				return err
			}
			start = make([]form, n)
			for i := range start {
				start[i] = form{c.In(i).DType(), c.In(i).Shape().Clone()}
			}
		}
		state, look := c.Refs().TakeFrom(0), c.Refs().Values(n)
		cond, body := engine.Repeat(cond), engine.Repeat(body)
		defer cond.End()
		defer body.End()
		var seen []int // the variables that the condition reads
		for i := range state {
			if engine.Needs(cond.Function, i) {
				seen = append(seen, i)
			}
		}
		for {
			clear(look)
			for _, i := range seen {
				c.Refs().RetainTo(&look[i], &state[i])
			}
			holds, err := cond.Call(c, look, look[:0])
			if err != nil {
				return err
			}
			if len(holds) != 1 {
				return fmt.Errorf("the condition has %d results, not one", len(holds))
			}
			if fixed && !(form{tensor.Bool, nil}).fits(holds[0]) {
				return fmt.Errorf("the condition is %s (want one bool)", describe(holds[0]))
			}
			more, err := truth(holds[0])
			c.Refs().Release(holds[0])
			if err != nil {
				return err
			}
			if !more {
				break
			}
			if state, err = body.Call(c, state, state[:0]); err != nil {
				return err
			}
			if len(state) != n {
				return fmt.Errorf("the body has %d results, the loop %d variables", len(state), n)
			}
			for i, f := range start {
				if !f.fits(state[i]) {
					return fmt.Errorf("variable %d is %s after a round (want %v%v); loops of XLA keep types and shapes", i, describe(state[i]), f.dtype, f.shape)
				}
			}
		}
		for i, v := range state {
			c.Refs().Output(i, v)
		}
		clear(look) // the condition has released its arguments
		c.Refs().ReleaseAll(look)
		return nil
	}, nil
}

// form is the type and the shape that a variable of XLA's loop keeps.
type form struct {
	dtype tensor.DType
	shape tensor.Shape
}

// fits reports whether a value is a tensor of this type and shape.
func (f form) fits(v engine.Value) bool {
	return v.Tensor != nil && v.Tensor.DType() == f.dtype && v.Tensor.Shape().Equal(f.shape)
}

// describe returns the type and the shape of a value, for an error.
func describe(v engine.Value) string {
	if v.Tensor == nil {
		return "no tensor"
	}
	return fmt.Sprintf("%v%v", v.Tensor.DType(), v.Tensor.Shape())
}
