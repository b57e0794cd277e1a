package data

import (
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of TensorDataset, TensorSliceDataset, RangeDataset,
// ConcatenateDataset, ZipDataset, ListDataset, RandomDataset and
// RandomDatasetV2.

// list iterates over elements that are there.
type list []element

func (l list) iterate(*engine.Call, int) (iterator, error) {
	at := 0
	return iteratorFunc(func(*engine.Call) (element, bool, error) {
		if at >= len(l) {
			return nil, false, nil
		}
		at++
		return l[at-1], true, nil
	}), nil
}

// tensorDataset makes a dataset of one element.
func tensorDataset(c *engine.Call) error {
	c.SetObject(0, of(c, 1, list{owned(c, 0, c.NumIn())}))
	return nil
}

// tensorSliceDataset makes a dataset of the rows of its inputs.
func tensorSliceDataset(c *engine.Call) error {
	all := owned(c, 0, c.NumIn())
	if len(all) == 0 {
		return fmt.Errorf("takes at least one tensor")
	}
	n, err := rowsOf(all)
	if err != nil {
		return err
	}
	c.SetObject(0, of(c, int64(n), slicesOf(all, n)))
	return nil
}

// rowsOf returns the first size of all components. The sizes have to be equal.
func rowsOf(e element) (int, error) {
	n := 0
	for i, v := range e {
		s := shapeOf(v)
		switch {
		case len(s) == 0:
			return 0, fmt.Errorf("component %d is a scalar, which has no rows", i)
		case i > 0 && s[0] != n:
			return 0, fmt.Errorf("component %d has %d rows, component 0 has %d", i, s[0], n)
		}
		n = s[0]
	}
	return n, nil
}

// slicesOf returns a source of the n rows of tensors.
func slicesOf(all element, n int) source {
	return sourceFunc(func(*engine.Call, int) (iterator, error) {
		at := 0
		return iteratorFunc(func(*engine.Call) (element, bool, error) {
			if at >= n {
				return nil, false, nil
			}
			out := make(element, len(all))
			for i, v := range all {
				var err error
				if out[i], err = row(v, at); err != nil {
					return nil, false, err
				}
			}
			at++
			return out, true, nil
		}), nil
	})
}

// row returns row i of a tensor or of a tensor of handles, without a copy.
func row(v engine.Value, i int) (engine.Value, error) {
	if h, ok := v.Object.(*engine.Handles); ok {
		inner := h.Shape[1:]
		n, err := inner.NumElements()
		if err != nil {
			return engine.Value{}, err
		}
		return handles(inner, h.Items[i*n:(i+1)*n]), nil
	}
	t := v.Tensor
	shape := t.Shape()[1:]
	n, err := shape.NumElements()
	if err != nil {
		return engine.Value{}, err
	}
	if d := t.DType(); d.Fixed() {
		t, err = tensor.FromBytes(d, t.Bytes()[i*n*d.Size():(i+1)*n*d.Size()], shape...)
	} else {
		t, err = tensor.FromStrings(d, t.Strings()[i*n:(i+1)*n], shape...)
	}
	return engine.ValueOf(t), err
}

// handles returns a tensor of handles, or the one handle of a scalar.
func handles(shape tensor.Shape, items []any) engine.Value {
	if len(shape) == 0 && len(items) == 1 {
		return engine.HandleOf(items[0])
	}
	return engine.HandleOf(&engine.Handles{Shape: shape, Items: items})
}

// rangeDataset makes a dataset of numbers: from the start to before the stop.
func rangeDataset(c *engine.Call) error {
	var v [3]int64
	for i, what := range []string{"the start", "the stop", "the step"} {
		var err error
		if v[i], err = intIn(c, i, what); err != nil {
			return err
		}
	}
	start, stop, step := v[0], v[1], v[2]
	if step == 0 {
		return fmt.Errorf("the step must not be 0")
	}
	d := tensor.Int64
	if types := c.Attrs().Types("output_types"); len(types) == 1 {
		d = types[0]
	}
	if _, err := number(d, 0); err != nil {
		return err
	}
	n := rangeLen(start, stop, step)
	c.SetObject(0, of(c, n, sourceFunc(func(*engine.Call, int) (iterator, error) {
		at := int64(0)
		return iteratorFunc(func(*engine.Call) (element, bool, error) {
			if at >= n {
				return nil, false, nil
			}
			t, err := number(d, start+at*step)
			at++
			return element{engine.ValueOf(t)}, err == nil, err
		}), nil
	})))
	return nil
}

// rangeLen returns how many numbers there are from start on by step, before stop.
func rangeLen(start, stop, step int64) int64 {
	if step > 0 && start >= stop || step < 0 && start <= stop {
		return 0
	}
	// Distances of 64 bits don't overflow as unsigned numbers.
	gap, by := uint64(stop)-uint64(start), uint64(step)
	if step < 0 {
		gap, by = uint64(start)-uint64(stop), -by
	}
	return int64(min((gap-1)/by, math.MaxInt64-1)) + 1
}

// number returns a scalar.
func number(d tensor.DType, v int64) (*tensor.Tensor, error) {
	t := tensor.Scalar(v)
	if d == tensor.Int64 {
		return t, nil
	}
	return tensor.Cast(t, d)
}

// concatenated makes a dataset of the elements of one and then of another.
func concatenated(c *engine.Call) error {
	a, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	b, err := datasetIn(c, 1)
	if err != nil {
		return err
	}
	if len(a.types) != len(b.types) {
		return fmt.Errorf("the datasets have elements of %d and of %d components", len(a.types), len(b.types))
	}
	for i, d := range a.types {
		if d != b.types[i] {
			return fmt.Errorf("component %d of the elements is %v in one dataset and %v in the other", i, d, b.types[i])
		}
	}
	size := unknown
	switch {
	case a.size == infinite || b.size == infinite:
		size = infinite
	case a.size >= 0 && b.size >= 0:
		size = a.size + b.size
	}
	c.SetObject(0, of(c, size, sourceFunc(func(c *engine.Call, depth int) (iterator, error) {
		it, err := a.iterate(c, depth)
		if err != nil {
			return nil, err
		}
		second := false
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			e, ok, err := pull(c, it)
			if ok || err != nil || second {
				return e, ok, err
			}
			second = true
			if it, err = b.iterate(c, depth); err != nil {
				it = empty
				return nil, false, err
			}
			return pull(c, it)
		}), nil
	})))
	return nil
}

