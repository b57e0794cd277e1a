package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// reduceRules returns the rules of reductions and of running sums.
func reduceRules() map[string]Rule {
	return join(
		rules(reduction, "Sum", "Mean", "Prod", "Max", "Min", "All", "Any", "EuclideanNorm", "ReduceJoin"),
		rules(argReduction, "ArgMax", "ArgMin"),
		rules(cumulation, "Cumsum", "Cumprod", "CumulativeLogsumexp"),
		map[string]Rule{"L2Loss": scalarOut, "BiasAddGrad": biasAddGrad})
}

// scalarOut infers the outputs of ops that return scalars.
func scalarOut(c *Inference) error {
	for i := range c.Out {
		c.setDims(i)
	}
	return nil
}

// Reduction returns the shape of a tensor of shape s reduced along axes. With
// keep, these dimensions stay with size 1. marked has true at each of the axes.
func Reduction(s tensor.Shape, axes []int64, keep bool) (out tensor.Shape, marked []bool, err error) {
	if marked, err = Axes(axes, len(s)); err != nil {
		return nil, nil, err
	}
	out = make(tensor.Shape, 0, len(s))
	for i, n := range s {
		switch {
		case !marked[i]:
			out = append(out, n)
		case keep:
			out = append(out, 1)
		}
	}
	return out, marked, nil
}

func reduction(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s := c.shape(0)
	keep := c.Attrs.Bool("keep_dims")
	axes, ok := c.knownInts(1)
	switch {
	case !s.HasRank():
		return nil
	case ok:
		out, _, err := Reduction(s.Dims(), axes, keep)
		if err != nil {
			return err
		}
		c.setDims(0, out...)
		if len(axes) == 1 {
			c.fold()
		}
		return nil
	}
	n, counted := c.shape(1).NumElements()
	switch {
	case counted && n == 0:
		c.set(0, s)
	case counted && n == s.Rank(): // each axis once
		out, _, _ := Reduction(s.Dims(), all(n), keep)
		c.setDims(0, out...)
	case keep && s.Rank() == 0:
		c.set(0, s)
	case keep:
		c.set(0, graph.OfRank(s.Rank()))
	case s.Rank() == 0:
		c.setDims(0)
	case counted && n <= s.Rank():
		c.set(0, graph.OfRank(s.Rank()-n))
	}
	return nil
}

// all returns the axes of a tensor of rank n.
func all(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

// ArgReduction returns the shape of a tensor of shape s without an axis, which
// may not be empty.
func ArgReduction(s tensor.Shape, axis int64) (tensor.Shape, int, error) {
	a, err := Axis(axis, len(s))
	if err != nil {
		return nil, 0, err
	}
	if s[a] == 0 {
		return nil, 0, fmt.Errorf("dimension %d of shape %v is empty", a, s)
	}
	return remove(s, a), a, nil
}

func argReduction(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	if err := c.scalar(1); err != nil {
		return fmt.Errorf("the axis: %w", err)
	}
	s, ok := c.dims(0)
	if !ok {
		return nil
	}
	axis, known := c.In[1].Int()
	switch {
	case len(s) <= 1 && !known:
		c.setDims(0)
	case !known:
		c.set(0, graph.OfRank(len(s)-1))
	default:
		out, _, err := ArgReduction(s, axis)
		if err != nil {
			return err
		}
		c.setDims(0, out...)
	}
	return nil
}

func cumulation(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	c.set(0, c.shape(0))
	_, _, err := c.axis(1, c.shape(0).Rank())
	return each(c.scalar(1), err)
}

func biasAddGrad(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, ok := c.dims(0)
	if !ok {
		c.set(0, graph.OfRank(1))
		return nil
	}
	axis, err := BiasAxis(s, c.Attrs.String("data_format", "NHWC"))
	if err == nil {
		c.setDims(0, s[axis])
	}
	return err
}
