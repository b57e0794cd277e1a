package data

import (
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/internal/variant"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of iterators: those that make them, MakeIterator,
// IteratorGetNext, IteratorGetNextAsOptional, string handles, and
// DeleteIterator; and those that read a dataset at once, DatasetToSingleElement
// and GetElementAtIndex.

// Iterator is the object of an iterator's handle: it reads the dataset that it
// was last made for. It is safe for concurrent use: one goroutine at a time
// takes an element.
type Iterator struct {
	types  []tensor.DType
	shapes []graph.PartialShape
	handle string // the result of IteratorToStringHandle

	turn // of the goroutine that uses the fields below

	it     iterator       // nil before the first dataset
	states *engine.States // of the functions that it calls
}

func newIterator(as graph.Attrs) *Iterator {
	return &Iterator{types: as.Types("output_types"), shapes: as.Shapes("output_shapes"), turn: newTurn()}
}

// begin sets the iterator to the first element of d.
func (x *Iterator) begin(c *engine.Call, d *Dataset) error {
	if err := x.accepts(d.types, d.shapes); err != nil {
		return err
	}
	it, err := d.iterate(c, 0)
	if err != nil {
		return err
	}
	if err := x.lock(c.Context()); err != nil {
		return err
	}
	defer x.unlock()
	x.it, x.states = it, new(engine.States)
	return nil
}

// accepts checks that elements of these types and shapes can be the iterator's.
func (x *Iterator) accepts(types []tensor.DType, shapes []graph.PartialShape) error {
	if x.types == nil || types == nil {
		return nil
	}
	if len(x.types) != len(types) {
		return fmt.Errorf("the elements have %d components, the iterator's %d", len(types), len(x.types))
	}
	for i, d := range types {
		if d != x.types[i] && d != tensor.Invalid {
			return fmt.Errorf("component %d of the elements is %v, the iterator's %v", i, d, x.types[i])
		}
		if i < len(shapes) && i < len(x.shapes) && !shapes[i].Compatible(x.shapes[i]) {
			return fmt.Errorf("component %d of the elements has shape %v, the iterator's %v", i, shapes[i], x.shapes[i])
		}
	}
	return nil
}

// next returns the next element.
func (x *Iterator) next(c *engine.Call) (element, bool, error) {
	if err := x.lock(c.Context()); err != nil {
		return nil, false, err
	}
	defer x.unlock()
	if x.it == nil {
		return nil, false, fmt.Errorf("the iterator has no dataset: MakeIterator sets one; it is run first, as an initializer")
	}
	return take(c, x.states, x.it)
}

// take returns the next element of an outermost iterator. The states of its
// functions' nodes begin with the iterator and continue from element to
// element.
func take(c *engine.Call, states *engine.States, it iterator) (e element, ok bool, err error) {
	err = engine.WithStates(c, states, func() (err error) {
		e, ok, err = pull(c, it)
		return err
	})
	return e, ok, err
}

// alone returns run with the nodes of all functions that it calls beginning anew.
func alone(run func(*engine.Call) error) func(*engine.Call) error {
	return func(c *engine.Call) error {
		return engine.WithStates(c, new(engine.States), func() error { return run(c) })
	}
}

// namedIterator prepares Iterator: the one of its shared name in the instance, or
// the node's own.
func namedIterator(n *engine.Node) (func(*engine.Call) error, error) {
	find := findIterator(n)
	return func(c *engine.Call) error {
		x, err := find(c)
		if err == nil {
			c.SetObject(0, x)
		}
		return err
	}, nil
}

// findIterator finds the iterator of the node's shared name, or the node's own
// if that is empty. The first call makes it.
func findIterator(n *engine.Node) func(c *engine.Call) (*Iterator, error) {
	as := n.Attrs
	name, container := as.String("shared_name", ""), as.String("container", "")
	return func(c *engine.Call) (*Iterator, error) {
		if name == "" {
			return c.NodeState(func() any { return newIterator(as) }).(*Iterator), nil
		}
		o, err := c.Instance().Resource(engine.ResourceKey{Kind: "iterator", Container: container, Name: name}, func() (any, error) {
			return newIterator(as), nil
		})
		if err != nil {
			return nil, err
		}
		x := o.(*Iterator)
		return x, x.accepts(as.Types("output_types"), as.Shapes("output_shapes"))
	}
}

// oneShot prepares OneShotIterator, whose dataset a function makes when it is
// first used.
func oneShot(n *engine.Node) (func(*engine.Call) error, error) {
	f, err := n.Function("dataset_factory", nil)
	if err != nil {
		return nil, err
	}
	find, factory := findIterator(n), &closure{f: f}
	return func(c *engine.Call) error {
		x, err := find(c)
		if err != nil {
			return err
		}
		if err := x.lock(c.Context()); err != nil {
			return err
		}
		defer x.unlock()
		if x.it == nil { // after an error the next call tries again
			d, err := factory.dataset(c)
			if err != nil {
				return err
			}
			if err := x.accepts(d.types, d.shapes); err != nil {
				return err
			}
			if x.it, err = d.iterate(c, 0); err != nil {
				return err
			}
			x.states = new(engine.States)
		}
		c.SetObject(0, x)
		return nil
	}, nil
}

// anonymous returns a new iterator and, if the op has a second output, the
// variant that deletes it.
func anonymous(c *engine.Call) error {
	c.SetObject(0, newIterator(c.Attrs()))
	if c.Op() == "AnonymousIteratorV2" {
		c.SetObject(1, deleter{})
	}
	return nil
}

// makeIterator sets an iterator's dataset.
func makeIterator(c *engine.Call) error {
	d, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	x, err := engine.Object[*Iterator](c, 1)
	if err != nil {
		return err
	}
	return x.begin(c, d)
}

// getNext returns the next element, or fails if there is none.
func getNext(c *engine.Call) error {
	x, err := engine.Object[*Iterator](c, 0)
	if err != nil {
		return err
	}
	e, ok, err := x.next(c)
	if err != nil {
		return err
	}
	if !ok {
		return ErrEndOfSequence
	}
	return give(c, e)
}

// getNextAsOptional returns the next element as an optional, which is empty if
// there is none.
func getNextAsOptional(c *engine.Call) error {
	x, err := engine.Object[*Iterator](c, 0)
	if err != nil {
		return err
	}
	e, ok, err := x.next(c)
	if err != nil {
		return err
	}
	if ok {
		if err := check(e, c.Attrs().Types("output_types"), c.Attrs().Shapes("output_shapes")); err != nil {
			return err
		}
	}
	c.SetObject(0, &variant.Optional{Has: ok, Values: e})
	return nil
}

// singleElement returns the only element of a dataset.
func singleElement(c *engine.Call) error {
	d, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	it, err := d.iterate(c, 0)
	if err != nil {
		return err
	}
	e, ok, err := pull(c, it)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("the dataset is empty, where one element is wanted")
	}
	if _, more, err := pull(c, it); err != nil {
		return err
	} else if more {
		return fmt.Errorf("the dataset has more than one element")
	}
	return give(c, e)
}

