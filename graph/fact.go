package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// Fact describes a value without running anything: an output of a node, or a
// function's argument.
type Fact struct {
	// DType is the type of the elements, Resource or Variant for a handle.
	// Invalid means unknown.
	DType tensor.DType
	// Ref reports whether the value is a reference to a variable of TensorFlow
	// 1.
	Ref bool
	// Shape is the known part of the shape. Default: unknown rank.
	Shape PartialShape
	// Value is the value, if it is known as a whole; nil otherwise.
	Value *tensor.Tensor
	// Elems is the value of an integer scalar or vector with some known
	// elements, in row-major order. It is nil if nothing is known of any element,
	// not even an identity, or if Value is set.
	Elems []Elem
	// Handle describes the contents of a resource or variant: one entry for a
	// variable, one for all elements of a list, one for each component of an
	// optional. Nil means unknown.
	Handle []Content
}

// Content is the type and shape of the value that a handle refers to.
type Content struct {
	DType tensor.DType
	Shape PartialShape
}

// FactOf returns the fact of a known tensor, with its value.
func FactOf(t *tensor.Tensor) Fact {
	return Fact{DType: t.DType(), Shape: Whole(t.Shape()), Value: t}
}

// Elem is an integer that may be unknown: an element of a vector that is known
// in part, such as a shape whose first size is not known yet. The zero value is
// the known number 0.
type Elem struct {
	n  int64
	id int // 0: n is known; -1: unknown; below -1: the identity of an unknown size
}

// ElemOf returns a known element.
func ElemOf(n int64) Elem { return Elem{n: n} }

// SizeElem returns an element that is a size: known, or with the size's
// identity.
func SizeElem(d int) Elem {
	if d >= 0 {
		return Elem{n: int64(d)}
	}
	return Elem{id: d}
}

// UnknownElem returns an unknown element.
func UnknownElem() Elem { return Elem{id: -1} }

// Int returns the element's value, and whether it is known.
func (e Elem) Int() (int64, bool) { return e.n, e.id == 0 }

// Size returns the element as a dimension of a shape. That of an unknown element is
// negative: its identity, or -1. It returns false for a known element that can't be a
// size, below 0 or too large for an int.
func (e Elem) Size() (int, bool) {
	if e.id != 0 {
		return e.id, true
	}
	return int(e.n), e.n >= 0 && int64(int(e.n)) == e.n
}

// String returns the number, or "?".
func (e Elem) String() string {
	if e.id != 0 {
		return "?"
	}
	return fmt.Sprint(e.n)
}

// Ints returns the elements of an integer scalar or vector, as far as they are
// known: all unknown if only its shape is known. It returns false if their number is
// unknown or above 1024, if a uint64 exceeds int64, if the type isn't an integer
// type, or if there is more than one dimension.
func (f Fact) Ints() ([]Elem, bool) {
	switch {
	case f.Value != nil:
		if len(f.Value.Shape()) > 1 {
			return nil, false
		}
		return elemsOf(f.Value)
	case f.Elems != nil:
		return f.Elems, true
	case !isInteger(f.DType) || f.Shape.Rank() > 1 || !f.Shape.Known():
		return nil, false
	}
	n, ok := f.Shape.NumElements()
	if !ok || n > maxElems {
		return nil, false
	}
	out := make([]Elem, n)
	for i := range out {
		out[i] = UnknownElem()
	}
	return out, true
}

// maxElems bounds the vectors that are followed element by element: shapes,
// axes, permutations. Longer ones are no shapes.
const maxElems = 1 << 10

func isInteger(d tensor.DType) bool {
	switch d {
	case tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64:
		return true
	}
	return false
}

func elemsOf(t *tensor.Tensor) ([]Elem, bool) {
	if t.Len() > maxElems {
		return nil, false
	}
	out := make([]Elem, t.Len())
	switch t.DType() {
	case tensor.Int8:
		fillElems(out, tensor.Values[int8](t))
	case tensor.Int16:
		fillElems(out, tensor.Values[int16](t))
	case tensor.Int32:
		fillElems(out, tensor.Values[int32](t))
	case tensor.Int64:
		fillElems(out, tensor.Values[int64](t))
	case tensor.Uint8:
		fillElems(out, tensor.Values[uint8](t))
	case tensor.Uint16:
		fillElems(out, tensor.Values[uint16](t))
	case tensor.Uint32:
		fillElems(out, tensor.Values[uint32](t))
	case tensor.Uint64:
		for i, n := range tensor.Values[uint64](t) {
			if out[i].n = int64(n); out[i].n < 0 {
				return nil, false
			}
		}
	default:
		return nil, false
	}
	return out, true
}

func fillElems[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](out []Elem, in []T) {
	for i, n := range in {
		out[i].n = int64(n)
	}
}

// Int returns the value of an integer that is one element, and whether it is
// known.
func (f Fact) Int() (int64, bool) {
	e, ok := f.Ints()
	if !ok || len(e) != 1 {
		return 0, false
	}
	return e[0].Int()
}

// WithElems returns the fact with the value of these elements. It sets Value if
// all of them are known and the type is int32 or int64. Otherwise it sets Elems,
// unless nothing is known.
func (f Fact) WithElems(e []Elem) Fact {
	f.Value, f.Elems = nil, nil
	unknown := slices.ContainsFunc(e, func(e Elem) bool { return e.id != 0 })
	if !unknown && f.Shape.Known() && (f.DType == tensor.Int32 || f.DType == tensor.Int64) {
		f.Value = tensorOfElems(f.DType, f.Shape.Dims(), e)
		return f
	}
	if slices.ContainsFunc(e, func(e Elem) bool { return e.id != -1 }) {
		f.Elems = e
	}
	return f
}

