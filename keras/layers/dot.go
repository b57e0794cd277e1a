package layers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/ops"
)

// Dot multiplies two inputs along a dimension of each, separately for each element of the
// batch. The result has the other dimensions of the first input, then those of the second.
// A product of two matrices has the shape [batch, 1]. Masks are dropped.
type Dot struct {
	base.Layer
	// Axes is the dimension of both inputs, or one of each, counted from the end if
	// negative. It is required.
	Axes constraints.Axes
	// Normalize divides both inputs by their norms along Axes, so that the result is the
	// cosine of the angle between them.
	Normalize bool
}

// Call multiplies the inputs xs, a []*ops.Value of two.
func (d *Dot) Call(s *ops.Scope, xs ops.Input) *ops.Value { return d.Run(s, d, xs, nil) }

// ComputeAll multiplies the inputs.
func (d *Dot) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	fail := func(err error) []*ops.Value { return []*ops.Value{s.Fail("Dot", err)} }
	if err := c.CheckArgs(); err != nil {
		return fail(err)
	}
	if len(c.Inputs) != 2 || len(d.Axes) < 1 || len(d.Axes) > 2 {
		return fail(fmt.Errorf("got %d inputs and the axes %v, want two inputs and one or two axes", len(c.Inputs), d.Axes))
	}
	var axes, ranks [2]int
	xs := [2]*ops.Value{c.Inputs[0], c.Inputs[1]}
	for i, x := range xs {
		in := x.Fact().Shape
		axes[i], ranks[i] = d.Axes[i%len(d.Axes)], in.Rank()
		if axes[i] < 0 {
			axes[i] += ranks[i]
		}
		if !in.HasRank() || axes[i] < 1 || axes[i] >= ranks[i] || ranks[i] > 24 {
			return fail(fmt.Errorf("an input has the shape %v, want a known rank and an axis after the batch's (got %v)", in, d.Axes))
		}
		if d.Normalize {
			xs[i] = ops.L2Normalize(s, x, 1e-12, axes[i])
		}
	}
	y := ops.Einsum(s, dotEquation(axes, ranks), xs[0], xs[1])
	if ranks == [2]int{2, 2} {
		y = ops.ExpandDims(s, y, 1)
	}
	return []*ops.Value{y}
}

// dotEquation returns the equation of a product, for ops.Einsum: "a" is the batch, "b" the summed
// dimension. axes and ranks are those of the two inputs; the limit of 24 dimensions leaves enough letters.
func dotEquation(axes, ranks [2]int) string {
	next := byte('c')
	var in [2][]byte
	out := []byte("a")
	for i, rank := range ranks {
		in[i] = append(in[i], 'a')
		for axis := 1; axis < rank; axis++ {
			letter := byte('b')
			if axis != axes[i] {
				letter = next
				if next++; next == 'z'+1 {
					next = 'A'
				}
				out = append(out, letter)
			}
			in[i] = append(in[i], letter)
		}
	}
	return fmt.Sprintf("%s,%s->%s", in[0], in[1], out)
}
