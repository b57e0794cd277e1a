// Package variant contains the objects of TensorFlow's variants: lists of
// tensors, optionals, composites, ragged tensors and single tensors. Many packages
// of kernels use it.
package variant

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// List is a list of tensors, or of variants.
type List struct {
	DType tensor.DType       // of the elements
	Shape graph.PartialShape // that the elements have in common
	Max   int                // most elements; 0 or less: no limit
	Items []engine.Value     // the zero Value is an element that was not set
}

// VariantName returns TensorFlow's name of the variant.
func (*List) VariantName() string { return "tensorflow::TensorList" }

// Escape makes the elements last beyond the call.
func (l *List) Escape() { escape(l.Items) }

// Contents returns the elements, for [engine.Value.Keep].
func (l *List) Contents() []engine.Value { return l.Items }

// Held returns the memory of the list itself, without its elements.
func (l *List) Held() int64 { return int64(cap(l.Items)) * int64(unsafe.Sizeof(engine.Value{})) }

// Free releases the elements and their memory.
func (l *List) Free(a *engine.Arena) {
	a.ReleaseAll(l.Items)
	l.Items = nil
}

// Optional is a tuple of values, or empty.
type Optional struct {
	Has    bool
	Values []engine.Value
}

// VariantName returns TensorFlow's name of the variant.
func (*Optional) VariantName() string { return "tensorflow::data::Optional" }

// Escape makes the values last beyond the call.
func (o *Optional) Escape() { escape(o.Values) }

// Contents returns the values, for [engine.Value.Keep].
func (o *Optional) Contents() []engine.Value { return o.Values }

// Free releases the values.
func (o *Optional) Free(a *engine.Arena) { free(a, o.Values) }

// escape makes values last beyond the call. Values that last already are only
// read, because goroutines may share the list.
func escape(vs []engine.Value) {
	for i, v := range vs {
		if v.IsZero() {
			continue
		}
		if kept := v.Keep(); !v.Kept() {
			vs[i] = kept
		}
	}
}

// free releases values.
func free(a *engine.Arena, vs []engine.Value) {
	for _, v := range vs {
		a.Release(v)
	}
}

// Copy returns a list of the same elements, with one more reference to each and
// room for extra more. It returns the cause if the call's context ends.
func (l *List) Copy(c *engine.Call, extra int) (*List, error) {
	n := *l
	n.Items = c.Refs().Values(len(l.Items) + extra)[:len(l.Items)]
	for i, v := range l.Items {
		if err := Ended(c, i); err != nil {
			c.Refs().ReleaseAll(n.Items[:i])
			return nil, err
		}
		n.Items[i] = c.Refs().Retain(v)
	}
	return &n, nil
}

// Grow appends n elements that are not set. It returns the cause if the call's context
// ends; the list then has some of them. If the memory exceeds the limit of the call, Grow
// does not return; see [engine.Call.Scratch].
func (l *List) Grow(c *engine.Call, n int) error {
	from := len(l.Items)
	if n > cap(l.Items)-from {
		room := max(n, min(from, 1<<16)) // so that lists that grow one by one are rarely copied
		more := c.Refs().Values(from + room)
		for i := 0; i < from; i += 4096 {
			if err := Ended(c, i+4095); err != nil {
				return err
			}
			copy(more[i:], l.Items[i:min(i+4096, from)])
		}
		l.Items = more[:from]
	}
	for i := 0; i < n; i += 4096 {
		if err := Ended(c, i+4095); err != nil {
			return err
		}
		k := min(4096, n-i)
		l.Items = l.Items[:len(l.Items)+k]
		clear(l.Items[len(l.Items)-k:])
	}
	return nil
}

// Ended returns the cause if the call's context has ended. It looks at every 4,096th i.
// Unlike [engine.Call.Step] it ends calls of lists too.
func Ended(c *engine.Call, i int) error {
	if i%4096 == 4095 && c.Context().Err() != nil {
		return context.Cause(c.Context())
	}
	return nil
}

// ElementShape returns the shape of elements that were not set. It merges the
// list's shape, the shapes of elements that were set, and want.
func (l *List) ElementShape(want graph.PartialShape) (graph.PartialShape, error) {
	s, err := l.Shape.Merge(want)
	if err != nil {
		return s, fmt.Errorf("the elements have shape %v, not %v", l.Shape, want)
	}
	for _, v := range l.Items {
		if s.Known() {
			break
		}
		if v.Tensor == nil {
			continue
		}
		if s, err = s.Merge(graph.Whole(v.Tensor.Shape())); err != nil {
			return s, fmt.Errorf("the elements differ in shape: one is %v, others are %v", v.Tensor.Shape(), s)
		}
	}
	return s, nil
}

