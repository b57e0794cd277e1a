package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// gatherRules returns the rules of ops that read or write parts of a tensor at indices.
func gatherRules() map[string]Rule {
	return join(
		rules(segments, "UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd"),
		map[string]Rule{
			"Gather": gatherV1, "GatherV2": gatherV2, "GatherNd": gatherND, "ScatterNd": scatterND,
			"TensorScatterUpdate": unchanged, "TensorScatterAdd": unchanged, "TensorScatterSub": unchanged,
			"TensorScatterMax": unchanged, "TensorScatterMin": unchanged, "ScatterNdNonAliasingAdd": unchanged,
			"OneHot": oneHot, "DynamicStitch": dynamicStitch, "ParallelDynamicStitch": dynamicStitch,
		})
}

// Gather returns the shape of the slices of a tensor of shape s that indices of
// shape is select along an axis. Both shapes begin with the batch dimensions.
func Gather(s, is tensor.Shape, axis int, batchDims int64) (out tensor.Shape, batch int, err error) {
	if batchDims < 0 {
		batchDims += int64(len(is))
	}
	batch = int(batchDims)
	if batchDims < 0 || batch > len(is) || batch > axis {
		return nil, 0, fmt.Errorf("batch_dims %d fits neither axis %d nor indices of %d dimensions", batchDims, axis, len(is))
	}
	if axis < 0 || axis >= len(s) {
		return nil, 0, fmt.Errorf("axis %d of a tensor of %d dimensions", axis, len(s))
	}
	out = make(tensor.Shape, 0, len(s)+len(is)-batch-1)
	for i := range batch {
		d, ok := graph.MergeDim(s[i], is[i])
		if !ok {
			return nil, 0, fmt.Errorf("the batch dimensions differ: %v and %v", s[:batch], is[:batch])
		}
		out = append(out, d)
	}
	out = append(append(append(out, s[batch:axis]...), is[batch:]...), s[axis+1:]...)
	return out, batch, nil
}

func gatherV1(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	return c.gather(0, true, 0)
}

func gatherV2(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	if err := c.scalar(2); err != nil {
		return fmt.Errorf("the axis: %w", err)
	}
	axis, ok, err := c.axis(2, c.shape(0).Rank())
	if err != nil {
		return err
	}
	if n, known := c.In[2].Int(); known && n == 0 {
		axis, ok = 0, true
	}
	return c.gather(axis, ok, c.Attrs.Int("batch_dims", 0))
}

// gather infers the outputs of gathers along an axis, if that is known.
func (c *Inference) gather(axis int, ok bool, batch int64) error {
	if _, err := c.minRank(0, 1); err != nil {
		return err
	}
	s, sok := c.dims(0)
	is, iok := c.dims(1)
	if sok && len(s) == 1 {
		axis, ok = 0, true
	}
	switch {
	case !iok || !sok:
		return nil
	case !ok:
		if batch < 0 {
			batch += int64(len(is))
		}
		if n := len(s) + len(is) - 1 - int(batch); batch >= 0 && n >= 0 {
			c.set(0, graph.OfRank(n))
		}
		return nil
	}
	out, _, err := Gather(s, is, axis, batch)
	if err != nil {
		return err
	}
	c.setDims(0, out...)
	if len(s) != 1 || len(out) > 1 || len(c.Out) == 0 || !isInteger(c.In[0].DType) {
		return nil
	}
	e, ok := c.In[0].Ints()
	at, aok := c.knownInts(1)
	if !ok || !aok {
		return nil
	}
	picked := make([]graph.Elem, len(at))
	for i, k := range at {
		if k < 0 || k >= int64(len(e)) {
			return fmt.Errorf("index %d is outside of [0, %d)", k, len(e))
		}
		picked[i] = e[k]
	}
	c.setElems(0, picked)
	return nil
}

// Indexed splits the shape s of a tensor for index vectors in the last
// dimension of is. outer are the other dimensions of is. inner are the
// dimensions of the part of the tensor that one vector selects.
func Indexed(is, s tensor.Shape) (outer, inner tensor.Shape, err error) {
	if len(is) == 0 {
		return nil, nil, fmt.Errorf("the indices need at least one dimension")
	}
	depth := is[len(is)-1]
	if depth > len(s) {
		return nil, nil, fmt.Errorf("index vectors of %d entries for %d dimensions", depth, len(s))
	}
	return is[:len(is)-1], s[depth:], nil
}

