package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// Add adds its inputs. Inputs broadcast. An input with
// fewer dimensions gets dimensions of size 1 after the batch dimension, as in tf_keras.
type Add struct{ base.Layer }

// MapsElements allows ragged inputs: each element is computed independently.
func (l *Add) MapsElements() (string, error) { return "elements", nil }

// Call returns the sum of the inputs xs, a []*ops.Value.
func (l *Add) Call(s *ops.Scope, xs ops.Input) *ops.Value { return l.Run(s, l, xs, nil) }

// ComputeAll returns the sum of the inputs.
func (l *Add) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	return []*ops.Value{merge(s, "Add", c, ops.Add)}
}

// ComputeMask returns the mask of time steps that all inputs use.
func (l *Add) ComputeMask(s *ops.Scope, c *base.Invocation, _ []*ops.Value) []*ops.Value {
	return allMasks(s, c)
}