// deleteHandle drops the object of a handle: the garbage collector frees it,
// and an iterator has no dataset any more. It does nothing for the handles of
// caches, seeds and others.
func deleteHandle(c *engine.Call) error {
	if c.NumIn() != 2 {
		return fmt.Errorf("takes 2 inputs, %d were given", c.NumIn())
	}
	x, ok := c.Input(0).Object.(*Iterator)
	if !ok {
		return nil
	}
	if err := x.lock(c.Context()); err != nil {
		return err
	}
	defer x.unlock()
	x.it = nil
	return nil
}

// handleKey returns the key under which an instance keeps the iterator of a
// string handle.
func handleKey(s string) engine.ResourceKey {
	return engine.ResourceKey{Kind: "iterator by its string", Name: s}
}

// counter numbers the string handles of iterators without a name.
var counter atomic.Int64

// toString returns a string handle of an iterator; the instance keeps the
// iterator from then on.
func toString(c *engine.Call) error {
	x, err := engine.Object[*Iterator](c, 0)
	if err != nil {
		return err
	}
	if err := x.lock(c.Context()); err != nil {
		return err
	}
	defer x.unlock()
	if x.handle == "" {
		x.handle = "iterator/" + strconv.FormatInt(counter.Add(1), 10)
		c.Instance().Set(handleKey(x.handle), x)
	}
	c.Set(0, tensor.Scalar(x.handle))
	return nil
}

// fromString returns the iterator of a string handle.
func fromString(c *engine.Call) error {
	s, err := stringsIn(c, 0, "the handle")
	if err != nil {
		return err
	}
	if len(s) != 1 {
		return fmt.Errorf("the handle is %d strings, not one", len(s))
	}
	o, _ := c.Instance().Lookup(handleKey(s[0]))
	x, ok := o.(*Iterator)
	if !ok {
		return fmt.Errorf("the string %.40q names no iterator of this model; IteratorToStringHandle returns the names", s[0])
	}
	if err := x.accepts(c.Attrs().Types("output_types"), c.Attrs().Shapes("output_shapes")); err != nil {
		return err
	}
	c.SetObject(0, x)
	return nil
}

// elementAt returns the element at an index.
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
	for i := int64(0); ; i++ {
		e, ok, err := pull(c, it)
		switch {
		case err != nil:
			return err
		case !ok:
			return fmt.Errorf("index %d is after the last element", at)
		case i == at:
			return give(c, e)
		}
	}
}
