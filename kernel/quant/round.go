package quant

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of QuantizeAndDequantizeV2, V3 and V4, and of
// QuantizeAndDequantizeV4Grad. The steps in T are those of TensorFlow's
// quantize_and_dequantize_op.h; they decide levels, so they must stay.

// rounding has the attributes of QuantizeAndDequantize.
type rounding struct {
	signed, given, narrow, up bool  // given: the range is; narrow: without the least level; up: halves are rounded up
	bits                      int64 // of a level
	axis                      int64 // of the dimension with a range for each index; -1: one range for all
}

// prepareRound prepares all versions. V3 reads the number of bits from input 3.
func prepareRound(n *engine.Node) (func(*engine.Call) error, error) {
	a := n.Attrs
	yes := func(name string, otherwise bool) bool {
		if a.Has(name) {
			return a.Bool(name)
		}
		return otherwise
	}
	r := rounding{signed: yes("signed_input", true), given: yes("range_given", n.Op == "QuantizeAndDequantizeV3"),
		narrow: a.Bool("narrow_range"), bits: a.Int("num_bits", 8), axis: a.Int("axis", -1)}
	switch m := a.String("round_mode", "HALF_TO_EVEN"); m {
	case "HALF_TO_EVEN":
	case "HALF_UP":
		r.up = true
	default:
		return nil, fmt.Errorf("round_mode must be HALF_TO_EVEN or HALF_UP, is %q", m)
	}
	if r.axis < -1 {
		return nil, fmt.Errorf("axis must be at least -1, is %d", r.axis)
	}
	if n.Op != "QuantizeAndDequantizeV3" {
		if err := r.check(); err != nil {
			return nil, err
		}
	}
	inputs := map[string]int{"QuantizeAndDequantize": 1, "QuantizeAndDequantizeV3": 4}[n.Op]
	if inputs == 0 {
		inputs = 3
	}
	return func(c *engine.Call) error {
		if err := c.Need(inputs); err != nil {
			return err
		}
		r := r
		if inputs == 4 {
			var err error
			if r.bits, err = shapes.Int(c.In(3), "num_bits"); err != nil {
				return err
			}
			if err := r.check(); err != nil {
				return err
			}
		}
		switch d := c.In(0).DType(); d {
		case tensor.Float32:
			return rounded[float32](c, r)
		case tensor.Float64:
			return rounded[float64](c, r)
		default:
			return &engine.UnsupportedTypeError{Attr: "T", Type: d, Known: []tensor.DType{tensor.Float32, tensor.Float64}}
		}
	}, nil
}

// check returns an error for numbers of bits that TensorFlow refuses, too.
func (r *rounding) check() error {
	most := int64(63)
	if r.signed {
		most = 62
	}
	if r.bits <= 0 || r.bits >= most {
		return fmt.Errorf("num_bits is out of range: %d with signed_input %v", r.bits, r.signed)
	}
	return nil
}

// slices is a tensor seen as outer × n × inner. n is the length of an axis, or
// 1 without one.
type slices struct{ outer, n, inner int }

// alongAxis returns the slices of shape s along axis, or one slice for axis -1.
func alongAxis(s tensor.Shape, axis int64) (slices, error) {
	if axis == -1 {
		return slices{1, 1, shapes.Count(s)}, nil
	}
	if axis < -1 || axis >= int64(len(s)) {
		return slices{}, fmt.Errorf("axis is %d, of a tensor of %d dimensions", axis, len(s))
	}
	return slices{shapes.Count(s[:axis]), s[axis], shapes.Count(s[axis+1:])}, nil
}

// each calls visit for the runs of elements that belong to slice k, long runs in pieces.
// It leaves the kernel if the context ends.
func (s slices) each(c *engine.Call, k int, visit func(lo, hi int)) {
	const piece = 4096
	c.Step(k) // slices may be short
	pace := engine.NewPace(c)
	for o := range s.outer {
		at := (o*s.n + k) * s.inner
		for end := at + s.inner; at < end; at += piece {
			visit(at, min(at+piece, end))
			pace.Work(4 * (min(s.inner, piece) + 64))
		}
	}
}

// fits returns an error if the ends of the slices' ranges have another type or
// shape.
func (s slices) fits(c *engine.Call, i int, axis int64) error {
	t, d := c.In(i), c.In(0).DType()
	if t.DType() != d || axis == -1 && len(t.Shape()) != 0 && (t.Len() != 1 || c.Op() != "QuantizeAndDequantizeV3") || axis != -1 && (len(t.Shape()) != 1 || t.Len() != s.n) {
		return fmt.Errorf("input %d is %v%v, where %d elements of %v belong", i, t.DType(), t.Shape(), s.n, d)
	}
	return nil
}