// Map returns the list of the results of f for the elements of l. Elements that
// are not set stay unset.
func (l *List) Map(f func(engine.Value) (engine.Value, error)) (*List, error) {
	n := *l
	n.Items = make([]engine.Value, len(l.Items))
	for i, v := range l.Items {
		if v.IsZero() {
			continue
		}
		var err error
		if n.Items[i], err = f(v); err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return &n, nil
}

// Nothing is a variant without content: a branch returns it for a value that
// only another branch computes. Its zeros are Nothing, and it adds nothing to a
// sum.
type Nothing struct{}

// VariantName returns a name for messages.
func (Nothing) VariantName() string { return "variant without a value" }

// Escape does nothing.
func (Nothing) Escape() {}

// Free does nothing.
func (Nothing) Free(*engine.Arena) {}

// Zeros returns v with zeros for its elements: of a tensor, or of the tensors
// in a variant. The result is a new value or reference.
func Zeros(c *engine.Call, v engine.Value) (engine.Value, error) { return zeros(c, v, 0) }

// maxDepth bounds the nesting of variants whose zeros or sum are computed. The limit
// is Cairn's.
const maxDepth = 1000

// enter checks the context and the depth before the contents of a variant are computed.
func enter(c *engine.Call, v engine.Value, depth int) error {
	if v.Object == nil {
		return nil
	}
	if depth > maxDepth {
		return fmt.Errorf("variants are nested more than %d levels deep", maxDepth)
	}
	return c.Context().Err()
}

func zeros(c *engine.Call, v engine.Value, depth int) (engine.Value, error) {
	if err := enter(c, v, depth); err != nil {
		return engine.Value{}, err
	}
	switch o := v.Object.(type) {
	case *List:
		n, err := o.Map(func(v engine.Value) (engine.Value, error) { return zeros(c, v, depth+1) })
		if err != nil {
			return engine.Value{}, err
		}
		return c.Refs().Wrap(n), nil
	case *Optional:
		n := &Optional{Has: o.Has}
		for _, v := range o.Values {
			z, err := zeros(c, v, depth+1)
			if err != nil {
				return engine.Value{}, err
			}
			n.Values = append(n.Values, z)
		}
		return c.Refs().Wrap(n), nil
	case *Composite:
		n := &Composite{Metadata: o.Metadata}
		for _, v := range o.Components {
			z, err := zeros(c, v, depth+1)
			if err != nil {
				return engine.Value{}, err
			}
			n.Components = append(n.Components, z)
		}
		return c.Refs().Wrap(n), nil
	case *Ragged:
		z, err := tensor.Zeros(o.Values.DType(), o.Values.Shape()...)
		if err != nil {
			return engine.Value{}, err
		}
		return c.Refs().Wrap(&Ragged{Splits: o.Splits, Values: z}), nil
	case Nothing:
		return c.Refs().Retain(v), nil
	}
	if v.Tensor == nil {
		return engine.Value{}, fmt.Errorf("there are no zeros of %v", v.DType())
	}
	return ZerosOf(c, v.Tensor.DType(), v.Tensor.Shape())
}

// ZerosOf returns a new tensor of zeros.
func ZerosOf(c *engine.Call, d tensor.DType, s tensor.Shape) (engine.Value, error) {
	v, err := c.Refs().New(d, s)
	if err == nil && d.Fixed() {
		clear(v.Tensor.Bytes())
	}
	return v, err
}

// Add returns the sum of two values; lists are added element by element. sum
// adds tensors. An element that is not set counts as zero, and so does
// [Nothing].
func Add(c *engine.Call, a, b engine.Value, sum func(a, b *tensor.Tensor) (engine.Value, error)) (engine.Value, error) {
	return add(c, a, b, 0, sum)
}

func add(c *engine.Call, a, b engine.Value, depth int, sum func(a, b *tensor.Tensor) (engine.Value, error)) (engine.Value, error) {
	if err := enter(c, a, depth); err != nil {
		return engine.Value{}, err
	}
	if _, ok := b.Object.(Nothing); ok {
		return c.Refs().Retain(a), nil
	}
	switch x := a.Object.(type) {
	case Nothing:
		return c.Refs().Retain(b), nil
	case *List:
		y, ok := b.Object.(*List)
		if !ok || x.DType != y.DType || len(x.Items) != len(y.Items) {
			return engine.Value{}, fmt.Errorf("only lists of one length and type can be added")
		}
		shape, err := x.Shape.Merge(y.Shape)
		if err != nil {
			return engine.Value{}, fmt.Errorf("lists of elements of shapes %v and %v can't be added", x.Shape, y.Shape)
		}
		n := &List{DType: x.DType, Shape: shape, Max: x.Max, Items: c.Refs().Values(len(x.Items))}
		for i := range x.Items {
			switch {
			case x.Items[i].IsZero():
				n.Items[i] = c.Refs().Retain(y.Items[i])
			case y.Items[i].IsZero():
				n.Items[i] = c.Refs().Retain(x.Items[i])
			default:
				if n.Items[i], err = add(c, x.Items[i], y.Items[i], depth+1, sum); err != nil {
					return engine.Value{}, fmt.Errorf("element %d: %w", i, err)
				}
			}
		}
		return c.Refs().Wrap(n), nil
	case *Optional:
		y, ok := b.Object.(*Optional)
		if !ok || x.Has != y.Has || len(x.Values) != len(y.Values) {
			return engine.Value{}, fmt.Errorf("only optionals of the same kinds can be added")
		}
		n := &Optional{Has: x.Has}
		for i := range x.Values {
			v, err := add(c, x.Values[i], y.Values[i], depth+1, sum)
			if err != nil {
				return engine.Value{}, err
			}
			n.Values = append(n.Values, v)
		}
		return c.Refs().Wrap(n), nil
	case *Composite:
		y, ok := b.Object.(*Composite)
		if !ok || x.Metadata != y.Metadata || len(x.Components) != len(y.Components) {
			return engine.Value{}, fmt.Errorf("only composite tensors of one kind can be added")
		}
		n := &Composite{Metadata: x.Metadata}
		for i := range x.Components {
			v, err := add(c, x.Components[i], y.Components[i], depth+1, sum)
			if err != nil {
				return engine.Value{}, fmt.Errorf("component %d: %w", i, err)
			}
			n.Components = append(n.Components, v)
		}
		return c.Refs().Wrap(n), nil
	case *Ragged:
		y, ok := b.Object.(*Ragged)
		if !ok || !slices.EqualFunc(x.Splits, y.Splits, slices.Equal) || !slices.Equal(x.Values.Shape(), y.Values.Shape()) {
			return engine.Value{}, fmt.Errorf("only ragged tensors of the same rows can be added")
		}
		v, err := sum(x.Values, y.Values)
		if err != nil {
			return engine.Value{}, err
		}
		values := v.Tensor.Clone()
		c.Refs().Release(v)
		return c.Refs().Wrap(&Ragged{Splits: x.Splits, Values: values}), nil
	}
	if a.Tensor == nil || b.Tensor == nil {
		return engine.Value{}, fmt.Errorf("%v can't be added", a.DType())
	}
	return sum(a.Tensor, b.Tensor)
}

// Tensor is a tensor as a variant: a part of a value that is encoded as
// variants.
type Tensor struct{ Value *tensor.Tensor }

// VariantName returns TensorFlow's name of the variant.
func (*Tensor) VariantName() string { return "tensorflow::Tensor" }

// Escape does nothing, because the tensor owns its memory.
func (*Tensor) Escape() {}

// Free does nothing, because the tensor owns its memory.
func (*Tensor) Free(*engine.Arena) {}

// Ragged is a ragged tensor: row splits from the outermost level to the
// innermost one, and the values that they divide. Its tensors own their memory, and no op
// changes it.
type Ragged struct {
	Splits [][]int64
	Values *tensor.Tensor
}

// VariantName returns TensorFlow's name of the variant.
func (*Ragged) VariantName() string { return "RaggedTensorVariant" }

// Escape does nothing, because the tensors own their memory.
func (*Ragged) Escape() {}

// Free does nothing, because the tensors own their memory.
func (*Ragged) Free(*engine.Arena) {}

// Unchanging marks the ragged tensor as one that no op changes.
func (*Ragged) Unchanging() {}
