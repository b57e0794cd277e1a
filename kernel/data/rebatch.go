package data

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/parts"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of RebatchDatasetV2 and RebatchDataset.

// rebatched runs RebatchDatasetV2: it joins and cuts batches into batches of the sizes in input 1,
// which are used in turn.
func rebatched(c *engine.Call) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	t := c.In(1)
	if t == nil || t.DType() != tensor.Int64 || len(t.Shape()) > 1 || t.Len() == 0 {
		return fmt.Errorf("the batch sizes aren't int64s")
	}
	sizes := slices.Clone(tensor.Values[int64](t))
	total := int64(0)
	for _, n := range sizes {
		if n < 0 {
			return fmt.Errorf("a batch size is %d", n)
		}
		total += n
	}
	if total <= 0 {
		return fmt.Errorf("the batch sizes %v have no positive sum", sizes)
	}
	drop, err := boolIn(c, 2, "drop_remainder")
	if err != nil {
		return err
	}
	c.SetObject(0, of(c, unknown, over(in, func(it iterator) iterator { return &rebatcher{in: it, sizes: sizes, drop: drop} })))
	return nil
}

type rebatcher struct {
	in    iterator
	sizes []int64
	drop  bool

	turn  int       // index in sizes of the next batch
	rows  []element // not yet in a batch
	last  element   // the batch read last; a batch of no rows has its types and shapes
	ended bool
}

func (x *rebatcher) next(c *engine.Call) (element, bool, error) {
	n := x.sizes[x.turn]
	for int64(len(x.rows)) < n && !x.ended {
		e, ok, err := pull(c, x.in)
		if err != nil {
			return nil, false, err
		}
		if x.ended = !ok; x.ended {
			break
		}
		k, err := rowsOf(e)
		if err != nil {
			return nil, false, err
		}
		// About 64 bytes for each row's headers; its elements stay in the batch.
		if err := c.Afford(int64(len(x.rows)+k) * 64); err != nil {
			return nil, false, err
		}
		x.last = e
		for i := range k {
			one := make(element, len(e))
			for j, v := range e {
				if one[j], err = row(v, i); err != nil {
					return nil, false, err
				}
			}
			x.rows = append(x.rows, one)
		}
	}
	if x.ended && (len(x.rows) == 0 || int64(len(x.rows)) < n && x.drop) {
		return nil, false, nil
	}
	x.turn = (x.turn + 1) % len(x.sizes)
	take := min(n, int64(len(x.rows)))
	if take == 0 {
		e, err := x.none()
		return e, err == nil, err
	}
	e, err := stack(c, x.rows[:take])
	x.rows = x.rows[take:]
	return e, err == nil, err
}

// none returns a batch of no rows.
func (x *rebatcher) none() (element, error) {
	if x.last == nil {
		return nil, fmt.Errorf("the first batch has no rows, whose shape isn't known")
	}
	out := make(element, len(x.last))
	for i, v := range x.last {
		if v.Tensor == nil {
			return nil, fmt.Errorf("component %d is no tensor", i)
		}
		s := slices.Clone(v.Tensor.Shape())
		s[0] = 0
		t, err := tensor.Zeros(v.Tensor.DType(), s...)
		if err != nil {
			return nil, err
		}
		out[i] = engine.ValueOf(t)
	}
	return out, nil
}

// shared runs RebatchDataset. Each batch of n rows becomes one batch for each
// replica, of n/replicas rows, rounded up. The last ones may be smaller or empty.
func shared(c *engine.Call) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	n, err := intIn(c, 1, "num_replicas")
	if err != nil {
		return err
	}
	if n < 1 {
		return fmt.Errorf("num_replicas is %d", n)
	}
	c.SetObject(0, of(c, unknown, over(in, func(it iterator) iterator { return &sharer{in: it, replicas: n} })))
	return nil
}

type sharer struct {
	in       iterator
	replicas int64

	turn int64   // index of the next replica
	rest element // the batch that is being divided, whole
	each int     // rows for each replica, at most
}

func (x *sharer) next(c *engine.Call) (element, bool, error) {
	if x.turn %= x.replicas; x.turn == 0 {
		e, ok, err := pull(c, x.in)
		if !ok || err != nil {
			return nil, false, err
		}
		n := -1
		for i, v := range e {
			if v.Tensor == nil || len(v.Tensor.Shape()) == 0 || n >= 0 && v.Tensor.Shape()[0] != n {
				return nil, false, fmt.Errorf("component %d has no rows, or not as many as the others", i)
			}
			n = v.Tensor.Shape()[0]
		}
		x.rest, x.each = e, 0
		if n > 0 {
			x.each = 1 + int(int64(n-1)/x.replicas)
		}
	}
	out := make(element, len(x.rest))
	from := x.turn * int64(x.each)
	for i, v := range x.rest {
		s := v.Tensor.Shape().Clone()
		begin := int(min(from, int64(s[0])))
		end := min(begin+x.each, s[0])
		size := shapes.Count(s[1:])
		s[0] = end - begin
		t, err := tensor.Zeros(v.Tensor.DType(), s...)
		if err != nil {
			return nil, false, err
		}
		parts.Copy(t, v.Tensor, 0, begin*size, (end-begin)*size)
		out[i] = engine.ValueOf(t)
	}
	x.turn++
	return out, true, nil
}