// zipped makes a dataset of the components of several, side by side, as long as
// all of them have elements.
func zipped(c *engine.Call) error {
	in := make([]*Dataset, c.NumIn())
	size := infinite
	for i := range in {
		var err error
		if in[i], err = datasetIn(c, i); err != nil {
			return err
		}
		switch n := in[i].size; {
		case n == unknown || size == unknown:
			size = unknown
		case size == infinite:
			size = n
		case n != infinite:
			size = min(size, n)
		}
	}
	c.SetObject(0, of(c, size, sourceFunc(func(c *engine.Call, depth int) (iterator, error) {
		its := make([]iterator, len(in))
		for i, d := range in {
			var err error
			if its[i], err = d.iterate(c, depth); err != nil {
				return nil, err
			}
		}
		ended := false
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			var out element
			for _, it := range its {
				if ended {
					break
				}
				e, ok, err := pull(c, it)
				if err != nil {
					return nil, false, err
				}
				ended = !ok
				out = append(out, e...)
			}
			return out, !ended, nil
		}), nil
	})))
	return nil
}

// listed makes a dataset of elements that follow each other in the inputs.
func listed(c *engine.Call) error {
	n := len(c.Attrs().Types("output_types"))
	if n == 0 || c.NumIn()%n != 0 {
		return fmt.Errorf("%d tensors aren't elements of %d components", c.NumIn(), n)
	}
	all := owned(c, 0, c.NumIn())
	var out list
	for len(all) > 0 {
		out = append(out, slices.Clip(all[:n]))
		all = all[n:]
	}
	d := of(c, int64(len(out)), out)
	for _, e := range out {
		if err := check(e, d.types, d.shapes); err != nil {
			return err
		}
	}
	c.SetObject(0, d)
	return nil
}

// randomNumbers makes a dataset of random numbers of 32 bits, without end.
func randomNumbers(c *engine.Call) error {
	s, err := twoSeeds(c, 0, false)
	if err != nil {
		return err
	}
	c.SetObject(0, of(c, infinite, sourceFunc(func(*engine.Call, int) (iterator, error) {
		drawn := s.next()
		return iteratorFunc(func(*engine.Call) (element, bool, error) {
			return element{engine.ValueOf(tensor.Scalar(int64(drawn.next())))}, true, nil
		}), nil
	})))
	return nil
}
