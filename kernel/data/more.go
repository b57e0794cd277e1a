package data

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/philox"
	"github.com/cairnml/cairn/tensor"
)

// uniqueElements leaves out elements that came before: one integer or string each.
func uniqueElements(c *engine.Call) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	if len(in.types) != 1 || in.types[0] != tensor.Int32 && in.types[0] != tensor.Int64 && in.types[0] != tensor.String {
		return fmt.Errorf("takes elements of one int32, int64 or string, not %v", in.types)
	}
	c.SetObject(0, of(c, unknown, over(in, func(it iterator) iterator {
		seen, bytes := map[string]bool{}, int64(0)
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			for {
				e, ok, err := pull(c, it)
				if err != nil || !ok {
					return nil, false, err
				}
				key := keyOf(e[0].Tensor)
				if seen[key] {
					continue
				}
				seen[key] = true
				bytes += int64(len(key)) + 48
				return e, true, c.Afford(bytes)
			}
		})
	})))
	return nil
}

// keyOf returns a string that differs where tensors of one type do.
func keyOf(t *tensor.Tensor) string {
	if t == nil {
		return ""
	}
	key := fmt.Sprint(t.Shape())
	if t.DType().Fixed() {
		return key + string(t.Bytes())
	}
	for _, s := range t.Strings() {
		key += fmt.Sprint(len(s), ":", s)
	}
	return key
}

// withoutErrors leaves elements out that can't be computed.
func withoutErrors(c *engine.Call) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	c.SetObject(0, of(c, unknown, over(in, func(it iterator) iterator {
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			for {
				e, ok, err := pull(c, it)
				if err == nil {
					return e, ok, nil
				}
				if stop := c.Context().Err(); stop != nil || errors.Is(err, engine.ErrNotGranted) {
					return nil, false, err
				}
				fmt.Fprintf(c.Log(), "IgnoreErrorsDataset: %v\n", err)
			}
		})
	})))
	return nil
}

// directed takes each element from the dataset that the first one names.
func directed(c *engine.Call) error {
	selector, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	var from []*Dataset
	for i := 1; i < c.NumIn(); i++ {
		d, err := datasetIn(c, i)
		if err != nil {
			return err
		}
		from = append(from, d)
	}
	stop := c.Attrs().Bool("stop_on_empty_dataset")
	c.SetObject(0, of(c, unknown, sourceFunc(func(c *engine.Call, depth int) (iterator, error) {
		choice, err := selector.iterate(c, depth)
		if err != nil {
			return nil, err
		}
		its := make([]iterator, len(from))
		for i, d := range from {
			if its[i], err = d.iterate(c, depth); err != nil {
				return nil, err
			}
		}
		left := len(its)
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			for left > 0 {
				e, ok, err := pull(c, choice)
				if err != nil || !ok {
					return nil, false, err
				}
				if len(e) != 1 || e[0].Tensor == nil || e[0].Tensor.DType() != tensor.Int64 || e[0].Tensor.Len() != 1 {
					return nil, false, fmt.Errorf("the selector doesn't give one int64")
				}
				k := tensor.Values[int64](e[0].Tensor)[0]
				if k < 0 || k >= int64(len(its)) {
					return nil, false, fmt.Errorf("the selector gives %d, there are %d datasets", k, len(its))
				}
				if its[k] == nil {
					continue
				}
				e, ok, err = pull(c, its[k])
				if ok || err != nil {
					return e, ok, err
				}
				its[k] = nil
				if left--; stop {
					left = 0
				}
			}
			return nil, false, nil
		}), nil
	})))
	return nil
}

// slidingWindows joins size elements each, stride apart; each window begins shift
// elements after the one before.
func slidingWindows(c *engine.Call) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	var v [3]int64
	for i, what := range []string{"the size", "the shift", "the stride"} {
		if v[i], err = intIn(c, 1+i, what); err == nil && v[i] < 1 {
			err = fmt.Errorf("%s of windows is %d, less than 1", what, v[i])
		}
		if err != nil {
			return err
		}
	}
	w := windows{size: v[0], shift: v[1], stride: v[2], drop: true, types: in.types, shapes: in.shapes}
	if w.size > 1 && w.stride > (1<<62)/w.size {
		return fmt.Errorf("a window of %d elements, %d apart, is too long", w.size, w.stride)
	}
	if drop, ok := c.Attrs().Lookup("drop_remainder"); ok {
		w.drop = drop.Value() != false
	}
	c.SetObject(0, of(c, w.count(in.size), over(in, func(it iterator) iterator {
		made := w
		made.in = it
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			es, err := made.take(c)
			if err != nil || len(es) == 0 {
				return nil, false, err
			}
			e, err := stack(c, es)
			return e, err == nil, err
		})
	})))
	return nil
}

// rebatched cuts batches into batches of other sizes, which come in turn.
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

	turn  int
	rows  []element
	last  element // of which rows are
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

// listed makes a dataset of elements that stand one after the other in the inputs.
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

// elementAt gives the element of a place.
func elementAt(c *engine.Call) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	at, err := intIn(c, 1, "the index")
	if err != nil {
		return err
	}
	if at < 0 || in.size >= 0 && at >= in.size {
		return fmt.Errorf("index %d is outside of the %d elements", at, in.size)
	}
	it, err := in.iterate(c, 0)
	if err != nil {
		return err
	}
	for ; ; at-- {
		e, ok, err := pull(c, it)
		switch {
		case err != nil:
			return err
		case !ok:
			return fmt.Errorf("index %d is behind the last element", at)
		case at == 0:
			return give(c, e)
		}
	}
}

// randomNumbers makes a dataset of random numbers of 32 bits, without end.
func randomNumbers(c *engine.Call) error {
	a, err := intIn(c, 0, "the seed")
	if err != nil {
		return err
	}
	b, err := intIn(c, 1, "the second seed")
	if err != nil {
		return err
	}
	s := newSeeds(a, b, false)
	c.SetObject(0, of(c, infinite, sourceFunc(func(*engine.Call, int) (iterator, error) {
		drawn := s.next()
		return iteratorFunc(func(*engine.Call) (element, bool, error) {
			return element{engine.ValueOf(tensor.Scalar(int64(drawn.next())))}, true, nil
		}), nil
	})))
	return nil
}

// sampled keeps each element with a probability.
func sampled(c *engine.Call) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	t := c.In(1)
	if t == nil || t.DType() != tensor.Float32 || t.Len() != 1 {
		return fmt.Errorf("the rate is not one float32")
	}
	rate := tensor.Values[float32](t)[0]
	a, err := intIn(c, 2, "the seed")
	if err != nil {
		return err
	}
	b, err := intIn(c, 3, "the second seed")
	if err != nil {
		return err
	}
	s := newSeeds(a, b, false)
	c.SetObject(0, of(c, unknown, over(in, func(it iterator) iterator {
		drawn := s.next()
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			for {
				e, ok, err := pull(c, it)
				if err != nil || !ok {
					return nil, false, err
				}
				if philox.Float32(drawn.next()) < rate {
					return e, true, nil
				}
			}
		})
	})))
	return nil
}
