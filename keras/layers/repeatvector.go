package layers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// RepeatVector repeats vectors [batch, features] as [batch, N, features].
type RepeatVector struct {
	base.Layer
	// N is the number of repetitions. It is required.
	N int
}

// Call repeats x.
func (r *RepeatVector) Call(s *ops.Scope, x ops.Input) *ops.Value { return r.Run(s, r, x, nil) }

// Compute repeats x.
func (r *RepeatVector) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if in := x.Fact().Shape; in.HasRank() && in.Rank() != 2 || r.N < 0 {
		return s.Fail("RepeatVector", fmt.Errorf("got an input of shape %v and N %d, want a matrix and 0 or more", in, r.N))
	}
	return ops.Tile(s, ops.ExpandDims(s, x, 1), 1, r.N, 1)
}
