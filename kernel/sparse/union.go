package sparse

import (
	"fmt"
	"math/cmplx"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of SparseAdd, SparseAddGrad, SparseSparseMaximum and
// SparseSparseMinimum. The indices of each tensor must be in order. Like
// TensorFlow, they don't check this.

// two reads the two sparse tensors that are an op's first inputs, of one shape
// and type.
func two(c *engine.Call) (a, b matrix, err error) {
	if a, err = input(c, 0, 1, 2); err != nil {
		return a, b, err
	}
	if b, err = input(c, 3, 4, 5); err != nil {
		return a, b, err
	}
	if !slices.Equal(a.shape, b.shape) || a.values.DType() != b.values.DType() {
		return a, b, fmt.Errorf("the tensors are %v%v and %v%v", a.values.DType(), a.shape, b.values.DType(), b.shape)
	}
	return a, b, nil
}

// union calls f for each index of either tensor, in order, with the numbers of
// the values there. The number is -1 if a tensor has no value there.
func union(a, b *matrix, f func(i, j int)) {
	i, j := 0, 0
	for i < a.n && j < b.n {
		switch slices.Compare(a.row(i), b.row(j)) {
		case -1:
			f(i, -1)
			i++
		case 1:
			f(-1, j)
			j++
		default:
			f(i, j)
			i++
			j++
		}
	}
	for ; i < a.n; i++ {
		f(i, -1)
	}
	for ; j < b.n; j++ {
		f(-1, j)
	}
}

// addTypes has add by element type.
var addTypes = elementwise.ByType{
	tensor.Float32: add(magnitude[float32]), tensor.Float64: add(magnitude[float64]),
	tensor.Int8: add(magnitude[int8]), tensor.Int16: add(magnitude[int16]), tensor.Int32: add(magnitude[int32]), tensor.Int64: add(magnitude[int64]),
	tensor.Complex64:  add(func(z complex64) float32 { return float32(cmplx.Abs(complex128(z))) }),
	tensor.Complex128: add(cmplx.Abs),
}

// magnitude returns |x|. It is negative for the least integer of a type.
func magnitude[T ordered](x T) T {
	if x < 0 {
		return -x
	}
	return x
}

// add returns the sum of two sparse tensors, without sums whose magnitude is
// below a threshold.
func add[T numeric, R ordered](abs func(T) R) elementwise.Func {
	return func(c *engine.Call) error {
		a, b, err := two(c)
		if err != nil {
			return err
		}
		if c.In(6).Len() != 1 || c.In(6).DType() != tensor.TypeOf[R]() {
			return fmt.Errorf("the threshold is %v%v", c.In(6).DType(), c.In(6).Shape())
		}
		thresh := tensor.Values[R](c.In(6))[0]
		x, y := tensor.Values[T](a.values), tensor.Values[T](b.values)
		var at []int64
		var sums []T
		union(&a, &b, func(i, j int) {
			switch {
			case j < 0:
				at, sums = append(at, a.row(i)...), append(sums, x[i])
			case i < 0:
				at, sums = append(at, b.row(j)...), append(sums, y[j])
			default:
				if sum := x[i] + y[j]; thresh <= abs(sum) {
					at, sums = append(at, a.row(i)...), append(sums, sum)
				}
			}
		})
		if err := setInts(c, 0, at, len(sums), a.rank); err != nil {
			return err
		}
		c.Set(1, tensor.Vector(sums...))
		return setInts(c, 2, slices.Clone(a.shape), a.rank)
	}
}

// addGradTypes has addGrad by element type.
var addGradTypes = elementwise.ByType{
	tensor.Float32: addGrad[float32], tensor.Float64: addGrad[float64], tensor.Int8: addGrad[int8], tensor.Int16: addGrad[int16],
	tensor.Int32: addGrad[int32], tensor.Int64: addGrad[int64], tensor.Complex64: addGrad[complex64], tensor.Complex128: addGrad[complex128],
}

// addGrad returns the gradients of the values of both tensors from those of
// their sum. The gradient of a value that the sum lacks is zero.
func addGrad[T numeric](c *engine.Call) error {
	grad := c.In(0)
	var at [3]matrix
	for i := range at {
		t := c.In(1 + i)
		if len(t.Shape()) != 2 || t.DType() != tensor.Int64 || t.Shape()[1] != c.In(1).Shape()[1] {
			return fmt.Errorf("the indices are %v%v", t.DType(), t.Shape())
		}
		at[i] = matrix{n: t.Shape()[0], rank: t.Shape()[1], at: tensor.Values[int64](t)}
	}
	sum := &at[2]
	if len(grad.Shape()) != 1 || grad.Len() != sum.n {
		return fmt.Errorf("there are %v gradients of %d values", grad.Shape(), sum.n)
	}
	dy := tensor.Values[T](grad)
	for i := range 2 {
		m := &at[i]
		out, err := c.AllocZero(i, grad.DType(), tensor.Shape{m.n})
		if err != nil {
			return err
		}
		v := tensor.Values[T](out)
		for k, j := 0, 0; k < m.n && j < sum.n; {
			switch slices.Compare(m.row(k), sum.row(j)) {
			case -1:
				k++
			case 1:
				j++
			default:
				v[k] = dy[j]
				k++
				j++
			}
		}
	}
	return nil
}

// extremeTypes returns the table of the larger, or the smaller, of two tensors.
func extremeTypes(larger bool) elementwise.ByType {
	return withHalves(elementwise.ByType{
		tensor.Float32: extreme[float32](larger), tensor.Float64: extreme[float64](larger),
		tensor.Int8: extreme[int8](larger), tensor.Int16: extreme[int16](larger), tensor.Int32: extreme[int32](larger), tensor.Int64: extreme[int64](larger),
		tensor.Uint8: extreme[uint8](larger), tensor.Uint16: extreme[uint16](larger), tensor.Uint32: extreme[uint32](larger), tensor.Uint64: extreme[uint64](larger),
	}, []int{1, 4}, []int{1})
}

// extreme returns the larger or the smaller value at each index of either
// tensor. A tensor without a value there counts as zero.
func extreme[T ordered](larger bool) elementwise.Func {
	return func(c *engine.Call) error {
		a, b, err := two(c)
		if err != nil {
			return err
		}
		x, y := tensor.Values[T](a.values), tensor.Values[T](b.values)
		var at []int64
		var out []T
		union(&a, &b, func(i, j int) {
			var p, q T
			row := b.row
			k := j
			if i >= 0 {
				p, row, k = x[i], a.row, i
			}
			if j >= 0 {
				q = y[j]
			}
			if larger && p < q || !larger && q < p {
				p = q
			}
			at, out = append(at, row(k)...), append(out, p)
		})
		if err := setInts(c, 0, at, len(out), a.rank); err != nil {
			return err
		}
		c.Set(1, tensor.Vector(out...))
		return nil
	}
}
