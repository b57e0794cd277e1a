// Package scatter changes parts of a tensor by parts of another one. All ops
// that scatter, to variables or to copies, use it once they know the places.
// These are in packages kernel/array, kernel/data and kernel/state.
package scatter

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/parts"
	"github.com/cairnml/cairn/tensor"
)

// How is the way in which a scattered element changes an element.
type How uint8

// The ways to change an element: put another one in its place, compute with it,
// or keep the smaller or larger one.
const (
	Update How = iota
	Add
	Sub
	Mul
	Div
	Min
	Max
)

// Types lists the types that To takes, for all ways but Update, which takes
// any.
func Types() []tensor.DType { return changers.Types() }

// Ordered lists the types that To takes for Min and Max.
func Ordered() []tensor.DType {
	return slices.DeleteFunc(Types(), tensor.DType.IsComplex)
}

// changers change parts of dst by parts of x. A part has n elements and begins at one
// of the places at. The first place belongs to the part of x with number first. x may
// be a single element, which then changes all elements.
var changers = engine.ByType[func(dst, x *tensor.Tensor, at []int, first, n int, h How) error]{
	tensor.Float32: change[float32], tensor.Float64: change[float64],
	tensor.Float16: changeHalf[tensor.F16], tensor.BFloat16: changeHalf[tensor.BF16],
	tensor.Int8: change[int8], tensor.Int16: change[int16], tensor.Int32: change[int32], tensor.Int64: change[int64],
	tensor.Uint8: change[uint8], tensor.Uint16: change[uint16], tensor.Uint32: change[uint32], tensor.Uint64: change[uint64],
	tensor.Complex64: changeComplex[complex64], tensor.Complex128: changeComplex[complex128],
}

// blockElements is about the number of elements that change between two checks of the
// context.
const blockElements = 1 << 18

// To changes parts of dst by those of x. Each part has n elements and begins at an index in at, a
// multiple of n. x has as many parts, or is a scalar that is used for all. A part with a negative
// index is skipped.
//
// To ends with the context of c, and then some of the parts are changed. If c is nil, it changes
// all of them. Parts are changed in the order of at: it decides the last bits of sums, and which of
// several updates stays.
func To(c *engine.Call, dst *tensor.Tensor, at []int, n int, x *tensor.Tensor, h How) error {
	if x.Len() == 1 && n > 0 && (h == Update || h == Min || h == Max) && len(at) > dst.Len()/n {
		at = distinct(at, n, dst.Len())
	}
	var f func(dst, x *tensor.Tensor, at []int, first, n int, h How) error
	switch {
	case h == Update:
		f = put
	case dst.DType() == tensor.Bool && (h == Add || h == Sub):
		f = changeBool
	default:
		var err error
		if f, err = changers.Of(dst.DType()); err != nil {
			return err
		}
		if err := divides(dst, x, h); err != nil {
			return err
		}
	}
	block := max(1, blockElements/(n+8))
	for lo := 0; lo < len(at); lo += block {
		if c != nil && lo > 0 && c.Context().Err() != nil {
			return context.Cause(c.Context())
		}
		if err := f(dst, x, at[lo:min(lo+block, len(at))], lo, n, h); err != nil {
			return err
		}
	}
	return nil
}

// longScatter is the number of changed elements from which a scatter to a variable ends with
// the context.
const longScatter = 1 << 24

// ToVariable changes parts of a variable's value as To does. If it returns an error, the value
// is as before. A long change saves the parts before it changes
// them.
func ToVariable(c *engine.Call, dst *tensor.Tensor, at []int, n int, x *tensor.Tensor, h How) error {
	if len(at) == 0 || n <= longScatter/len(at) || c.Context().Done() == nil {
		return To(nil, dst, at, n, x, h)
	}
	c.Reserve(dst.Len()/n + 8*min(len(at), dst.Len()/n))
	saved := distinct(at, n, dst.Len())
	c.Reserve(len(saved) * n * max(dst.DType().Size(), 16))
	before, err := tensor.Zeros(dst.DType(), len(saved), n)
	if err != nil {
		return err
	}
	for i, from := range saved {
		if i%max(1, blockElements/n) == 0 && c.Context().Err() != nil {
			return context.Cause(c.Context())
		}
		parts.Copy(before, dst, i*n, from, n)
	}
	if err = To(c, dst, at, n, x, h); err != nil {
		for i, to := range saved {
			parts.Copy(dst, before, to, i*n, n)
		}
	}
	return err
}

// distinct returns the places in at that aren't negative, each once. They are multiples of n
// below size. To calls it for changes by one number that have the same result when they are
// repeated, ToVariable to save each part once.
func distinct(at []int, n, size int) []int {
	seen := make([]bool, size/n)
	var out []int
	for _, to := range at {
		if to >= 0 && !seen[to/n] {
			seen[to/n] = true
			out = append(out, to)
		}
	}
	return out
}

