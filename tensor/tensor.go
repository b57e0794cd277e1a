package tensor

import (
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"
)

// Tensor is an n-dimensional array of elements of one [DType], in row-major
// order. The zero Tensor is not valid; [New], [Zeros] and their relatives make
// valid ones.
//
// A Tensor may be read from many goroutines. Its storage may be written only by
// the one who made it and has not shared it yet.
type Tensor struct {
	dtype  DType
	shared uint32 // 1 after Share
	shape  Shape
	data   []byte // fixed-size elements, native byte order
	// The elements of string, variant and resource tensors, nil for all others. A pointer keeps
	// a Tensor at 64 bytes, one line of the processor's cache: there may be very many.
	strs *[]string
}

// Share declares that t has other holders, who rely on it not to change, and returns it.
// Code that must change it, such as a variable that has it as its value, works on a copy.
// This can't be undone.
func (t *Tensor) Share() *Tensor {
	if !t.Shared() {
		atomic.StoreUint32(&t.shared, 1)
	}
	return t
}

// Shared reports whether t has other holders, see [Tensor.Share].
func (t *Tensor) Shared() bool { return atomic.LoadUint32(&t.shared) != 0 }

// strings returns the elements that have no fixed size.
func (t *Tensor) strings() []string {
	if t.strs == nil {
		return nil
	}
	return *t.strs
}

// New makes a tensor of the given shape over values, without a copy: the
// caller hands the slice over. No dims means a scalar, which takes exactly one
// value. The number of values must be the shape's.
func New[T Element](values []T, dims ...int) (*Tensor, error) {
	t := header(TypeOf[T](), dims)
	n, err := t.shape.NumElements()
	if err != nil {
		return nil, err
	}
	if n != len(values) {
		return nil, fmt.Errorf("tensor: shape %v has %d elements (got %d values)", t.shape, n, len(values))
	}
	t.adopt(unsafe.Pointer(unsafe.SliceData(values)), len(values))
	return t, nil
}

// adopt makes the n elements at p the storage of t.
func (t *Tensor) adopt(p unsafe.Pointer, n int) {
	if n == 0 {
		return
	}
	if size := t.dtype.Size(); size > 0 {
		t.data = unsafe.Slice((*byte)(p), n*size)
	} else {
		strs := unsafe.Slice((*string)(p), n) // Opaque is a string underneath
		t.strs = &strs
	}
}

// Must returns t, for values known to be right as the program is written; it
// panics with err if there is one.
func Must(t *Tensor, err error) *Tensor {
	if err != nil {
		panic(err)
	}
	return t
}

// Scalar makes a tensor of no dimensions that holds v.
func Scalar[T Element](v T) *Tensor {
	t := &Tensor{dtype: TypeOf[T](), shape: Shape{}}
	s := []T{v}
	t.adopt(unsafe.Pointer(&s[0]), 1)
	return t
}

// Vector makes a tensor of one dimension over values, without a copy.
func Vector[T Element](values ...T) *Tensor {
	dims := [1]int{len(values)}
	t := header(TypeOf[T](), dims[:])
	t.adopt(unsafe.Pointer(unsafe.SliceData(values)), len(values))
	return t
}

// Zeros makes a tensor whose elements are all zero: 0, false, or the empty
// string.
func Zeros(d DType, dims ...int) (*Tensor, error) {
	if !d.Valid() {
		return nil, fmt.Errorf("tensor: %v is no element type", d)
	}
	t := &Tensor{dtype: d, shape: Shape(dims).Clone()}
	n, err := t.shape.NumElements()
	if err != nil {
		return nil, err
	}
	if size := d.Size(); size == 0 {
		strs := make([]string, n)
		t.strs = &strs
	} else {
		if n > maxAlloc/size {
			return nil, errOverflow(t.shape)
		}
		t.data = alloc(n * size)
	}
	return t, nil
}

// FromBytes makes a tensor over b, the elements in native byte order. It copies b only if b
// isn't aligned for the type; a slice from make is. The length must be the shape's, and d
// must have a fixed size. Bytes of booleans must be 0 or 1, which isn't checked.
func FromBytes(d DType, b []byte, dims ...int) (*Tensor, error) {
	t := header(d, dims)
	n, err := t.shape.NumElements()
	if err != nil {
		return nil, err
	}
	size := d.Size()
	switch {
	case size == 0:
		return nil, fmt.Errorf("tensor: elements of %v have no fixed size in bytes", d)
	case n > maxAlloc/size || n*size != len(b):
		return nil, fmt.Errorf("tensor: %v%v takes %d bytes (got %d)", d, t.shape, n*size, len(b))
	}
	if len(b) > 0 {
		if uintptr(unsafe.Pointer(&b[0]))%uintptr(min(size, 8)) != 0 {
			c := alloc(len(b))
			copy(c, b)
			b = c
		}
		t.data = b
	}
	return t, nil
}

// header returns a tensor without data yet: one allocation with its shape, if
// the rank is common.
func header(d DType, dims []int) *Tensor {
	if len(dims) > 4 {
		return &Tensor{dtype: d, shape: Shape(dims).Clone()}
	}
	h := new(struct {
		Tensor
		dims [4]int
	})
	copy(h.dims[:], dims)
	h.dtype, h.shape = d, h.dims[:len(dims):len(dims)]
	return &h.Tensor
}

