package engine

import (
	"fmt"
	"unsafe"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Value is the value of an input or output of a running op: a tensor, or the
// object of a handle. The zero Value is nothing.
type Value struct {
	// Tensor is the data; nil for a handle.
	Tensor *tensor.Tensor
	// Object is the object that a resource, a reference or a variant refers to:
	// a *[trackable.Variable], a table, a list. Nil for data.
	Object any
	// Ref reports whether the value is a reference to Object, a variable of
	// TensorFlow 1. If an op needs data, the value of the variable is used.
	Ref bool

	buf *Buffer

	// Values are copied often, in registers of 16 bytes. A size that is not a
	// multiple of 16 would be copied in parts that overlap, and a processor
	// stalls when it reads such parts.
	_ uintptr
}

// ValueSize is the number of bytes of a Value without its tensor and object.
const ValueSize = int(unsafe.Sizeof(Value{}))

// set copies o to v word by word. If o was just written in words, as by a
// kernel that made an output, a copy in wider registers would stall the
// processor.
func (v *Value) set(o *Value) {
	v.Tensor, v.Object, v.Ref, v.buf = o.Tensor, o.Object, o.Ref, o.buf
}

// ValueOf returns the value that is t.
func ValueOf(t *tensor.Tensor) Value { return Value{Tensor: t} }

// HandleOf returns a handle of o.
func HandleOf(o any) Value { return Value{Object: o} }

// Handles is the object of a tensor of handles that is not a scalar.
type Handles struct {
	Shape tensor.Shape
	Items []any // the objects, in row-major order
}

// IsZero reports whether there is neither data nor an object.
func (v Value) IsZero() bool { return v.Tensor == nil && v.Object == nil }

// Variable returns the variable that v is a handle of or a reference to; nil
// otherwise.
func (v Value) Variable() *trackable.Variable {
	x, _ := v.Object.(*trackable.Variable)
	return x
}

// DType returns the type of the elements: Resource for the handle of a variable
// or another resource, Variant for an object that is copied like data.
func (v Value) DType() tensor.DType {
	switch o := v.Object.(type) {
	case nil:
		if v.Tensor == nil {
			return tensor.Invalid
		}
		return v.Tensor.DType()
	case *Handles:
		if len(o.Items) > 0 {
			return Value{Object: o.Items[0]}.DType()
		}
		return tensor.Variant
	case Variant:
		return tensor.Variant
	case *trackable.Variable:
		if v.Ref {
			return o.DType()
		}
	}
	return tensor.Resource
}

// Variant is an object that counts as data, such as a list or an optional. A
// copy of the value is another value; only the owner of the object may change
// it.
type Variant interface {
	// VariantName is TensorFlow's name of the kind, "tensorflow::TensorList".
	VariantName() string
	// Escape makes the object independent of the call's memory: it replaces
	// every value that it contains by the result of [Value.Keep].
	Escape()
	// Free releases the values that the object contains, by [Arena.Release],
	// when the object has no references any more.
	Free(*Arena)
}

// Keep makes the memory under v independent of the call that made it: a large
// buffer is taken away from the arena, a small one is copied, the storage of a
// variable counts as shared from now on. It returns the value to use from now
// on.
func (v Value) Keep() Value {
	if x, ok := v.Object.(Variant); ok {
		escape(x)
		if v.buf != nil {
			v.buf.Keep() // from now on, no other holder may change the object
		}
		return Value{Object: x}
	}
	if h, ok := v.Object.(*Handles); ok {
		for _, o := range h.Items {
			if x, ok := o.(Variant); ok {
				x.Escape()
			}
		}
		return Value{Object: h}
	}
	if x, ok := v.Object.(interface{ Escape() }); ok {
		x.Escape()
	}
	b := v.buf
	switch {
	case b == nil:
	case b.lease.Held():
		b.lease.Pin()
	case b.small && v.Tensor != nil:
		v.Tensor = v.Tensor.Clone()
	default:
		b.Keep()
	}
	v.buf = nil
	return v
}

// holder is a [Variant] whose values are a slice. Holders may hold each other, to any
// depth and more than once.
type holder interface {
	Variant
	Contents() []Value
}

// escape does as x.Escape, without recursion for holders.
func escape(x Variant) {
	h, ok := x.(holder)
	if !ok {
		x.Escape()
		return
	}
	const few = 1000 // holders that are visited without a record
	var seen map[holder]bool
	var rest [][]Value
	for n, vs := 0, h.Contents(); ; n++ {
		for i, v := range vs {
			if v.IsZero() {
				continue
			}
			var kept Value
			if inner, ok := v.Object.(holder); ok {
				if !seen[inner] {
					rest = append(rest, inner.Contents())
				}
				if n > few {
					if seen == nil {
						seen = map[holder]bool{}
					}
					seen[inner] = true
				}
				if v.buf != nil {
					v.buf.Keep()
				}
				kept = Value{Object: inner}
			} else {
				kept = v.Keep()
			}
			// A value that lasts already is only read, because goroutines may share the object.
			if !v.Kept() {
				vs[i] = kept
			}
		}
		if len(rest) == 0 {
			return
		}
		vs, rest = rest[len(rest)-1], rest[:len(rest)-1]
	}
}

// Kept reports whether v itself holds no memory of a call. The elements of a
// list may hold some, so [Value.Keep] is still needed for an object.
func (v Value) Kept() bool { return v.buf == nil }

// Borrow returns the current value of x, for the ops of one call: a change of x
// in the meantime is made on a copy. [Value.Return] ends it. If the variable
// has no value, the result is zero.
func Borrow(x *trackable.Variable) Value {
	t, lease := x.Lease()
	if t == nil {
		return Value{}
	}
	return Value{Tensor: t, buf: &Buffer{refs: 1, lease: lease, class: -1}}
}

// Borrowed reports whether v is a borrowed value that was not returned yet.
func (v Value) Borrowed() bool { return v.buf != nil && v.buf.lease.Held() }

// Return ends a [Borrow]: the storage may be changed in place from then on.
func (v Value) Return() {
	if v.Borrowed() {
		v.buf.lease.Release()
	}
}

// Pin ends a [Borrow] and makes the value last.
func (v Value) Pin() {
	if v.Borrowed() {
		v.buf.lease.Pin()
		v.buf.lease.Release()
	}
}

// SharesWith reports whether both have the same counted memory.
func (v Value) SharesWith(o Value) bool { return v.buf != nil && v.buf == o.buf }

// errKind returns the error for a value of another kind.
func (v Value) errKind(i int, want string) error {
	return fmt.Errorf("input %d is %s, where %s is needed", i, v.kind(), want)
}

func (v Value) kind() string {
	switch o := v.Object.(type) {
	case nil:
		if v.Tensor == nil {
			return "nothing"
		}
		return "a tensor"
	case *trackable.Variable:
		if v.Ref {
			return "a reference to a variable"
		}
		return "a variable's handle"
	case Variant:
		return "a " + o.VariantName()
	}
	return fmt.Sprintf("a handle of a %T", v.Object)
}
