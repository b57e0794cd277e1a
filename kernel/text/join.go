package text

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of StringJoin, ReduceJoin and UnsortedSegmentJoin.

// join joins strings element by element; scalars broadcast.
func join(c *engine.Call) error {
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	in := make([]graph.PartialShape, c.NumIn())
	for i := range in {
		if _, err := texts(c, i); err != nil {
			return err
		}
		in[i] = graph.Whole(c.In(i).Shape())
	}
	s, err := shape.JoinedStrings(in...)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tensor.String, s.Dims())
	if err != nil {
		return err
	}
	sep := c.Attrs().String("separator", "")
	room := budget{c: c}
	for i := range out.Strings() {
		var text []byte
		for k := range c.NumIn() {
			if k > 0 {
				text = append(text, sep...)
			}
			x := c.In(k).Strings()
			text = append(text, x[min(i, len(x)-1)]...)
		}
		if err := room.take(len(text)); err != nil {
			return err
		}
		out.Strings()[i] = string(text)
	}
	return nil
}

// reduceJoin joins along axes; the first that is named varies fastest.
func reduceJoin(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	in, err := texts(c, 0)
	if err != nil {
		return err
	}
	axes, err := shapes.Ints(c.In(1), "the axes")
	if err != nil {
		return err
	}
	s := c.In(0).Shape()
	dims, marked, err := shape.Reduction(s, axes, c.Attrs().Bool("keep_dims"))
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tensor.String, dims)
	if err != nil {
		return err
	}
	steps := shapes.Strides(s)
	kept := walk{}
	for i, m := range marked {
		if !m {
			kept.add(s[i], steps[i])
		}
	}
	joined := walk{}
	for i := len(axes) - 1; i >= 0; i-- {
		a, _ := shape.Axis(axes[i], len(s))
		joined.add(s[a], steps[a])
	}
	sep := c.Attrs().String("separator", "")
	room := budget{c: c}
	parts := make([]string, joined.count())
	for i := range out.Strings() {
		from := kept.at(i)
		for k := range parts {
			parts[k] = in[from+joined.at(k)]
		}
		if err := room.take(joinedLen(parts, sep)); err != nil {
			return err
		}
		out.Strings()[i] = strings.Join(parts, sep)
	}
	return nil
}

// joinedLen returns the length of some parts, joined with a separator between them.
func joinedLen(parts []string, sep string) int {
	n := max(0, len(parts)-1) * len(sep)
	for _, p := range parts {
		n += len(p)
	}
	return n
}

// walk numbers the elements of some of a tensor's dimensions, the last fastest.
type walk struct{ sizes, steps []int }

// add adds a dimension; step is its stride in elements.
func (w *walk) add(size, step int) {
	w.sizes, w.steps = append(w.sizes, size), append(w.steps, step)
}

// count returns the number of elements.
func (w *walk) count() int { return shapes.Count(w.sizes) }

// at returns the index of element i.
func (w *walk) at(i int) int {
	k := 0
	for d := len(w.sizes) - 1; d >= 0; d-- {
		k += i % w.sizes[d] * w.steps[d]
		i /= w.sizes[d]
	}
	return k
}

// segmentJoin joins the rows of each segment. Inputs are strings, the segment
// of each row, and the number of segments. Rows are joined in their order.
func segmentJoin(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	in, err := texts(c, 0)
	if err != nil {
		return err
	}
	ids, err := shapes.AllInts(c.In(1), "the segment ids")
	if err != nil {
		return err
	}
	count, err := shapes.Int(c.In(2), "the number of segments")
	if err != nil {
		return err
	}
	if count < 0 || count != int64(int(count)) {
		return fmt.Errorf("the number of segments is %d", count)
	}
	dims, err := shape.Segments(c.In(0).Shape(), c.In(1).Shape(), int(count))
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tensor.String, dims)
	if err != nil {
		return err
	}
	row := shapes.Count(dims[1:])
	members := map[int64][]int{}
	for i, id := range ids {
		if id < 0 || id >= count {
			return fmt.Errorf("the segment id %d is outside of [0, %d)", id, count)
		}
		members[id] = append(members[id], i)
	}
	sep := c.Attrs().String("separator", "")
	room := budget{c: c}
	var parts []string
	for id, rows := range members {
		for k := range row {
			parts = parts[:0]
			for _, r := range rows {
				parts = append(parts, in[r*row+k])
			}
			if err := room.take(joinedLen(parts, sep)); err != nil {
				return err
			}
			out.Strings()[int(id)*row+k] = strings.Join(parts, sep)
		}
	}
	return nil
}
