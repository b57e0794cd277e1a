package state

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// scatters returns the ops that change rows, or parts that index vectors name,
// of a variable.
func scatters() []engine.Kernel {
	var table []engine.Kernel
	for i, name := range [...]string{update: "Update", plus: "Add", minus: "Sub", times: "Mul", over: "Div", least: "Min", most: "Max"} {
		how := how(i)
		run := func(c *engine.Call) error { return scatter(c, how) }
		table = append(table,
			engine.Kernel{Op: "ResourceScatter" + name, Run: run, Precision: engine.Accumulated, SideEffect: true},
			engine.Kernel{Op: "Scatter" + name, Run: giveBack(run), Precision: engine.Accumulated, SideEffect: true})
		if how == times || how == over {
			continue
		}
		table = append(table,
			engine.Kernel{Op: "ResourceScatterNd" + name, Run: run, Precision: engine.Accumulated, SideEffect: true},
			engine.Kernel{Op: "ScatterNd" + name, Run: giveBack(run), Precision: engine.Accumulated, SideEffect: true})
	}
	return append(table, engine.Kernel{Op: "ResourceGatherNd", Run: resourceGatherND})
}

// how says what becomes of an element and of what is scattered to it.
type how uint8

const (
	update how = iota
	plus
	minus
	times
	over
	least
	most
)

// places returns the offsets, in elements, of the parts of a tensor of shape s
// that indices name, and how large a part is. The indices of nd ops are
// vectors.
func places(indices *tensor.Tensor, s tensor.Shape, nd bool) (at []int, outer, inner tensor.Shape, err error) {
	list, err := shapes.AllInts(indices, "the indices")
	if err != nil {
		return nil, nil, nil, err
	}
	depth := 1
	outer = indices.Shape()
	if nd {
		if outer, inner, err = shape.Indexed(indices.Shape(), s); err != nil {
			return nil, nil, nil, err
		}
		depth = len(s) - len(inner)
	} else {
		if len(s) == 0 {
			return nil, nil, nil, fmt.Errorf("the variable is a scalar")
		}
		inner = s[1:]
	}
	at = make([]int, shapes.Count(outer))
	size := shapes.Count(inner)
	for i := range at {
		place := 0
		for k := range depth {
			x := list[i*depth+k]
			if x < 0 || x >= int64(s[k]) {
				return nil, nil, nil, fmt.Errorf("index %d is outside of [0, %d)", x, s[k])
			}
			place = place*s[k] + int(x)
		}
		at[i] = place * size
	}
	return at, outer, inner, nil
}

func scatter(c *engine.Call, h how) error {
	if c.NumIn() != 3 {
		return fmt.Errorf("takes 3 inputs, %d were given", c.NumIn())
	}
	v, err := c.NeedVar(0)
	if err == nil {
		err = c.NeedTensors(1)
	}
	if err != nil {
		return err
	}
	if v.DType() == tensor.Invalid {
		return errNoValue(v)
	}
	x := c.In(2)
	return v.Update(func(buf *tensor.Tensor) error {
		if buf.DType() != x.DType() {
			return fmt.Errorf("the variable is %v, the updates %v", buf.DType(), x.DType())
		}
		at, outer, inner, err := places(c.In(1), buf.Shape(), strings.Contains(c.Op(), "Nd"))
		if err != nil {
			return err
		}
		want := append(outer.Clone(), inner...)
		if len(x.Shape()) > 0 && !x.Shape().Equal(want) {
			return fmt.Errorf("the updates have shape %v, not %v", x.Shape(), want)
		}
		return scatterTo(buf, at, shapes.Count(inner), x, h)
	})
}

// scatterTo changes n elements from each of the places on by those of x, which
// may be a single one for all.
func scatterTo(dst *tensor.Tensor, at []int, n int, x *tensor.Tensor, h how) error {
	if h == update {
		return put(dst, at, n, x)
	}
	switch dst.DType() {
	case tensor.Float32:
		return apply(tensor.Values[float32](dst), at, n, tensor.Values[float32](x), h)
	case tensor.Float64:
		return apply(tensor.Values[float64](dst), at, n, tensor.Values[float64](x), h)
	case tensor.Float16:
		return applyHalf(tensor.Values[tensor.F16](dst), at, n, tensor.Values[tensor.F16](x), h)
	case tensor.BFloat16:
		return applyHalf(tensor.Values[tensor.BF16](dst), at, n, tensor.Values[tensor.BF16](x), h)
	case tensor.Int8:
		return apply(tensor.Values[int8](dst), at, n, tensor.Values[int8](x), h)
	case tensor.Int16:
		return apply(tensor.Values[int16](dst), at, n, tensor.Values[int16](x), h)
	case tensor.Int32:
		return apply(tensor.Values[int32](dst), at, n, tensor.Values[int32](x), h)
	case tensor.Int64:
		return apply(tensor.Values[int64](dst), at, n, tensor.Values[int64](x), h)
	case tensor.Uint8:
		return apply(tensor.Values[uint8](dst), at, n, tensor.Values[uint8](x), h)
	case tensor.Uint16:
		return apply(tensor.Values[uint16](dst), at, n, tensor.Values[uint16](x), h)
	case tensor.Uint32:
		return apply(tensor.Values[uint32](dst), at, n, tensor.Values[uint32](x), h)
	case tensor.Uint64:
		return apply(tensor.Values[uint64](dst), at, n, tensor.Values[uint64](x), h)
	case tensor.Complex64:
		return applyComplex(tensor.Values[complex64](dst), at, n, tensor.Values[complex64](x), h)
	case tensor.Complex128:
		return applyComplex(tensor.Values[complex128](dst), at, n, tensor.Values[complex128](x), h)
	}
	return fmt.Errorf("isn't defined for %v", dst.DType())
}

