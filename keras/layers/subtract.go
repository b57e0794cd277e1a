package layers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// Subtract subtracts its second input from its first. Inputs broadcast. An input with
// fewer dimensions gets dimensions of size 1 after the batch dimension.
type Subtract struct{ base.Layer }

// MapsElements allows ragged inputs: each element is computed independently.
func (l *Subtract) MapsElements() (string, error) { return "elements", nil }

// Call returns the difference of the two inputs xs, a []*ops.Value.
func (l *Subtract) Call(s *ops.Scope, xs ops.Input) *ops.Value { return l.Run(s, l, xs, nil) }

// ComputeAll returns the difference of the two inputs.
func (l *Subtract) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	if len(c.Inputs) != 2 {
		return []*ops.Value{s.Fail("Subtract", fmt.Errorf("got %d inputs, want 2", len(c.Inputs)))}
	}
	return []*ops.Value{merge(s, "Subtract", c, ops.Sub)}
}

// ComputeMask returns the mask of time steps that all inputs use.
func (l *Subtract) ComputeMask(s *ops.Scope, c *base.Invocation, _ []*ops.Value) []*ops.Value {
	return allMasks(s, c)
}
