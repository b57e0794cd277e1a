package data

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of BatchDataset, BatchDatasetV2, ParallelBatchDataset, PaddedBatchDataset,
// PaddedBatchDatasetV2 and MapAndBatchDataset.

// join makes one element of several.
type join func(c *engine.Call, es []element) (element, error)

// datasetInBatches returns the dataset in input 0, and the size of its batches in
// input 1.
func datasetInBatches(c *engine.Call) (*Dataset, int64, error) {
	in, err := datasetIn(c, 0)
	if err != nil {
		return nil, 0, err
	}
	n, err := batchSize(c, 1)
	return in, n, err
}

// batchSize returns the size in input i.
func batchSize(c *engine.Call, i int) (int64, error) {
	n, err := intIn(c, i, "the batch size")
	if err == nil && n < 1 {
		err = fmt.Errorf("the batch size is %d, less than 1", n)
	}
	return n, err
}

// inBatches returns a source of n elements each of in's, joined to one.
func inBatches(in *Dataset, n int64, drop bool, join join) source {
	return over(in, func(it iterator) iterator {
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			var es []element
			for int64(len(es)) < n {
				e, ok, err := pull(c, it)
				if err != nil {
					return nil, false, err
				}
				if !ok {
					it = empty
					break
				}
				if err := c.Afford(int64(len(es)+1) * bytesOf(e)); err != nil {
					return nil, false, err
				}
				es = append(es, e)
			}
			if len(es) == 0 || drop && int64(len(es)) < n {
				return nil, false, nil
			}
			e, err := join(c, es)
			return e, err == nil, err
		})
	})
}

// batches returns how many batches of n there are.
func batches(size, n int64, drop bool) int64 {
	if size < 0 {
		return size
	}
	if size%n != 0 && !drop {
		return size/n + 1
	}
	return size / n
}

// batched makes batches; dropAt is the input that decides whether a last,
// smaller one is dropped, or 0 for none.
func batched(dropAt int) func(*engine.Call) error {
	return func(c *engine.Call) error {
		in, n, err := datasetInBatches(c)
		if err != nil {
			return err
		}
		drop := false
		if dropAt > 0 {
			if drop, err = boolIn(c, dropAt, "drop_remainder"); err != nil {
				return err
			}
		}
		c.SetObject(0, of(c, batches(in.size, n, drop), inBatches(in, n, drop, stack)))
		return nil
	}
}

// mappedInBatches prepares MapAndBatchDataset.
var mappedInBatches = withFunction("f", "Targuments", 1, func(c *engine.Call, f *closure, next int) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	n, err := batchSize(c, next)
	if err != nil {
		return err
	}
	drop, err := boolIn(c, next+2, "drop_remainder")
	if err != nil {
		return err
	}
	keepSize := c.Attrs().Bool("preserve_cardinality")
	made := &Dataset{size: unknown, source: over(in, func(it iterator) iterator { return &mapper{it, f, keepSize} })}
	if keepSize {
		made.size = in.size
	}
	c.SetObject(0, of(c, batches(made.size, n, drop), inBatches(made, n, drop, stack)))
	return nil
})

// valueBytes is about how much memory a component of an element takes besides its data.
const valueBytes = 200

// bytesOf returns the memory that an element takes.
func bytesOf(e element) (n int64) {
	for _, v := range e {
		n += valueBytes
		if v.Tensor != nil {
			n += v.Tensor.NumBytes()
		}
	}
	return n
}

