package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// Average computes the mean of its inputs. Inputs broadcast. An input with
// fewer dimensions gets dimensions of size 1 after the batch dimension.
type Average struct{ base.Layer }

// MapsElements allows ragged inputs: each element is computed independently.
func (l *Average) MapsElements() (string, error) { return "elements", nil }

// Call returns the mean of the inputs xs, a []*ops.Value.
func (l *Average) Call(s *ops.Scope, xs ops.Input) *ops.Value { return l.Run(s, l, xs, nil) }

// ComputeAll returns the mean of the inputs.
func (l *Average) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	sum := merge(s, "Average", c, ops.Add)
	if s.Err() != nil {
		return []*ops.Value{sum}
	}
	return []*ops.Value{ops.Div(s, sum, len(c.Inputs))}
}

// ComputeMask returns the mask of time steps that all inputs use.
func (l *Average) ComputeMask(s *ops.Scope, c *base.Invocation, _ []*ops.Value) []*ops.Value {
	return allMasks(s, c)
}