func put(dst *tensor.Tensor, at []int, n int, x *tensor.Tensor) error {
	if !dst.DType().Fixed() {
		d, s := dst.Strings(), x.Strings()
		each(at, n, len(s), len(x.Shape()) == 0, func(to, from, n int) { copy(d[to:to+n], s[from:from+n]) })
		return nil
	}
	w := dst.DType().Size()
	d, s := dst.Bytes(), x.Bytes()
	each(at, n, x.Len(), len(x.Shape()) == 0, func(to, from, n int) { copy(d[to*w:(to+n)*w], s[from*w:]) })
	return nil
}

// each calls f for each part: n elements to the place, from the updates'. A
// single update goes to each element by itself.
func each(at []int, n, have int, single bool, f func(to, from, n int)) {
	for i, to := range at {
		if !single {
			f(to, i*n, n)
			continue
		}
		for k := range n {
			f(to+k, 0, 1)
		}
	}
}

type real interface {
	~float32 | ~float64 | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

func apply[T real](dst []T, at []int, n int, x []T, h how) error {
	switch h {
	case least, most:
		for i, to := range at {
			for k := range n {
				v, d := pick(x, i*n+k), &dst[to+k]
				if h == least && v < *d || h == most && v > *d {
					*d = v
				}
			}
		}
		return nil
	}
	return applyComplex(dst, at, n, x, h)
}

// pick returns element i, or the only one.
func pick[T any](x []T, i int) T {
	if len(x) == 1 {
		return x[0]
	}
	return x[i]
}

func applyComplex[T interface {
	real | ~complex64 | ~complex128
}](dst []T, at []int, n int, x []T, h how) error {
	var zero, one T
	one = 1
	whole := one/(one+one) == zero
	for i, to := range at {
		for k := range n {
			v, d := pick(x, i*n+k), &dst[to+k]
			switch h {
			case plus:
				*d += v
			case minus:
				*d -= v
			case times:
				*d *= v
			case over:
				if whole && v == zero {
					return fmt.Errorf("a whole number is divided by zero")
				}
				*d /= v
			default:
				return fmt.Errorf("complex numbers have no order")
			}
		}
	}
	return nil
}

func applyHalf[H elementwise.Half](dst []H, at []int, n int, x []H, h how) error {
	wide, xs := make([]float32, len(dst)), make([]float32, len(x))
	elementwise.Widen(wide, dst)
	elementwise.Widen(xs, x)
	for i, to := range at {
		// Each part is rounded as it is changed, as TensorFlow does.
		row := xs
		if len(xs) > 1 {
			row = xs[i*n : (i+1)*n]
		}
		if err := apply(wide[to:to+n], []int{0}, n, row, h); err != nil {
			return err
		}
		elementwise.Narrow(dst[to:to+n], wide[to:to+n])
		elementwise.Widen(wide[to:to+n], dst[to:to+n])
	}
	return nil
}

func resourceGatherND(c *engine.Call) error {
	v, indices, err := target(c)
	if err != nil {
		return err
	}
	x, release := v.Borrow()
	defer release()
	if x == nil {
		return errNoValue(v)
	}
	return gatherParts(c, x, indices, v)
}

func gatherParts(c *engine.Call, x, indices *tensor.Tensor, v *trackable.Variable) error {
	at, outer, inner, err := places(indices, x.Shape(), true)
	if err != nil {
		return fmt.Errorf("the variable %q: %w", v.Name(), err)
	}
	out, err := c.Alloc(0, x.DType(), append(outer.Clone(), inner...))
	if err != nil {
		return err
	}
	n := shapes.Count(inner)
	for i, from := range at {
		if !x.DType().Fixed() {
			copy(out.Strings()[i*n:(i+1)*n], x.Strings()[from:])
			continue
		}
		w := x.DType().Size()
		copy(out.Bytes()[i*n*w:(i+1)*n*w], x.Bytes()[from*w:])
	}
	return nil
}
