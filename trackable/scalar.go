package trackable

import (
	"fmt"

	"github.com/cairnml/cairn/tensor"
)

// Scalar is a variable that holds one element of type T. Its methods are for code
// outside of traced functions, see [Variable].
type Scalar[T tensor.Element] struct{ Variable }

// NewScalar makes a trainable scalar variable that holds x.
func NewScalar[T tensor.Element](x T) *Scalar[T] {
	s := new(Scalar[T])
	s.Init(tensor.Scalar(x))
	return s
}

// Get returns the present value, or the zero T if s has none.
func (s *Scalar[T]) Get() T {
	s.mustBeOutside("Get", readInstead)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.get()
}

func (s *Scalar[T]) get() (x T) {
	if c := s.cell.Load(); c != nil {
		if v, err := tensor.ValuesOf[T](c.t); err == nil && len(v) == 1 {
			x = v[0]
		}
	}
	return x
}

// Set replaces the value.
func (s *Scalar[T]) Set(x T) {
	s.mustBeOutside("Set", writeInstead)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(x)
}

func (s *Scalar[T]) set(x T) {
	s.written = true
	c := s.cell.Load()
	if c == nil || c.shared() {
		s.cell.Store(&cell{t: tensor.Scalar(x)})
		return
	}
	c.updates++
	tensor.Values[T](c.t)[0] = x
}

// Change replaces the value by f of it, at once, and returns the new value.
func (s *Scalar[T]) Change(f func(T) T) T {
	s.mustBeOutside("a change", writeInstead)
	s.mu.Lock()
	defer s.mu.Unlock()
	x := f(s.get())
	s.set(x)
	return x
}

// Add adds delta at once and returns the new value. Booleans are or-ed, strings
// appended to. The types that package tensor defines (F16, BF16, I4, Q8, Opaque and so
// on) are refused with a panic: use [Scalar.Change].
func (s *Scalar[T]) Add(delta T) T {
	return s.Change(func(x T) T { return add(x, delta) })
}

func add[T tensor.Element](x, y T) T {
	switch x := any(x).(type) {
	case int8:
		return any(x + any(y).(int8)).(T)
	case int16:
		return any(x + any(y).(int16)).(T)
	case int32:
		return any(x + any(y).(int32)).(T)
	case int64:
		return any(x + any(y).(int64)).(T)
	case uint8:
		return any(x + any(y).(uint8)).(T)
	case uint16:
		return any(x + any(y).(uint16)).(T)
	case uint32:
		return any(x + any(y).(uint32)).(T)
	case uint64:
		return any(x + any(y).(uint64)).(T)
	case float32:
		return any(x + any(y).(float32)).(T)
	case float64:
		return any(x + any(y).(float64)).(T)
	case complex64:
		return any(x + any(y).(complex64)).(T)
	case complex128:
		return any(x + any(y).(complex128)).(T)
	case string:
		return any(x + any(y).(string)).(T)
	case bool:
		return any(x || any(y).(bool)).(T)
	}
	panic(fmt.Sprintf("trackable: Add of a %v: Go can't add it, use Change", tensor.TypeOf[T]()))
}
