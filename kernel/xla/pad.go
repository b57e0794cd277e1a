package xla

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of XlaPad, XlaBroadcastHelper and XlaReducePrecision.

// pad adds elements before, after and between those of the input. Negative
// numbers before and after remove elements.
func pad(c *engine.Call) error {
	if err := c.Need(5); err != nil {
		return err
	}
	x, value := c.In(0), c.In(1)
	if err := fixed(c, 0, 1); err != nil {
		return err
	}
	if len(value.Shape()) != 0 || value.DType() != x.DType() {
		return fmt.Errorf("the padding value is %v%v (want a scalar of %v)", value.DType(), value.Shape(), x.DType())
	}
	var list [3][]int64
	for i, what := range []string{"padding_low", "padding_high", "padding_interior"} {
		var err error
		if list[i], err = shapes.Ints(c.In(2+i), what); err != nil {
			return err
		}
	}
	dims, err := shape.XlaPadded(x.Shape(), list[0], list[1], list[2])
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, x.DType(), dims)
	if err != nil {
		return err
	}
	size := x.DType().Size()
	fill(out.Bytes(), value.Bytes())
	if out.Len() == 0 || x.Len() == 0 {
		return nil
	}
	to, src, dst := shapes.Strides(dims), x.Bytes(), out.Bytes()
	index := make([]int, len(dims))
	for at := 0; ; at++ {
		inside, k := true, 0
		for d, i := range index {
			j := list[0][d] + int64(i)*(list[2][d]+1)
			if j < 0 || j >= int64(dims[d]) {
				inside = false
				break
			}
			k += int(j) * to[d]
		}
		if inside {
			copy(dst[k*size:(k+1)*size], src[at*size:])
		}
		if !next(index, x.Shape()) {
			return nil
		}
	}
}

// fill fills b with copies of an element.
func fill(b, element []byte) {
	for n := copy(b, element); n > 0 && n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

// broadcastHelper reshapes the input of lower rank to the rank of the other.
// broadcast_dims has the new index of each of its dimensions.
func broadcastHelper(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	where, err := shapes.Ints(c.In(2), "broadcast_dims")
	if err != nil {
		return err
	}
	dims, small, err := shape.XlaBroadcast(c.In(0).Shape(), c.In(1).Shape(), where)
	if err != nil {
		return err
	}
	for i := range 2 {
		if i != small {
			c.Pass(i, i)
		} else if err := c.Forward(i, i, dims); err != nil {
			return err
		}
	}
	return nil
}

// reducePrecision rounds numbers to a format of fewer bits.
func reducePrecision(n *engine.Node) (func(*engine.Call) error, error) {
	exponent, mantissa := n.Attrs.Int("exponent_bits", 0), n.Attrs.Int("mantissa_bits", 0)
	if exponent < 1 || mantissa < 0 {
		return nil, fmt.Errorf("a format has at least 1 bit of exponent and 0 of mantissa (got %d and %d)", exponent, mantissa)
	}
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		x := c.In(0)
		f, ok := formats[x.DType()]
		if !ok {
			return fmt.Errorf("takes floats, not %v", x.DType())
		}
		out, err := c.AllocOver(0, 0, x.DType(), x.Shape())
		if err != nil {
			return err
		}
		f.reduce(out, x, int(min(exponent, 64)), int(min(mantissa, 64)))
		return nil
	}, nil
}

// format has the numbers of bits of a type of floats.
type format struct{ exponent, mantissa int }

// formats has the formats of the types of floats.
var formats = map[tensor.DType]format{
	tensor.Float16: {5, 10}, tensor.BFloat16: {8, 7}, tensor.Float32: {8, 23}, tensor.Float64: {11, 52},
}

// reduce rounds all elements of x, of format f, to out.
func (f format) reduce(out, x *tensor.Tensor, exponent, mantissa int) {
	each := func(load func(i int) uint64, store func(i int, v uint64)) {
		for i := range x.Len() {
			store(i, f.round(load(i), exponent, mantissa))
		}
	}
	switch x.DType() {
	case tensor.Float16:
		a, b := tensor.Values[tensor.F16](x), tensor.Values[tensor.F16](out)
		each(func(i int) uint64 { return uint64(a[i]) }, func(i int, v uint64) { b[i] = tensor.F16(v) })
	case tensor.BFloat16:
		a, b := tensor.Values[tensor.BF16](x), tensor.Values[tensor.BF16](out)
		each(func(i int) uint64 { return uint64(a[i]) }, func(i int, v uint64) { b[i] = tensor.BF16(v) })
	case tensor.Float32:
		a, b := tensor.Values[float32](x), tensor.Values[float32](out)
		each(func(i int) uint64 { return uint64(math.Float32bits(a[i])) }, func(i int, v uint64) { b[i] = math.Float32frombits(uint32(v)) })
	case tensor.Float64:
		a, b := tensor.Values[float64](x), tensor.Values[float64](out)
		each(func(i int) uint64 { return math.Float64bits(a[i]) }, func(i int, v uint64) { b[i] = math.Float64frombits(v) })
	}
}

// round rounds the bits of a number to the nearest of fewer bits, halves to
// even. Too large numbers become infinite, too small ones 0.
func (f format) round(x uint64, exponent, mantissa int) uint64 {
	exponents := (uint64(1)<<f.exponent - 1) << f.mantissa
	sign := x & (1 << (f.exponent + f.mantissa))
	if x&exponents == exponents && x&(1<<f.mantissa-1) != 0 { // NaN
		if mantissa == 0 {
			return sign | exponents
		}
		return x
	}
	if gone := f.mantissa - mantissa; gone > 0 {
		last := uint64(1) << gone
		x += last>>1 - 1 + x>>gone&1
		x &^= last - 1
	}
	if exponent < f.exponent {
		bias, reduced := uint64(1)<<(f.exponent-1)-1, uint64(1)<<(exponent-1)-1
		switch e := x & exponents; {
		case e > (bias+reduced)<<f.mantissa:
			return sign | exponents
		case e <= (bias-reduced)<<f.mantissa:
			return sign
		}
	}
	return x
}
