package data

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// ErrEndOfSequence is the error of an op that takes an element if there is none
// left.
var ErrEndOfSequence = errors.New("end of sequence")

// Dataset describes elements: their source and their transformations. It never
// changes, and any number of iterators may use it at once.
type Dataset struct {
	source source
	size   int64 // the number of elements, or infinite or unknown
	types  []tensor.DType
	shapes []graph.PartialShape // nil if nothing is known
}

// Special numbers of elements, as DatasetCardinality returns them.
const (
	infinite int64 = -1
	unknown  int64 = -2
)

// source makes iterators. depth is the number of iterators above the new one.
type source interface {
	iterate(c *engine.Call, depth int) (iterator, error)
}

// sourceFunc is a function as a source.
type sourceFunc func(c *engine.Call, depth int) (iterator, error)

func (f sourceFunc) iterate(c *engine.Call, depth int) (iterator, error) { return f(c, depth) }

// element is the components of an element. They own their memory, because they
// outlive the call that made them, and are never changed.
type element []engine.Value

// iterator goes through a dataset once. It belongs to one goroutine at a time.
// [pull] calls next.
type iterator interface {
	// next returns the next element. At the end, and at every call after it, it
	// returns false.
	next(c *engine.Call) (element, bool, error)
}

// iteratorFunc is a function as an iterator.
type iteratorFunc func(c *engine.Call) (element, bool, error)

func (f iteratorFunc) next(c *engine.Call) (element, bool, error) { return f(c) }

// empty is an iterator without elements.
var empty = iteratorFunc(func(*engine.Call) (element, bool, error) { return nil, false, nil })

// maxDepth bounds the nesting of iterators: a loop could nest datasets without
// end, and so could a function that makes datasets of itself. TensorFlow has no
// such limit. The number may change, within the size of a goroutine's stack.
const maxDepth = 1000

// iterate returns a new iterator, with depth others above it. Each source
// passes its depth on to the datasets that it reads.
func (d *Dataset) iterate(c *engine.Call, depth int) (iterator, error) {
	if depth++; depth > maxDepth {
		return nil, fmt.Errorf("more than %d datasets are made of each other", maxDepth)
	}
	return d.source.iterate(c, depth)
}

// pull returns the iterator's next element. The end of the call's context ends
// loops over elements here.
func pull(c *engine.Call, it iterator) (element, bool, error) {
	if err := c.Context().Err(); err != nil {
		return nil, false, err
	}
	return it.next(c)
}

// VariantName returns TensorFlow's name of the variant.
func (*Dataset) VariantName() string { return "tensorflow::DatasetVariantWrapper" }

// Escape does nothing, because a dataset owns its memory.
func (*Dataset) Escape() {}

// Free does nothing, because a dataset owns its memory.
func (*Dataset) Free(*engine.Arena) {}

// own returns input i as a value that owns its memory.
func own(c *engine.Call, i int) engine.Value { return keep(c, c.Refs().Share(i)) }

// keep turns a value that belongs to the op into one that owns its memory.
func keep(c *engine.Call, v engine.Value) engine.Value {
	kept := v.Keep()
	c.Refs().Release(v)
	return kept
}

// owned returns the inputs from the given one on, to the one before end, as
// values that own their memory.
func owned(c *engine.Call, from, end int) element {
	out := make(element, 0, end-from)
	for i := from; i < end; i++ {
		out = append(out, own(c, i))
	}
	return out
}

// of returns a dataset whose elements have the types and shapes of the op's
// attributes.
func of(c *engine.Call, size int64, s source) *Dataset {
	as := c.Attrs()
	types := as.Types("output_types")
	if types == nil {
		types = as.Types("Toutput_types")
	}
	return &Dataset{source: s, size: size, types: types, shapes: as.Shapes("output_shapes")}
}

// datasetIn returns the dataset in input i.
func datasetIn(c *engine.Call, i int) (*Dataset, error) { return engine.Object[*Dataset](c, i) }

// intIn returns the integer in input i.
func intIn(c *engine.Call, i int, what string) (int64, error) {
	if i >= c.NumIn() || c.In(i) == nil || c.In(i).Len() != 1 {
		return 0, fmt.Errorf("%s is not one number", what)
	}
	switch t := c.In(i); t.DType() {
	case tensor.Int64:
		return tensor.Values[int64](t)[0], nil
	case tensor.Int32:
		return int64(tensor.Values[int32](t)[0]), nil
	default:
		return 0, fmt.Errorf("%s is %v, not an integer", what, t.DType())
	}
}

// boolIn returns the truth value in input i.
func boolIn(c *engine.Call, i int, what string) (bool, error) {
	if i >= c.NumIn() || c.In(i) == nil || c.In(i).Len() != 1 || c.In(i).DType() != tensor.Bool {
		return false, fmt.Errorf("%s is not one bool", what)
	}
	return tensor.Values[bool](c.In(i))[0], nil
}

// stringsIn returns the strings in input i.
func stringsIn(c *engine.Call, i int, what string) ([]string, error) {
	if i >= c.NumIn() || c.In(i) == nil || c.In(i).DType() != tensor.String {
		return nil, fmt.Errorf("%s are no strings", what)
	}
	return slices.Clone(c.In(i).Strings()), nil
}

// check returns an error for an element that an op with these attributes can't
// return.
func check(e element, types []tensor.DType, shapes []graph.PartialShape) error {
	if types != nil && len(types) != len(e) {
		return fmt.Errorf("an element has %d components, not %d", len(e), len(types))
	}
	for i, v := range e {
		if types != nil && v.DType() != types[i] {
			return fmt.Errorf("component %d is %v, not %v", i, v.DType(), types[i])
		}
		if i < len(shapes) && !shapes[i].Accepts(shapeOf(v)) {
			return fmt.Errorf("component %d has shape %v, not %v", i, shapeOf(v), shapes[i])
		}
	}
	return nil
}

// shapeOf returns a component's shape.
func shapeOf(v engine.Value) tensor.Shape {
	if h, ok := v.Object.(*engine.Handles); ok {
		return h.Shape
	}
	if v.Tensor == nil {
		return tensor.Shape{}
	}
	return v.Tensor.Shape()
}

// give sets the outputs to the components, if they fit the op's attributes.
func give(c *engine.Call, e element) error {
	if err := check(e, c.Attrs().Types("output_types"), c.Attrs().Shapes("output_shapes")); err != nil {
		return err
	}
	for i, v := range e {
		c.Refs().Output(i, v)
	}
	return nil
}