func tensorOfElems(d tensor.DType, shape tensor.Shape, e []Elem) *tensor.Tensor {
	if d == tensor.Int64 {
		v := make([]int64, len(e))
		for i := range e {
			v[i] = e[i].n
		}
		return tensor.Must(tensor.New(v, shape...))
	}
	v := make([]int32, len(e))
	for i := range e {
		v[i] = int32(e[i].n)
	}
	return tensor.Must(tensor.New(v, shape...))
}

// AsShape returns the shape that an integer vector describes: an element of -1
// is an unknown size. The scalar -1 describes a shape of unknown rank. The second result is false if not even the vector's
// length is known. An element below -1 is an error.
func (f Fact) AsShape() (PartialShape, bool, error) {
	if f.Value != nil && f.Value.Len() == 1 && len(f.Value.Shape()) == 0 {
		if n, ok := f.Int(); ok && n == -1 {
			return PartialShape{}, true, nil
		}
	}
	e, ok := f.Ints()
	if !ok {
		return PartialShape{}, false, nil
	}
	dims := make(tensor.Shape, len(e))
	for i, x := range e {
		d, ok := x.Size()
		if !ok {
			if n, _ := x.Int(); n != -1 {
				return PartialShape{}, false, fmt.Errorf("element %d of the shape is %d", i, n)
			}
			d = -1
		}
		if d == -1 {
			d = NewDim()
		}
		dims[i] = d
	}
	return PartialShape{dims: dims, known: true}, true, nil
}

// Relax returns what is true of a value that has the fact f or the fact o.
func (f Fact) Relax(o Fact) Fact {
	out := Fact{Shape: f.Shape.Relax(o.Shape)}
	if f.DType == o.DType {
		out.DType = f.DType
	}
	out.Ref = f.Ref && o.Ref
	if f.Value != nil && sameTensor(f.Value, o.Value) {
		out.Value = f.Value
	} else if f.Value != nil || f.Elems != nil {
		out = out.withCommon(f, o)
	}
	sameType := func(c, d Content) bool { return c.DType == d.DType }
	if slices.EqualFunc(f.Handle, o.Handle, sameType) {
		for i, c := range f.Handle {
			out.Handle = append(out.Handle, Content{c.DType, c.Shape.Relax(o.Handle[i].Shape)})
		}
	}
	return out
}

// withCommon returns the fact with the elements that a and b have in common.
func (f Fact) withCommon(a, b Fact) Fact {
	x, ok := a.Ints()
	y, yok := b.Ints()
	if !ok || !yok || len(x) != len(y) || f.DType != a.DType || !f.Shape.Known() {
		return f
	}
	e := make([]Elem, len(x))
	for i := range e {
		if e[i] = x[i]; x[i] != y[i] {
			e[i] = UnknownElem()
		}
	}
	return f.WithElems(e)
}

// Alike reports whether two lists of facts are equal up to the identities of
// unknown sizes. The identities of one list must map one to one to those of the
// other.
func Alike(a, b []Fact) bool {
	if len(a) != len(b) {
		return false
	}
	to, from := map[int]int{}, map[int]int{}
	same := func(x, y int) bool {
		if x >= -1 || y >= -1 {
			return x == y
		}
		u, ok := to[x]
		v, back := from[y]
		if !ok && !back {
			to[x], from[y] = y, x
			return true
		}
		return u == y && v == x
	}
	shapes := func(s, o PartialShape) bool {
		return s.known == o.known && slices.EqualFunc(s.dims, o.dims, same)
	}
	for i := range a {
		f, o := a[i], b[i]
		if f.DType != o.DType || f.Ref != o.Ref || !shapes(f.Shape, o.Shape) || !sameTensor(f.Value, o.Value) ||
			!slices.EqualFunc(f.Elems, o.Elems, func(e, g Elem) bool { return e.n == g.n && same(e.id, g.id) }) ||
			!slices.EqualFunc(f.Handle, o.Handle, func(c, d Content) bool { return c.DType == d.DType && shapes(c.Shape, d.Shape) }) {
			return false
		}
	}
	return true
}

// Equal reports whether all properties of both facts are equal, identities of unknown
// sizes included.
func (f Fact) Equal(o Fact) bool {
	return f.DType == o.DType && f.Ref == o.Ref && f.Shape.Equal(o.Shape) && sameTensor(f.Value, o.Value) &&
		slices.Equal(f.Elems, o.Elems) &&
		slices.EqualFunc(f.Handle, o.Handle, func(a, b Content) bool { return a.DType == b.DType && a.Shape.Equal(b.Shape) })
}

// WithoutValue returns the fact without Value and Elems: the same type and shape,
// with any elements.
func (f Fact) WithoutValue() Fact {
	f.Value, f.Elems = nil, nil
	return f
}

// String returns "float32[2,?]", "int32[2]{?,3}" if elements are known, or
// "resource(float32[3])" for a handle.
func (f Fact) String() string {
	var b strings.Builder
	b.WriteString(f.DType.String())
	if f.Ref {
		b.WriteString("_ref")
	}
	if len(f.Handle) > 0 {
		b.WriteByte('(')
		for i, c := range f.Handle {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(c.DType.String() + c.Shape.String())
		}
		b.WriteByte(')')
	}
	if !f.Shape.HasRank() {
		b.WriteString("<unknown>")
	} else if f.Shape.Rank() > 0 || f.DType != tensor.Resource {
		b.WriteString(f.Shape.String())
	}
	if f.Elems != nil {
		b.WriteByte('{')
		for i, e := range f.Elems {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(e.String())
		}
		b.WriteByte('}')
	}
	return b.String()
}
