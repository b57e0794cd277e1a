package data

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of MapDataset, FilterDataset, TakeWhileDataset, ScanDataset and
// ReduceDataset, with their parallel forms. Functions run one element at a
// time, in order.

// closure is a function of a dataset with its captures.
type closure struct {
	f        engine.Function
	captured element
}

// call runs the function on elements. The results own their memory.
func (f *closure) call(c *engine.Call, in ...element) (element, error) {
	var args []engine.Value
	for _, e := range append(in, f.captured) {
		args = append(args, e...)
	}
	out, err := f.f.Call(c, args, nil)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i] = keep(c, out[i])
	}
	return out, nil
}

// holds reports whether the function, a predicate, is true of the elements.
func (f *closure) holds(c *engine.Call, in ...element) (bool, error) {
	out, err := f.call(c, in...)
	if err != nil {
		return false, err
	}
	return truth(out[len(out)-1:])
}

func truth(out element) (bool, error) {
	if len(out) != 1 || out[0].Tensor == nil || out[0].Tensor.DType() != tensor.Bool || out[0].Tensor.Len() != 1 {
		return false, fmt.Errorf("the predicate doesn't return one bool")
	}
	return tensor.Values[bool](out[0].Tensor)[0], nil
}

// withFunction prepares an op that makes a dataset of a function, which attr
// names, and of the values that it captures: inputs from the given one on, as many
// as the attribute count lists types. next is the index of the input after these.
func withFunction(attr, count string, from int, make func(c *engine.Call, f *closure, next int) error) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		f, err := n.Function(attr, nil)
		if err != nil {
			return nil, err
		}
		captured := len(n.Attrs.Types(count))
		return func(c *engine.Call) error {
			end := from + captured
			if c.NumIn() < end {
				return fmt.Errorf("takes %d inputs, %d were given", end, c.NumIn())
			}
			return make(c, &closure{f, owned(c, from, end)}, end)
		}, nil
	}
}

// mapped prepares MapDataset and its parallel forms: one element for each, in the
// same order.
func mapped(n *engine.Node) (func(*engine.Call) error, error) {
	keepSize := n.Attrs.Bool("preserve_cardinality")
	return withFunction("f", "Targuments", 1, func(c *engine.Call, f *closure, _ int) error {
		in, err := datasetIn(c, 0)
		if err != nil {
			return err
		}
		size := unknown
		if keepSize {
			size = in.size
		}
		c.SetObject(0, of(c, size, over(in, func(it iterator) iterator { return &mapper{it, f, keepSize} })))
		return nil
	})(n)
}

// over returns a source. Each of its iterators is made of an iterator of in.
func over(in *Dataset, make func(it iterator) iterator) source {
	return sourceFunc(func(c *engine.Call, depth int) (iterator, error) {
		it, err := in.iterate(c, depth)
		if err != nil {
			return nil, err
		}
		return make(it), nil
	})
}

type mapper struct {
	in       iterator
	f        *closure
	keepSize bool // the function must not end the sequence
}

func (m *mapper) next(c *engine.Call) (element, bool, error) {
	e, ok, err := pull(c, m.in)
	if err != nil || !ok {
		return nil, false, err
	}
	out, err := m.f.call(c, e)
	if err != nil {
		return nil, false, m.ended(err)
	}
	return out, true, nil
}

// ended returns nil for an error that ends the sequence: a function may take
// elements of another iterator until there are none.
func (m *mapper) ended(err error) error {
	if !errors.Is(err, ErrEndOfSequence) {
		return err
	}
	if m.keepSize {
		return fmt.Errorf("the function came to the end of a sequence, but there are more elements: %v", err)
	}
	return nil
}

// filtered prepares FilterDataset.
var filtered = withFunction("predicate", "Targuments", 1, func(c *engine.Call, f *closure, _ int) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	c.SetObject(0, of(c, unknown, over(in, func(it iterator) iterator {
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			for {
				e, ok, err := pull(c, it)
				if err != nil || !ok {
					return nil, false, err
				}
				if yes, err := f.holds(c, e); err != nil || yes {
					return e, err == nil, err
				}
			}
		})
	})))
	return nil
})

// takeWhile prepares TakeWhileDataset: elements up to the first that the predicate
// doesn't hold of.
var takeWhile = withFunction("predicate", "Targuments", 1, func(c *engine.Call, f *closure, _ int) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	c.SetObject(0, of(c, unknown, over(in, func(it iterator) iterator {
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			e, ok, err := pull(c, it)
			if err != nil || !ok {
				return nil, false, err
			}
			yes, err := f.holds(c, e)
			if err != nil || !yes {
				it = empty
				return nil, false, err
			}
			return e, true, nil
		})
	})))
	return nil
})

// scanned prepares ScanDataset, whose function takes a state and an element and
// returns the next state and an element.
func scanned(n *engine.Node) (func(*engine.Call) error, error) {
	states := len(n.Attrs.Types("Tstate"))
	return withFunction("f", "Targuments", 1+states, func(c *engine.Call, f *closure, _ int) error {
		in, err := datasetIn(c, 0)
		if err != nil {
			return err
		}
		size := unknown
		if c.Attrs().Bool("preserve_cardinality") {
			size = in.size
		}
		first := owned(c, 1, 1+states)
		c.SetObject(0, of(c, size, over(in, func(it iterator) iterator { return &scanner{it, f, first} })))
		return nil
	})(n)
}

type scanner struct {
	in    iterator
	f     *closure
	state element
}

func (s *scanner) next(c *engine.Call) (element, bool, error) {
	e, ok, err := pull(c, s.in)
	if err != nil || !ok {
		return nil, false, err
	}
	out, err := s.f.call(c, s.state, e)
	n := len(s.state)
	switch {
	case errors.Is(err, ErrEndOfSequence):
		return nil, false, nil // the end of another iterator ends this one
	case err != nil:
		return nil, false, err
	case len(out) < n:
		return nil, false, fmt.Errorf("the function returns %d values, fewer than the %d of the state", len(out), n)
	}
	s.state = slices.Clip(out[:n])
	return out[n:], true, nil
}

// reduced prepares ReduceDataset, which visits all elements and returns the
// last state.
func reduced(n *engine.Node) (func(*engine.Call) error, error) {
	f, err := n.Function("f", nil)
	if err != nil {
		return nil, err
	}
	states, captured := len(n.Attrs.Types("Tstate")), len(n.Attrs.Types("Targuments"))
	return alone(func(c *engine.Call) error {
		if c.NumIn() != 1+states+captured {
			return fmt.Errorf("takes %d inputs, %d were given", 1+states+captured, c.NumIn())
		}
		in, err := datasetIn(c, 0)
		if err != nil {
			return err
		}
		it, err := in.iterate(c, 0)
		if err != nil {
			return err
		}
		// The state is moved from round to round, so that the function may change
		// it in place: a list that grows is never copied.
		var state []engine.Value
		for i := range states {
			state = append(state, c.Refs().Take(1+i))
		}
		for {
			e, ok, err := pull(c, it)
			if err != nil {
				return err
			}
			if !ok {
				return give(c, state)
			}
			args := append(state, e...)
			for i := range captured {
				args = append(args, c.Refs().Share(1+states+i))
			}
			if state, err = f.Call(c, args, args[:0]); err != nil {
				return err
			}
			if len(state) != states {
				return fmt.Errorf("the function returns %d values, the state has %d", len(state), states)
			}
		}
	}), nil
}