// stack joins elements of equal shapes along a new first dimension.
func stack(c *engine.Call, es []element) (element, error) {
	out := make(element, len(es[0]))
	for k := range out {
		first := es[0][k]
		for i, e := range es {
			switch {
			case len(e) != len(out) || e[k].DType() != first.DType():
				return nil, fmt.Errorf("elements of different types can't be in one batch")
			case !shapeOf(e[k]).Equal(shapeOf(first)):
				return nil, fmt.Errorf("elements of different shapes can't be in one batch: component %d of element 0 has shape %v, that of element %d %v", k, shapeOf(first), i, shapeOf(e[k]))
			}
		}
		var err error
		if out[k], err = stackOne(c, es, k); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// stackOne joins component k of elements of one shape.
func stackOne(c *engine.Call, es []element, k int) (engine.Value, error) {
	first := es[0][k]
	shape := append(tensor.Shape{len(es)}, shapeOf(first)...)
	if first.Tensor == nil {
		h := &engine.Handles{Shape: shape}
		for _, e := range es {
			if many, ok := e[k].Object.(*engine.Handles); ok {
				h.Items = append(h.Items, many.Items...)
			} else {
				h.Items = append(h.Items, e[k].Object)
			}
		}
		return engine.HandleOf(h), nil
	}
	v, err := c.Refs().New(first.DType(), shape)
	if err != nil {
		return v, err
	}
	at := 0
	for _, e := range es {
		if t := e[k].Tensor; t.DType().Fixed() {
			at += copy(v.Tensor.Bytes()[at:], t.Bytes())
		} else {
			at += copy(v.Tensor.Strings()[at:], t.Strings())
		}
	}
	return keep(c, v), nil
}

// paddedBatched makes batches of elements that are padded at their ends to one
// shape. With withDrop, the last input decides whether a smaller last batch is
// dropped.
func paddedBatched(withDrop bool) func(*engine.Call) error {
	return func(c *engine.Call) error {
		in, n, err := datasetInBatches(c)
		if err != nil {
			return err
		}
		count := len(c.Attrs().Types("Toutput_types"))
		drop := false
		if withDrop {
			if drop, err = boolIn(c, 2+2*count, "drop_remainder"); err != nil {
				return err
			}
		}
		if c.NumIn() < 2+2*count {
			return fmt.Errorf("takes %d inputs, %d were given", 2+2*count, c.NumIn())
		}
		p := &padding{values: owned(c, 2+count, 2+2*count)}
		for i := range count {
			s, _, err := graph.FactOf(c.In(2 + i)).AsShape()
			if err != nil || !s.HasRank() {
				return fmt.Errorf("the padded shape %d is %v, no shape (%v)", i, c.In(2+i), err)
			}
			if v := p.values[i]; v.DType() != c.Attrs().Types("Toutput_types")[i] || v.Tensor == nil || v.Tensor.Len() != 1 {
				return fmt.Errorf("the padding value %d is not one %v", i, c.Attrs().Types("Toutput_types")[i])
			}
			p.shapes = append(p.shapes, s)
		}
		c.SetObject(0, of(c, batches(in.size, n, drop), inBatches(in, n, drop, p.stack)))
		return nil
	}
}

// padding describes the shapes to which elements are padded, and the padding
// values.
type padding struct {
	shapes []graph.PartialShape // unknown sizes are the largest of the batch
	values element
}

// stack joins elements, each padded to the shape, along a new first dimension.
func (p *padding) stack(c *engine.Call, es []element) (element, error) {
	out := make(element, len(p.shapes))
	for k := range out {
		shape, err := p.shape(es, k)
		if err != nil {
			return nil, err
		}
		v, err := c.Refs().New(p.values[k].DType(), append(tensor.Shape{len(es)}, shape...))
		if err != nil {
			return nil, err
		}
		fill(v.Tensor, p.values[k].Tensor)
		size, err := shape.NumElements()
		if err != nil {
			return nil, err
		}
		for i, e := range es {
			copyBlock(v.Tensor, i*size, shape, e[k].Tensor)
		}
		out[k] = keep(c, v)
	}
	return out, nil
}

// shape returns the shape that component k of all elements is padded to.
func (p *padding) shape(es []element, k int) (tensor.Shape, error) {
	want := p.shapes[k]
	out := make(tensor.Shape, want.Rank())
	for i := range out {
		out[i] = want.Dim(i)
	}
	for n, e := range es {
		if len(e) != len(p.shapes) || e[k].Tensor == nil || e[k].DType() != p.values[k].DType() {
			return nil, fmt.Errorf("element %d can't be padded: it has no component %d of %v", n, k, p.values[k].DType())
		}
		s := e[k].Tensor.Shape()
		if len(s) != len(out) {
			return nil, fmt.Errorf("component %d of element %d has shape %v, the padded shape is %v", k, n, s, want)
		}
		for i, size := range s {
			if want.Dim(i) < 0 {
				out[i] = max(out[i], size)
			} else if size > out[i] {
				return nil, fmt.Errorf("component %d of element %d has shape %v, more than the padded shape %v", k, n, s, want)
			}
		}
	}
	return out, nil
}

// fill sets all elements of t to the one of v.
func fill(t, v *tensor.Tensor) {
	if !t.DType().Fixed() {
		for i := range t.Strings() {
			t.Strings()[i] = v.Strings()[0]
		}
		return
	}
	b := t.Bytes()
	for n := copy(b, v.Bytes()); n > 0 && n < len(b); {
		n += copy(b[n:], b[:n])
	}
}

// copyBlock copies src into the corner of the block of the given shape that begins
// at element at of dst.
func copyBlock(dst *tensor.Tensor, at int, shape tensor.Shape, src *tensor.Tensor) {
	s := src.Shape()
	if src.Len() == 0 {
		return
	}
	run := 1
	if len(s) > 0 {
		run = s[len(s)-1]
	}
	index := make([]int, max(len(s)-1, 0))
	for from := 0; from < src.Len(); from += run {
		to := 0
		for i := range s {
			to *= shape[i]
			if i < len(index) {
				to += index[i]
			}
		}
		to += at
		if d := src.DType(); d.Fixed() {
			w := d.Size()
			copy(dst.Bytes()[to*w:(to+run)*w], src.Bytes()[from*w:(from+run)*w])
		} else {
			copy(dst.Strings()[to:to+run], src.Strings()[from:from+run])
		}
		for i := len(index) - 1; i >= 0; i-- {
			if index[i]++; index[i] < s[i] {
				break
			}
			index[i] = 0
		}
	}
}
