package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// Multiply multiplies its inputs. Inputs broadcast. An input with
// fewer dimensions gets dimensions of size 1 after the batch dimension.
type Multiply struct{ base.Layer }

// MapsElements allows ragged inputs: each element is computed independently.
func (l *Multiply) MapsElements() (string, error) { return "elements", nil }

// Call returns the product of the inputs xs, a []*ops.Value.
func (l *Multiply) Call(s *ops.Scope, xs ops.Input) *ops.Value { return l.Run(s, l, xs, nil) }

// ComputeAll returns the product of the inputs.
func (l *Multiply) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	return []*ops.Value{merge(s, "Multiply", c, ops.Mul)}
}

// ComputeMask returns the mask of time steps that all inputs use.
func (l *Multiply) ComputeMask(s *ops.Scope, c *base.Invocation, _ []*ops.Value) []*ops.Value {
	return allMasks(s, c)
}