// put replaces the elements of the parts.
func put(dst, x *tensor.Tensor, at []int, first, n int, _ How) error {
	single := len(x.Shape()) == 0
	switch dst.DType().Size() {
	case 0:
		putParts(dst.Strings(), x.Strings(), at, first, n, single)
	case 1:
		putParts(elementwise.View[uint8](dst), elementwise.View[uint8](x), at, first, n, single)
	case 2:
		putParts(elementwise.View[uint16](dst), elementwise.View[uint16](x), at, first, n, single)
	case 4:
		putParts(elementwise.View[uint32](dst), elementwise.View[uint32](x), at, first, n, single)
	case 8:
		putParts(elementwise.View[uint64](dst), elementwise.View[uint64](x), at, first, n, single)
	case 16:
		putParts(elementwise.View[[2]uint64](dst), elementwise.View[[2]uint64](x), at, first, n, single)
	}
	return nil
}

// putParts replaces parts of dst by those of x; single means that x is one element.
func putParts[T any](dst, x []T, at []int, first, n int, single bool) {
	for i, to := range at {
		if to < 0 {
			continue
		}
		if !single {
			copy(dst[to:to+n], x[(first+i)*n:])
			continue
		}
		part := dst[to : to+n]
		for k := range part {
			part[k] = x[0]
		}
	}
}

type real interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type number interface {
	real | complex64 | complex128
	tensor.Element
}

// loop changes a part by as many elements, or by one for all.
type loop[T any] func(part, x []T)

// ordered returns the loop of Min or Max, nil for other ways.
func ordered[T real](h How) loop[T] {
	switch h {
	case Min:
		return func(part, x []T) {
			for i := range part {
				if v := pick(x, i); v < part[i] {
					part[i] = v
				}
			}
		}
	case Max:
		return func(part, x []T) {
			for i := range part {
				if v := pick(x, i); v > part[i] {
					part[i] = v
				}
			}
		}
	}
	return nil
}

// arithmetic returns the loop of Add, Sub, Mul or Div, nil for other ways.
func arithmetic[T number](h How) loop[T] {
	switch h {
	case Add:
		return func(part, x []T) {
			for i := range part {
				part[i] += pick(x, i)
			}
		}
	case Sub:
		return func(part, x []T) {
			for i := range part {
				part[i] -= pick(x, i)
			}
		}
	case Mul:
		return func(part, x []T) {
			for i := range part {
				part[i] *= pick(x, i)
			}
		}
	case Div:
		return func(part, x []T) {
			for i := range part {
				part[i] /= pick(x, i)
			}
		}
	}
	return nil
}

// logical adds booleans by "or" and takes them away by "exclusive or", as C++ does.
func logical(h How) loop[bool] {
	return func(part, x []bool) {
		for i := range part {
			if y := pick(x, i); h == Add {
				part[i] = part[i] || y
			} else {
				part[i] = part[i] != y
			}
		}
	}
}

// pick returns element i, or the only one.
func pick[T any](x []T, i int) T {
	if len(x) == 1 {
		return x[0]
	}
	return x[i]
}

// partOf returns the elements that change part i of n elements.
func partOf[T any](x []T, i, n int) []T {
	if len(x) == 1 {
		return x
	}
	return x[i*n : (i+1)*n]
}

// changeParts runs f over the parts whose index isn't negative.
func changeParts[T any](dst, x []T, at []int, first, n int, f loop[T]) {
	for i, to := range at {
		if to >= 0 {
			f(dst[to:to+n], partOf(x, first+i, n))
		}
	}
}

// change changes real numbers of type T.
func change[T interface {
	real
	tensor.Element
}](dst, x *tensor.Tensor, at []int, first, n int, h How) error {
	f := ordered[T](h)
	if f == nil {
		f = arithmetic[T](h)
	}
	changeParts(tensor.Values[T](dst), tensor.Values[T](x), at, first, n, f)
	return nil
}

// changeBool changes booleans.
func changeBool(dst, x *tensor.Tensor, at []int, first, n int, h How) error {
	changeParts(tensor.Values[bool](dst), tensor.Values[bool](x), at, first, n, logical(h))
	return nil
}

// divides returns an error if whole numbers are to be divided by zero.
func divides(dst, x *tensor.Tensor, h How) error {
	if h != Div || !dst.DType().IsInteger() {
		return nil
	}
	size, zero := dst.DType().Size(), make([]byte, dst.DType().Size())
	for b := x.Bytes(); len(b) > 0; b = b[size:] {
		if bytes.Equal(b[:size], zero) {
			return errors.New("a whole number is divided by zero")
		}
	}
	return nil
}

// changeComplex changes complex numbers.
func changeComplex[T number](dst, x *tensor.Tensor, at []int, first, n int, h How) error {
	f := arithmetic[T](h)
	if f == nil {
		return errors.New("complex numbers have no order")
	}
	changeParts(tensor.Values[T](dst), tensor.Values[T](x), at, first, n, f)
	return nil
}

// changeHalf rounds each part as it is changed, as TensorFlow does.
func changeHalf[H elementwise.Half](dst, x *tensor.Tensor, at []int, first, n int, h How) error {
	f := ordered[float32](h)
	if f == nil {
		f = arithmetic[float32](h)
	}
	d, v := tensor.Values[H](dst), tensor.Values[H](x)
	wide, xs := make([]float32, n), make([]float32, max(n, 1))
	for i, to := range at {
		if to < 0 {
			continue
		}
		y := partOf(v, first+i, n)
		elementwise.Widen(wide, d[to:to+n])
		elementwise.Widen(xs[:len(y)], y)
		f(wide, xs[:len(y)])
		elementwise.Narrow(d[to:to+n], wide)
	}
	return nil
}
