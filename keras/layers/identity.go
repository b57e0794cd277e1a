package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// Identity passes its inputs on. The outputs have no masks, as in tf_keras. For an input with a mask,
// Run adds an op Identity, since a mask belongs to a Value.
type Identity struct{ base.Layer }

// TakesSparse marks a layer that takes sparse inputs.
func (i *Identity) TakesSparse() {}

// TakesRagged marks a layer that takes ragged inputs.
func (i *Identity) TakesRagged() {}

// Call returns x.
func (i *Identity) Call(s *ops.Scope, x ops.Input) *ops.Value { return i.Run(s, i, x, nil) }

// ComputeAll returns the inputs, in a new list because Run replaces outputs in it.
func (i *Identity) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	if err := c.CheckArgs(); err != nil {
		return []*ops.Value{s.Fail("Identity", err)}
	}
	return append([]*ops.Value(nil), c.Inputs...)
}
