package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// Minimum takes the smallest element of its inputs. Inputs broadcast. An input with
// fewer dimensions gets dimensions of size 1 after the batch dimension.
type Minimum struct{ base.Layer }

// MapsElements allows ragged inputs: each element is computed independently.
func (l *Minimum) MapsElements() (string, error) { return "elements", nil }

// Call returns the smallest elements of the inputs xs, a []*ops.Value.
func (l *Minimum) Call(s *ops.Scope, xs ops.Input) *ops.Value { return l.Run(s, l, xs, nil) }

// ComputeAll returns the smallest elements of the inputs.
func (l *Minimum) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	return []*ops.Value{merge(s, "Minimum", c, ops.Minimum)}
}

// ComputeMask returns the mask of time steps that all inputs use.
func (l *Minimum) ComputeMask(s *ops.Scope, c *base.Invocation, _ []*ops.Value) []*ops.Value {
	return allMasks(s, c)
}
