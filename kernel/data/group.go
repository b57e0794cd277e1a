package data

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of GroupByWindowDataset and GroupByReducerDataset.

// scalarShapes returns the shapes of n scalars.
func scalarShapes(n int) []graph.PartialShape {
	return slices.Repeat([]graph.PartialShape{graph.ShapeOf()}, n)
}

// functionOf is the attribute of an op's function, and the attribute with the
// types of its captures.
type functionOf struct{ attr, captures string }

// withFunctions prepares an op of several functions, whose captures follow each
// other after input 0.
func withFunctions(make func(c *engine.Call, fs []*closure) error, which ...functionOf) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		var compiled []engine.Function
		ends := []int{1}
		for _, w := range which {
			f, err := n.Function(w.attr, nil)
			if err != nil {
				return nil, err
			}
			compiled = append(compiled, f)
			ends = append(ends, ends[len(ends)-1]+len(n.Attrs.Types(w.captures)))
		}
		return func(c *engine.Call) error {
			if c.NumIn() != ends[len(ends)-1] {
				return fmt.Errorf("takes %d inputs, %d were given", ends[len(ends)-1], c.NumIn())
			}
			var fs []*closure
			for i, f := range compiled {
				fs = append(fs, &closure{f, owned(c, ends[i], ends[i+1])})
			}
			return make(c, fs)
		}, nil
	}
}

// integer runs a function that returns one number.
func (f *closure) integer(c *engine.Call, what string, in ...element) (int64, error) {
	out, err := f.call(c, in...)
	if err != nil {
		return 0, err
	}
	if len(out) != 1 || out[0].Tensor == nil || out[0].Tensor.DType() != tensor.Int64 || out[0].Tensor.Len() != 1 {
		return 0, fmt.Errorf("%s doesn't return one int64", what)
	}
	return tensor.Values[int64](out[0].Tensor)[0], nil
}

// groupByWindow collects elements of one key until their number is the window's
// size. A function makes a dataset of each window, and its elements are
// returned. Incomplete windows come at the end, in the order of the keys.
var groupByWindow = withFunctions(func(c *engine.Call, fs []*closure) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	c.SetObject(0, of(c, unknown, sourceFunc(func(c *engine.Call, depth int) (iterator, error) {
		it, err := in.iterate(c, depth)
		if err != nil {
			return nil, err
		}
		return &windower{in: it, of: in, depth: depth, key: fs[0], reduce: fs[1], size: fs[2], groups: map[int64]list{}, sizes: map[int64]int64{}}, nil
	})))
	return nil
}, functionOf{"key_func", "Tkey_func_other_arguments"}, functionOf{"reduce_func", "Treduce_func_other_arguments"}, functionOf{"window_size_func", "Twindow_size_func_other_arguments"})

type windower struct {
	in                iterator
	of                *Dataset
	depth             int
	key, reduce, size *closure

	groups map[int64]list  // by key
	sizes  map[int64]int64 // of windows, by key; a key's size is computed once
	bytes  int64           // memory of all groups
	open   iterator        // over the dataset that the function made of a window
	ended  bool
}

func (x *windower) next(c *engine.Call) (element, bool, error) {
	for {
		if x.open != nil {
			e, ok, err := pull(c, x.open)
			if ok || err != nil {
				return e, ok, err
			}
			x.open = nil
		}
		key, full, err := x.collect(c)
		if err != nil {
			return nil, false, err
		}
		if !full {
			return nil, false, nil
		}
		window := x.groups[key]
		delete(x.groups, key)
		for _, e := range window {
			x.bytes -= bytesOf(e)
		}
		d := &Dataset{source: window, size: int64(len(window)), types: x.of.types, shapes: x.of.shapes}
		made, err := x.reduce.dataset(c, element{engine.ValueOf(tensor.Scalar(key))}, element{engine.HandleOf(d)})
		if err != nil {
			return nil, false, err
		}
		if x.open, err = made.iterate(c, x.depth); err != nil {
			return nil, false, err
		}
	}
}

// collect reads elements until a window is full, or until the elements end and
// there are windows left.
func (x *windower) collect(c *engine.Call) (key int64, ok bool, err error) {
	for !x.ended {
		e, more, err := pull(c, x.in)
		if err != nil {
			return 0, false, err
		}
		if !more {
			x.ended = true
			break
		}
		if key, err = x.key.integer(c, "the key's function", e); err != nil {
			return 0, false, err
		}
		if _, known := x.sizes[key]; !known {
			n, err := x.size.integer(c, "the function of a window's size", element{engine.ValueOf(tensor.Scalar(key))})
			if err != nil {
				return 0, false, err
			}
			if n < 1 {
				return 0, false, fmt.Errorf("a window's size is %d, less than 1", n)
			}
			x.sizes[key] = n
		}
		x.bytes += bytesOf(e)
		if err := c.Afford(x.bytes); err != nil {
			return 0, false, err
		}
		x.groups[key] = append(x.groups[key], e)
		if int64(len(x.groups[key])) == x.sizes[key] {
			return key, true, nil
		}
	}
	for k := range x.groups {
		if !ok || k < key {
			key, ok = k, true
		}
	}
	return key, ok, nil
}

// groupByReducer reduces the elements of each key to one, in the order of the keys.
var groupByReducer = withFunctions(func(c *engine.Call, fs []*closure) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	c.SetObject(0, of(c, unknown, over(in, func(it iterator) iterator {
		var done iterator
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			if done == nil {
				all, err := reducedByKey(c, it, fs[0], fs[1], fs[2], fs[3])
				if err != nil {
					return nil, false, err
				}
				done, _ = all.iterate(c, 0)
			}
			return pull(c, done)
		})
	})))
	return nil
}, functionOf{"key_func", "Tkey_func_other_arguments"}, functionOf{"init_func", "Tinit_func_other_arguments"},
	functionOf{"reduce_func", "Treduce_func_other_arguments"}, functionOf{"finalize_func", "Tfinalize_func_other_arguments"})

// reducedByKey reads all elements and returns the results in the order of the
// keys, which is that of TensorFlow's std::map.
func reducedByKey(c *engine.Call, it iterator, key, begin, reduce, finalize *closure) (list, error) {
	states := map[int64]element{}
	var keys []int64
	for {
		e, ok, err := pull(c, it)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		k, err := key.integer(c, "the key's function", e)
		if err != nil {
			return nil, err
		}
		state, known := states[k]
		if !known {
			if state, err = begin.call(c, element{engine.ValueOf(tensor.Scalar(k))}); err != nil {
				return nil, err
			}
			keys = append(keys, k)
			if err := c.Afford(int64(len(keys)) * 64); err != nil {
				return nil, err
			}
		}
		if states[k], err = reduce.call(c, state, e); err != nil {
			return nil, err
		}
	}
	slices.Sort(keys)
	var out list
	for _, k := range keys {
		e, err := finalize.call(c, states[k])
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}