// FromStrings makes a tensor of strings, variants or resources over values,
// without a copy.
func FromStrings(d DType, values []string, dims ...int) (*Tensor, error) {
	t := &Tensor{dtype: d, shape: Shape(dims).Clone()}
	n, err := t.shape.NumElements()
	switch {
	case err != nil:
		return nil, err
	case !d.Valid() || d.Fixed():
		return nil, fmt.Errorf("tensor: elements of %v are no strings", d)
	case n != len(values):
		return nil, fmt.Errorf("tensor: shape %v has %d elements (got %d values)", t.shape, n, len(values))
	}
	t.strs = &values
	return t, nil
}

// DType returns the type of the elements.
func (t *Tensor) DType() DType { return t.dtype }

// Shape returns the sizes of the dimensions; it must not be changed.
func (t *Tensor) Shape() Shape { return t.shape }

// Rank returns the number of dimensions, 0 for a scalar.
func (t *Tensor) Rank() int { return len(t.shape) }

// Len returns the number of elements.
func (t *Tensor) Len() int {
	if size := t.dtype.Size(); size > 0 {
		return len(t.data) / size
	}
	return len(t.strings())
}

// NumBytes returns the size of the elements in bytes: of their storage if they
// have a fixed size, otherwise the sum of their lengths.
func (t *Tensor) NumBytes() int64 {
	if t.dtype.Fixed() {
		return int64(len(t.data))
	}
	var n int64
	for _, s := range t.strings() {
		n += int64(len(s))
	}
	return n
}

// Bytes returns the storage of elements of fixed size, in native byte order and
// not a copy; it is nil for string, variant and resource.
func (t *Tensor) Bytes() []byte { return t.data }

// Strings returns the storage of string, variant and resource elements, not a
// copy; it is nil for all others.
func (t *Tensor) Strings() []string { return t.strings() }

// Values returns the storage as a Go slice, not a copy. It panics if T is not
// the Go type of t's elements: check [Tensor.DType] first, or use [ValuesOf].
func Values[T Element](t *Tensor) []T {
	v, err := ValuesOf[T](t)
	if err != nil {
		panic(err)
	}
	return v
}

// ValuesOf works like [Values], with an error instead of a panic.
func ValuesOf[T Element](t *Tensor) ([]T, error) {
	d := TypeOf[T]()
	if d != t.dtype && !(d == Variant && t.dtype == Resource) {
		return nil, fmt.Errorf("tensor: the elements are %v, not %v", t.dtype, d)
	}
	if d.Fixed() {
		return cast[T](t.data), nil
	}
	strs := t.strings()
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(strs))), len(strs)), nil
}

// Item returns the only element of a tensor that has one. Another number of
// elements or another type than T's is an error.
func Item[T Element](t *Tensor) (T, error) {
	var z T
	v, err := ValuesOf[T](t)
	if err != nil {
		return z, err
	}
	if len(v) != 1 {
		return z, fmt.Errorf("tensor: Item of shape %v: there are %d elements, not one", t.shape, len(v))
	}
	return v[0], nil
}

// Reshape returns a tensor over the same storage with another shape of as many
// elements. One size may be -1: it is worked out.
func (t *Tensor) Reshape(dims ...int) (*Tensor, error) {
	out := header(t.dtype, dims)
	s, n := out.shape, t.Len()
	known, at := 1, -1
	for i, d := range s {
		switch {
		case d == -1 && at < 0:
			at = i
		case d == -1:
			return nil, fmt.Errorf("tensor: reshape to %v: only one size can be -1", s)
		default:
			known *= d
		}
	}
	if at >= 0 {
		if known <= 0 || n%known != 0 {
			return nil, fmt.Errorf("tensor: reshape %v to %v: %d elements can't be divided by the known sizes", t.shape, s, n)
		}
		s[at] = n / known
	}
	if m, err := s.NumElements(); err != nil {
		return nil, err
	} else if m != n {
		return nil, fmt.Errorf("tensor: reshape %v to %v: the number of elements differs (got %d, want %d)", t.shape, s, n, m)
	}
	out.data, out.strs = t.data, t.strs
	if t.Shared() {
		out.Share()
	}
	return out, nil
}

// Clone returns a copy with separate storage.
func (t *Tensor) Clone() *Tensor {
	c := &Tensor{dtype: t.dtype, shape: t.shape}
	if t.dtype.Fixed() {
		c.data = alloc(len(t.data))
		copy(c.data, t.data)
	} else {
		strs := slices.Clone(t.strings())
		c.strs = &strs
	}
	return c
}

// Equal reports whether both have the same type, shape and bits. NaNs are equal
// if their bits are; 0 and -0 are not.
func (t *Tensor) Equal(o *Tensor) bool {
	if t.dtype != o.dtype || !t.shape.Equal(o.shape) || string(t.data) != string(o.data) {
		return false
	}
	return slices.Equal(t.strings(), o.strings())
}
