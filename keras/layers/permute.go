package layers

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// Permute changes the order of its input's dimensions. The batch's stays the first.
type Permute struct {
	base.Layer
	// Dims are the dimensions in their new order, counted from 1. It is required.
	Dims []int
}

// Call permutes x.
func (p *Permute) Call(s *ops.Scope, x ops.Input) *ops.Value { return p.Run(s, p, x, nil) }

// Compute permutes x.
func (p *Permute) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	for i, d := range slices.Sorted(slices.Values(p.Dims)) {
		if d != i+1 {
			return s.Fail("Permute", fmt.Errorf("the dimensions are %v, want each from 1 to %d once", p.Dims, len(p.Dims)))
		}
	}
	return ops.Transpose(s, x, append([]int{0}, p.Dims...)...)
}