func gatherND(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	is, err := c.minRank(1, 1)
	if err != nil {
		return err
	}
	s, ok := c.dims(0)
	if !ok || !is.HasRank() || is.Dim(-1) < 0 {
		return nil
	}
	outer, inner, err := Indexed(is.Dims(), s)
	if err == nil {
		c.setDims(0, append(outer.Clone(), inner...)...)
	}
	return err
}

// Scatter checks that updates of a shape fit the parts that indices of shape is
// select in a tensor of shape s.
func Scatter(is, updates, s tensor.Shape) error {
	outer, inner, err := Indexed(is, s)
	if err != nil {
		return err
	}
	want := append(outer.Clone(), inner...)
	if !graph.ShapeOf(updates...).Compatible(graph.ShapeOf(want...)) {
		return fmt.Errorf("the updates have shape %v, not %v", updates, want)
	}
	return nil
}

func scatterND(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	s, err := c.sizes(2, "the shape")
	if err != nil || !s.HasRank() {
		return err
	}
	c.set(0, s)
	is, iok := c.dims(0)
	us, uok := c.dims(1)
	if !iok || !uok || len(is) > 0 && is[len(is)-1] < 0 {
		return nil
	}
	return Scatter(is, us, s.Dims())
}

// Segments returns the shape of sums over n segments: ids has the dimensions
// that the shape s of the data begins with.
func Segments(s, ids tensor.Shape, n int) (tensor.Shape, error) {
	if len(ids) > len(s) || !graph.ShapeOf(s[:len(ids)]...).Compatible(graph.ShapeOf(ids...)) {
		return nil, fmt.Errorf("the ids' shape %v isn't the beginning of the data's %v", ids, s)
	}
	return append(tensor.Shape{n}, s[len(ids):]...), nil
}

func segments(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	n, err := c.size(2, "the number of segments")
	if err != nil {
		return err
	}
	s, ok := c.dims(0)
	ids, iok := c.dims(1)
	if !ok || !iok {
		return nil
	}
	out, err := Segments(s, ids, n)
	if err == nil {
		c.setDims(0, out...)
	}
	return err
}

// OneHot returns the shape of one-hot vectors of a depth for indices of shape
// s, and the axis of the vectors; an axis of -1 is the last one.
func OneHot(s tensor.Shape, depth int, axis int64) (tensor.Shape, int, error) {
	if axis == -1 {
		axis = int64(len(s))
	}
	if axis < 0 || axis > int64(len(s)) {
		return nil, 0, fmt.Errorf("the axis is %d, not -1 or in [0, %d]", axis, len(s))
	}
	return insert(s, int(axis), depth), int(axis), nil
}

func oneHot(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	depth, err := c.size(1, "the depth")
	if err != nil {
		return err
	}
	s, ok := c.dims(0)
	if !ok {
		return each(c.scalar(1), c.scalar(2), c.scalar(3))
	}
	out, _, err := OneHot(s, depth, c.Attrs.Int("axis", -1))
	if err == nil {
		c.setDims(0, out...)
	}
	return err
}

// dynamicStitch infers the rows, as many as the largest index plus one.
func dynamicStitch(c *Inference) error {
	n := len(c.In) / 2
	rest, count, whole := graph.PartialShape{}, int64(0), true
	for i := range n {
		idx, data := c.shape(i), c.shape(n+i)
		if at, ok := c.knownInts(i); ok {
			for _, k := range at {
				count = max(count, k+1)
			}
		} else {
			whole = false
		}
		if !idx.HasRank() || !data.HasRank() {
			continue
		}
		inner, err := data.From(idx.Rank(), graph.End)
		if err != nil {
			return err
		}
		if rest, err = rest.Merge(inner); err != nil {
			return err
		}
	}
	d := graph.NewDim()
	if whole {
		d = int(count)
	}
	c.set(0, graph.ShapeOf(d).Concat(rest))
	return nil
}
