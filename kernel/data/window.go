package data

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of WindowDataset and SlidingWindowDataset. Sizes, shifts and
// strides count elements.

// windowsIn reads the dataset and the sizes that both kinds of windows take.
func windowsIn(c *engine.Call) (*Dataset, windows, error) {
	in, err := datasetIn(c, 0)
	if err != nil {
		return nil, windows{}, err
	}
	var v [3]int64
	for i, what := range []string{"the size", "the shift", "the stride"} {
		if v[i], err = intIn(c, 1+i, what); err == nil && v[i] < 1 {
			err = fmt.Errorf("%s of windows is %d, less than 1", what, v[i])
		}
		if err != nil {
			return nil, windows{}, err
		}
	}
	w := windows{size: v[0], shift: v[1], stride: v[2], types: in.types, shapes: in.shapes}
	if w.size > 1 && w.stride > (1<<62)/w.size {
		return nil, windows{}, fmt.Errorf("a window of %d elements, %d apart, is too long", w.size, w.stride)
	}
	return in, w, nil
}

// windowed makes datasets of size elements each: every stride-th element of the input
// from the window's first one on. Each window begins shift elements after the one before.
func windowed(c *engine.Call) error {
	in, w, err := windowsIn(c)
	if err != nil {
		return err
	}
	if w.drop, err = boolIn(c, 4, "drop_remainder"); err != nil {
		return err
	}
	c.SetObject(0, of(c, w.count(in.size), over(in, func(it iterator) iterator {
		made := w
		made.in = it
		return &made
	})))
	return nil
}

type windows struct {
	size, shift, stride int64
	drop                bool
	types               []tensor.DType
	shapes              []graph.PartialShape

	// The fields below are the state of one iterator. Each iterator has a copy of windows.
	in    iterator
	skip  int64     // elements to drop before the next window, if shift is longer than the elements read
	items []element // from the window's first element on
	ended bool
}

// span returns how many elements a window reaches over.
func (w *windows) span() int64 { return (w.size-1)*w.stride + 1 }

// count returns the number of windows over n elements. A negative n means an infinite or
// unknown number, and so does the result.
func (w *windows) count(n int64) int64 {
	switch {
	case n < 0:
		return n
	case !w.drop:
		return batches(n, w.shift, false)
	case n < w.span():
		return 0
	}
	return (n-w.span())/w.shift + 1
}

// take returns the elements of the next window; none at the end.
func (w *windows) take(c *engine.Call) ([]element, error) {
	for !w.ended && int64(len(w.items)) < w.span() {
		e, ok, err := pull(c, w.in)
		if err != nil {
			return nil, err
		}
		switch {
		case !ok:
			w.ended = true
		case w.skip > 0:
			w.skip--
		default:
			// All elements are counted as if they were as large as the last one.
			if err := c.Afford(int64(len(w.items)+1) * bytesOf(e)); err != nil {
				return nil, err
			}
			w.items = append(w.items, e)
		}
	}
	if n := int64(len(w.items)); n == 0 || n < w.span() && w.drop {
		return nil, nil
	}
	var picked []element
	for i := int64(0); i < w.size && i*w.stride < int64(len(w.items)); i++ {
		picked = append(picked, w.items[i*w.stride])
	}
	if n := int64(len(w.items)); w.shift < n {
		w.items = append([]element(nil), w.items[w.shift:]...)
	} else {
		w.skip, w.items = w.shift-n, nil
	}
	return picked, nil
}

func (w *windows) next(c *engine.Call) (element, bool, error) {
	picked, err := w.take(c)
	if err != nil || len(picked) == 0 {
		return nil, false, err
	}
	out := make(element, len(picked[0]))
	for k := range out {
		part := make(list, len(picked))
		for i, e := range picked {
			part[i] = element{e[k]}
		}
		d := &Dataset{source: part, size: int64(len(part)), types: []tensor.DType{typeAt(w.types, k)}}
		if k < len(w.shapes) {
			d.shapes = w.shapes[k : k+1]
		}
		out[k] = engine.HandleOf(d)
	}
	return out, true, nil
}

// typeAt returns type k, if it is known.
func typeAt(types []tensor.DType, k int) tensor.DType {
	if k < len(types) {
		return types[k]
	}
	return tensor.Invalid
}

// slidingWindows works like windowed, but stacks the elements of a window to one
// element. Without the attribute, drop_remainder is true, TensorFlow's default.
func slidingWindows(c *engine.Call) error {
	in, w, err := windowsIn(c)
	if err != nil {
		return err
	}
	w.drop = true
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
