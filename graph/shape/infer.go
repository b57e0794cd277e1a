package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// need checks that there are n inputs.
func (c *Inference) need(n int) error {
	if len(c.In) != n {
		return fmt.Errorf("takes %d inputs, %d were given", n, len(c.In))
	}
	return nil
}

// atLeast checks that there are n inputs or more.
func (c *Inference) atLeast(n int) error {
	if len(c.In) < n {
		return fmt.Errorf("takes at least %d inputs, %d were given", n, len(c.In))
	}
	return nil
}

// shape returns the shape of input i.
func (c *Inference) shape(i int) graph.PartialShape { return c.In[i].Shape }

// dims returns the sizes of input i, and whether their number is known.
func (c *Inference) dims(i int) (tensor.Shape, bool) {
	s := c.In[i].Shape
	return s.Dims(), s.HasRank()
}

// set sets the shape of output i. Unknown sizes without an identity get one. It
// ignores an output that doesn't exist.
func (c *Inference) set(i int, s graph.PartialShape) {
	if i < len(c.Out) {
		c.Out[i].Shape = s.Identified()
	}
}

// setDims sets the sizes of output i.
func (c *Inference) setDims(i int, dims ...int) { c.set(i, graph.ShapeOf(dims...)) }

// setElems sets the known elements of output i, after its shape.
func (c *Inference) setElems(i int, e []graph.Elem) {
	if i < len(c.Out) {
		c.Out[i] = c.Out[i].WithElems(e)
	}
}

// pass sets output i to input in, with its shape, value and handle.
func (c *Inference) pass(i, in int) {
	if i >= len(c.Out) {
		return
	}
	o, f := &c.Out[i], c.In[in]
	o.Shape, o.Value, o.Elems, o.Handle = f.Shape, f.Value, f.Elems, f.Handle
	if o.DType == tensor.Invalid {
		o.DType = f.DType
	}
}

// ranked returns the shape of input i, which must have n dimensions.
func (c *Inference) ranked(i, n int) (graph.PartialShape, error) {
	s, err := c.shape(i).WithRank(n)
	if err != nil {
		return s, fmt.Errorf("input %d: %w", i, err)
	}
	return s, nil
}

// shapeOr returns the shape of input i, or n unknown sizes for an unknown rank.
func (c *Inference) shapeOr(i, n int) graph.PartialShape {
	if s := c.shape(i); s.HasRank() {
		return s
	}
	return graph.OfRank(n)
}

// scalar checks that input i may be a scalar.
func (c *Inference) scalar(i int) error {
	_, err := c.ranked(i, 0)
	return err
}

// vector returns the length of input i, which must be a vector. An unknown
// length is an unknown size.
func (c *Inference) vector(i int) (int, error) {
	s, err := c.ranked(i, 1)
	if err != nil {
		return 0, err
	}
	return s.Dim(0), nil
}

// minRank returns the shape of input i, which must have n dimensions or more.
func (c *Inference) minRank(i, n int) (graph.PartialShape, error) {
	s := c.shape(i)
	if s.HasRank() && s.Rank() < n {
		return s, fmt.Errorf("input %d has shape %v, of fewer than %d dimensions", i, s, n)
	}
	return s, nil
}

// axis returns the axis in input i, of a tensor of the given rank, or false if
// either is unknown.
func (c *Inference) axis(i, rank int) (int, bool, error) {
	n, ok := c.In[i].Int()
	if !ok || rank < 0 {
		return 0, false, nil
	}
	a, err := Axis(n, rank)
	return a, err == nil, err
}

// ints returns the elements of input i as far as they are known, of a tensor of
// any rank.
func (c *Inference) ints(i int) ([]graph.Elem, bool) {
	f := c.In[i]
	if f.Value == nil || len(f.Value.Shape()) <= 1 {
		return f.Ints()
	}
	v, err := f.Value.Reshape(f.Value.Len())
	if err != nil {
		return nil, false
	}
	return graph.Fact{DType: f.DType, Value: v}.Ints()
}

// known returns the elements as numbers, or false if one is unknown.
func known(e []graph.Elem) ([]int64, bool) {
	out := make([]int64, len(e))
	for i, x := range e {
		n, ok := x.Int()
		if !ok {
			return nil, false
		}
		out[i] = n
	}
	return out, true
}

// knownInts returns the elements of input i, if all are known.
func (c *Inference) knownInts(i int) ([]int64, bool) {
	e, ok := c.ints(i)
	if !ok {
		return nil, false
	}
	return known(e)
}

// sizes returns the shape that input i, a vector, describes: its elements are the
// sizes, and unknown ones get an identity. If only the vector's length is known, so
// is the rank. A size below 0 is an error; what names the input in it.
func (c *Inference) sizes(i int, what string) (graph.PartialShape, error) {
	n, err := c.vector(i)
	if err != nil {
		return graph.PartialShape{}, fmt.Errorf("%s: %w", what, err)
	}
	e, ok := c.In[i].Ints()
	if !ok {
		return graph.OfRank(n), nil
	}
	dims := make(tensor.Shape, len(e))
	for k, x := range e {
		d, ok := x.Size()
		if !ok {
			return graph.PartialShape{}, fmt.Errorf("%s holds the size %v", what, x)
		}
		if d == -1 {
			d = graph.NewDim()
		}
		dims[k] = d
	}
	return graph.ShapeOf(dims...), nil
}

// rankedSizes returns the shape of n dimensions that input i describes, as [Inference.sizes]
// does.
func (c *Inference) rankedSizes(i, n int, what string) (graph.PartialShape, error) {
	s, err := c.sizes(i, what)
	if err != nil {
		return s, err
	}
	return s.WithRank(n)
}

// size returns the number in input i, a scalar, as a size. An unknown number is
// an unknown size; a negative one is an error.
func (c *Inference) size(i int, what string) (int, error) {
	e, ok := c.In[i].Ints()
	if !ok || len(e) != 1 {
		return graph.NewDim(), nil
	}
	d, ok := e[0].Size()
	switch {
	case !ok:
		return 0, fmt.Errorf("%s is %v", what, e[0])
	case d == -1:
		d = graph.NewDim()
	}
	return d, nil
}

// SetShape sets the shape of output i, for rules outside of this package.
func (c *Inference) SetShape(i int, s graph.PartialShape) { c.set(i, s) }

// each returns the first of the errors that isn't nil.
func each(parts ...error) error {
	for _, err := range parts {
		if err != nil {
			return err
		}
	}
	return nil
}

// rules maps each of the ops to one rule.
func rules(rule Rule, ops ...string) map[string]Rule {
	out := make(map[string]Rule, len(ops))
	for _, op := range ops {
		out[op] = rule
	}
	return out
}

// join returns the union of maps of rules.
func join(maps ...map[string]Rule) map[string]Rule {
	out := map[string]Rule{}
	for _, m := range maps {
		for op, rule := range m {
			out[op] = rule
		}
	}
	return out
}
