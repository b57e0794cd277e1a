package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// Maximum takes the largest element of its inputs. Inputs broadcast. An input with
// fewer dimensions gets dimensions of size 1 after the batch dimension.
type Maximum struct{ base.Layer }

// MapsElements allows ragged inputs: each element is computed independently.
func (l *Maximum) MapsElements() (string, error) { return "elements", nil }

// Call returns the largest elements of the inputs xs, a []*ops.Value.
func (l *Maximum) Call(s *ops.Scope, xs ops.Input) *ops.Value { return l.Run(s, l, xs, nil) }

// ComputeAll returns the largest elements of the inputs.
func (l *Maximum) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	return []*ops.Value{merge(s, "Maximum", c, ops.Maximum)}
}

// ComputeMask returns the mask of time steps that all inputs use.
func (l *Maximum) ComputeMask(s *ops.Scope, c *base.Invocation, _ []*ops.Value) []*ops.Value {
	return allMasks(s, c)
}
