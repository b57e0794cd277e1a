// Package scatter changes parts of a tensor by parts of another one. All ops
// that scatter, to variables or to copies, use it once they know the places.
// These are in packages kernel/array, kernel/data and kernel/state.
package scatter

import (
	"errors"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
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

// changers change n elements of dst from each of the places on by those of x,
// which may be a single one for all.
var changers = engine.ByType[func(dst, x *tensor.Tensor, at []int, n int, h How) error]{
	tensor.Float32: change[float32], tensor.Float64: change[float64],
	tensor.Float16: changeHalf[tensor.F16], tensor.BFloat16: changeHalf[tensor.BF16],
	tensor.Int8: change[int8], tensor.Int16: change[int16], tensor.Int32: change[int32], tensor.Int64: change[int64],
	tensor.Uint8: change[uint8], tensor.Uint16: change[uint16], tensor.Uint32: change[uint32], tensor.Uint64: change[uint64],
	tensor.Complex64: changeComplex[complex64], tensor.Complex128: changeComplex[complex128],
}

// To changes parts of dst by those of x. Each part has n elements and begins at
// an index in at. x has as many parts, or is a scalar that is used for all. A
// part with a negative index is skipped.
func To(dst *tensor.Tensor, at []int, n int, x *tensor.Tensor, h How) error {
	if x.Len() == 1 && n > 0 && (h == Update || h == Min || h == Max) && len(at) > dst.Len()/n {
		at = distinct(at, dst.Len())
	}
	if h == Update {
		put(dst, at, n, x)
		return nil
	}
	if dst.DType() == tensor.Bool && (h == Add || h == Sub) {
		parts(tensor.Values[bool](dst), tensor.Values[bool](x), at, n, logical(h))
		return nil
	}
	f, err := changers.Of(dst.DType())
	if err != nil {
		return err
	}
	return f(dst, x, at, n, h)
}

// distinct returns the places below size that are in at, each once: changes by one number that have
// the same result when they are repeated.
func distinct(at []int, size int) []int {
	seen := make([]bool, size)
	var out []int
	for _, to := range at {
		if to >= 0 && !seen[to] {
			seen[to] = true
			out = append(out, to)
		}
	}
	return out
}

// put replaces the elements of the parts.
func put(dst *tensor.Tensor, at []int, n int, x *tensor.Tensor) {
	single := len(x.Shape()) == 0
	switch dst.DType().Size() {
	case 0:
		putParts(dst.Strings(), x.Strings(), at, n, single)
	case 1:
		putParts(elementwise.View[uint8](dst), elementwise.View[uint8](x), at, n, single)
	case 2:
		putParts(elementwise.View[uint16](dst), elementwise.View[uint16](x), at, n, single)
	case 4:
		putParts(elementwise.View[uint32](dst), elementwise.View[uint32](x), at, n, single)
	case 8:
		putParts(elementwise.View[uint64](dst), elementwise.View[uint64](x), at, n, single)
	case 16:
		putParts(elementwise.View[[2]uint64](dst), elementwise.View[[2]uint64](x), at, n, single)
	}
}

func putParts[T any](dst, x []T, at []int, n int, single bool) {
	for i, to := range at {
		if to < 0 {
			continue
		}
		if !single {
			copy(dst[to:to+n], x[i*n:])
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

func parts[T any](dst, x []T, at []int, n int, f loop[T]) {
	for i, to := range at {
		if to >= 0 {
			f(dst[to:to+n], partOf(x, i, n))
		}
	}
}

func change[T interface {
	real
	tensor.Element
}](dst, x *tensor.Tensor, at []int, n int, h How) error {
	f := ordered[T](h)
	if f == nil {
		f = arithmetic[T](h)
	}
	v := tensor.Values[T](x)
	if h == Div && dst.DType().IsInteger() {
		for _, y := range v {
			if y == 0 {
				return errors.New("a whole number is divided by zero")
			}
		}
	}
	parts(tensor.Values[T](dst), v, at, n, f)
	return nil
}

func changeComplex[T number](dst, x *tensor.Tensor, at []int, n int, h How) error {
	f := arithmetic[T](h)
	if f == nil {
		return errors.New("complex numbers have no order")
	}
	parts(tensor.Values[T](dst), tensor.Values[T](x), at, n, f)
	return nil
}

// changeHalf rounds each part as it is changed, as TensorFlow does.
func changeHalf[H elementwise.Half](dst, x *tensor.Tensor, at []int, n int, h How) error {
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
		y := partOf(v, i, n)
		elementwise.Widen(wide, d[to:to+n])
		elementwise.Widen(xs[:len(y)], y)
		f(wide, xs[:len(y)])
		elementwise.Narrow(d[to:to+n], wide)
	}
	return nil
}
