package quant

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of QuantizedRelu, QuantizedRelu6, QuantizedReshape,
// QuantizedConcat and QuantizedConcatV2.

// codesOf has the functions that ops on codes of any width need for a type.
type codesOf struct {
	limits
	from func(t *tensor.Tensor, i int) int64
	to   func(t *tensor.Tensor, i int, v int64)
}

// codesType returns the functions for type T.
func codesType[T code]() codesOf {
	return codesOf{limitsOf[T](), func(t *tensor.Tensor, i int) int64 { return int64(tensor.Values[T](t)[i]) },
		func(t *tensor.Tensor, i int, v int64) { tensor.Values[T](t)[i] = T(v) }}
}

var (
	rectified = engine.ByType[codesOf]{tensor.QUint8: codesType[tensor.QU8](), tensor.QInt32: codesType[tensor.Q32]()}
	joined    = engine.ByType[codesOf]{tensor.QUint8: codesType[tensor.QU8](), tensor.QInt8: codesType[tensor.Q8](), tensor.QInt32: codesType[tensor.Q32]()}
)

// quantizedRelu clamps codes to at least that of zero and, if most is positive,
// at most that of most.
func quantizedRelu(most float32) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := c.Need(3); err != nil {
			return err
		}
		x := c.In(0)
		f, err := rectified.Of(x.DType())
		if err != nil {
			return err
		}
		if d := c.Attrs().Type("out_type", tensor.QUint8); d != x.DType() {
			return &engine.UnsupportedTypeError{Attr: "out_type", Type: d, Known: []tensor.DType{x.DType()}}
		}
		s, err := spanAt(c, 1)
		if err != nil {
			return err
		}
		lo, hi := s.clamped(f.limits, 0), int64(f.highest)
		if most > 0 {
			hi = s.clamped(f.limits, most)
		}
		out, err := c.Alloc(0, x.DType(), x.Shape())
		if err != nil {
			return err
		}
		for i := range x.Len() {
			c.Step(i)
			f.to(out, i, min(max(f.from(x, i), lo), hi))
		}
		return setSpan(c, 1, s)
	}
}

// quantizedReshape passes the codes of input 0 on with the shape in input 1.
// The range doesn't change.
func quantizedReshape(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	s, err := spanAt(c, 2)
	if err != nil {
		return err
	}
	want, err := shapes.Ints(c.In(1), "the shape")
	if err != nil {
		return err
	}
	dims := make(tensor.Shape, len(want))
	for i, n := range want {
		if dims[i] = int(n); n < -1 || int64(dims[i]) != n {
			return fmt.Errorf("the shape holds %d", n)
		}
	}
	if dims, err = shape.Reshape(c.In(0).Shape(), dims); err != nil {
		return err
	}
	if err := c.Forward(0, 0, dims); err != nil {
		return err
	}
	return setSpan(c, 1, s)
}

// quantizedConcat joins codes of several ranges, along the axis in input 0, in
// one range that includes all of them and zero. For signed codes zero is its
// middle.
func quantizedConcat(c *engine.Call) error { return joinCodes(c, 0, 1) }

// quantizedConcatV2 works as quantizedConcat, in oneDNN's way: the axis follows
// the values, and the range of unsigned codes begins at zero.
func quantizedConcatV2(c *engine.Call) error { return joinCodes(c, (c.NumIn()-1)/3, 0) }

// joinCodes joins the values from input first on, along the axis in input axis.
func joinCodes(c *engine.Call, axis, first int) error {
	n := (c.NumIn() - 1) / 3
	if n < 2 || c.NumIn() != 3*n+1 {
		return fmt.Errorf("takes an axis and at least two values with their ranges, %d inputs were given", c.NumIn())
	}
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	list, err := shapes.Int(c.In(axis), "the axis")
	if err != nil {
		return err
	}
	x := c.In(first)
	f, err := joined.Of(x.DType())
	if err != nil {
		return err
	}
	d, err := shape.Axis(list, len(x.Shape()))
	if err != nil {
		return err
	}
	to := span{0, -math.MaxFloat32}
	spans, dims := make([]span, n), x.Shape().Clone()
	dims[d] = 0
	for i := range n {
		t := c.In(first + i)
		s := t.Shape()
		if t.DType() != x.DType() || len(s) != len(dims) {
			return fmt.Errorf("values of %v%v and %v%v", x.DType(), x.Shape(), t.DType(), s)
		}
		for k := range s {
			if k != d && s[k] != dims[k] {
				return fmt.Errorf("values of shapes %v and %v along axis %d", x.Shape(), s, d)
			}
		}
		if dims[d], err = shape.AddDims(dims[d], s[d]); err != nil {
			return err
		}
		for k, end := range []*float32{&spans[i].least, &spans[i].most} {
			if *end, err = tensor.Item[float32](c.In(n + 1 + k*n + i)); err != nil {
				return err
			}
		}
		to.least, to.most = min(to.least, spans[i].least), max(to.most, spans[i].most)
	}
	if first == 0 && !f.signed() {
		to.least = 0
	}
	if f.signed() {
		widest := max(-to.least, abs(to.most))
		to = span{-widest, widest}
	}
	out, err := c.Alloc(0, x.DType(), dims)
	if err != nil {
		return err
	}
	outer, row, begin := shapes.Count(dims[:d]), shapes.Count(dims[d:]), 0
	for i := range n {
		t, s := c.In(first+i), spans[i]
		size := shapes.Count(t.Shape()[d:])
		floats, codes := f.toFloat(s.least, s.most), f.toCode(to.least, to.most)
		for k := range outer * size {
			c.Step(k)
			v := f.from(t, k)
			if s != to {
				v = int64(codes.of(floats.of(float32(v))))
			}
			f.to(out, k/size*row+begin+k%size, v)
		}
		begin += size
	}
	return setSpan(c, 1, to)
}