// largest is a variable because the conversion of the constant to float32
// doesn't compile.
var largest = math.MaxFloat64

// float has the types of elements.
type float interface {
	float32 | float64
}

// scale returns the factor of elements, its inverse, and the range to which
// elements are clamped. Zero maps to zero.
func scale[T float](r *rounding, least, most T) (by, back, lo, hi T) {
	lowest, highest := T(0), T(int64(1)<<r.bits-1)
	if r.signed {
		lowest, highest = T(-(int64(1) << (r.bits - 1))), T(int64(1)<<(r.bits-1)-1)
		if r.narrow {
			lowest = T(-(int64(1) << (r.bits - 1)) + 1)
		}
	}
	limit := T(math.MaxFloat32)
	if unsafe.Sizeof(limit) == 8 {
		limit = T(largest)
	}
	fromLeast, fromMost := limit, limit
	if lowest*least > 0 {
		fromLeast = lowest / least
	}
	if highest*most > 0 {
		fromMost = highest / most
	}
	if fromLeast < fromMost {
		back = least / lowest
		return fromLeast, back, least, highest * back
	}
	back = most / highest
	return fromMost, back, lowest * back, most
}

// rounded rounds input 0 to the levels of the range of each slice. Without a
// given range it is that of the slice's elements.
func rounded[T interface {
	float
	tensor.Element
}](c *engine.Call, r rounding) error {
	in := c.In(0)
	s, err := alongAxis(in.Shape(), r.axis)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, in.DType(), in.Shape())
	if err != nil {
		return err
	}
	var least, most []T
	switch {
	case c.NumIn() == 1:
		least, most = []T{T(float32(c.Attrs().Float("input_min", 0)))}, []T{T(float32(c.Attrs().Float("input_max", 0)))}
	case r.given:
		for i := range 2 {
			if err := s.fits(c, 1+i, r.axis); err != nil {
				return err
			}
		}
		least, most = tensor.Values[T](c.In(1)), tensor.Values[T](c.In(2))
	}
	x, y := tensor.Values[T](in), tensor.Values[T](out)
	for k := range s.n {
		var a, b T
		if r.given {
			if a, b = least[k], most[k]; a > b {
				return fmt.Errorf("invalid range: input_min %v > input_max %v", a, b)
			}
		} else {
			a, b = T(math.Inf(1)), T(math.Inf(-1))
			s.each(c, k, func(lo, hi int) {
				for _, v := range x[lo:hi] {
					a, b = min(a, v), max(b, v)
				}
			})
		}
		by, back, lowest, highest := scale(&r, a, b)
		s.each(c, k, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				v := x[i]
				if r.given {
					v = max(min(v, highest), lowest)
				}
				v *= by
				if r.up {
					v = T(math.Floor(float64(v + 0.5)))
				} else {
					v = T(math.RoundToEven(float64(v)))
				}
				y[i] = v * back
			}
		})
	}
	return nil
}

// roundGrad passes the gradient on for inputs in the range. The gradient of the
// range's ends is zero.
func roundGrad(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	switch d := c.In(0).DType(); d {
	case tensor.Float32:
		return passRound[float32](c)
	case tensor.Float64:
		return passRound[float64](c)
	default:
		return &engine.UnsupportedTypeError{Attr: "T", Type: d, Known: []tensor.DType{tensor.Float32, tensor.Float64}}
	}
}

// passRound computes output 0 of QuantizeAndDequantizeV4Grad in type T. An
// element outside the range is multiplied by 0, so NaN stays NaN.
func passRound[T interface {
	float
	tensor.Element
}](c *engine.Call) error {
	dy, in, axis := c.In(0), c.In(1), c.Attrs().Int("axis", -1)
	if in.DType() != dy.DType() || !in.Shape().Equal(dy.Shape()) {
		return fmt.Errorf("gradient and input must be the same size: %v%v and %v%v", dy.DType(), dy.Shape(), in.DType(), in.Shape())
	}
	s, err := alongAxis(in.Shape(), axis)
	if err != nil {
		return err
	}
	for i := range 2 {
		if err := s.fits(c, 2+i, axis); err != nil {
			return err
		}
	}
	out, err := c.Alloc(0, in.DType(), in.Shape())
	if err != nil {
		return err
	}
	for i := range 2 {
		if _, err := c.AllocZero(1+i, in.DType(), c.In(2+i).Shape()); err != nil {
			return err
		}
	}
	g, x, y := tensor.Values[T](dy), tensor.Values[T](in), tensor.Values[T](out)
	least, most := tensor.Values[T](c.In(2)), tensor.Values[T](c.In(3))
	for k := range s.n {
		s.each(c, k, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				y[i] = g[i]
				if !(x[i] >= least[k] && x[i] <= most[k]) {
					y[i] *= 0
				}
			}
		})
	}
	return nil
}
