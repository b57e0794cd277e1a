package quant

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of QuantizedAdd, QuantizedMul, QuantizedBiasAdd and
// QuantizedMatMul. Each float32 rounding and each wrap of int32 is TensorFlow's
// (quantization_utils.h and quantized_*_op.cc): it decides codes, so it must
// stay. The formulas of ranges must stay too.

// span is the range of floats that codes, the integers of quantized values, represent.
type span struct{ least, most float32 }

// spanAt returns the range in inputs i and i+1.
func spanAt(c *engine.Call, i int) (s span, err error) {
	for k, to := range []*float32{&s.least, &s.most} {
		if *to, err = tensor.Item[float32](c.In(i + k)); err != nil {
			return s, fmt.Errorf("input %d: %w", i+k, err)
		}
	}
	return s, nil
}

// setSpan sets outputs i and i+1 to a range.
func setSpan(c *engine.Call, i int, s span) error { return setScalars(c, i, s.least, s.most) }

// level returns the distance between the floats of neighbouring codes.
func (s span) level(l limits) float32 { return (s.most - s.least) / float32(int64(l.highest-l.lowest)) }

// code returns the code of a float, in double precision. It may be outside of
// the type's limits.
func (s span) code(l limits, v float32) int64 {
	if s.least == s.most {
		return int64(l.lowest)
	}
	scale := l.steps() / (float64(s.most-s.least) * (l.steps() / (l.steps() - 1)))
	return int64(math.Round(float64(v)*scale)-math.Round(float64(s.least)*scale)) + int64(l.lowest)
}

// clamped works as code, with the result clamped to the type's limits.
func (s span) clamped(l limits, v float32) int64 {
	return max(int64(l.lowest), min(s.code(l, v), int64(l.highest)))
}

// float returns the float of a code.
func (s span) float(l limits, v int64) float32 {
	if s.least == s.most {
		return s.least
	}
	scale := float64(s.most-s.least) * (l.steps() / (l.steps() - 1)) / l.steps()
	single := float32(scale)
	first := float32(math.Round(float64(s.least/single))) * single
	return float32(float64(first) + float64((float64(v)-l.lowest)*scale))
}

// product returns the range of 32-bit codes for products.
func product(a, b span, la, lb limits) span {
	by, wide := a.level(la)*b.level(lb), limitsOf[tensor.Q32]()
	return span{by * float32(wide.lowest), by * float32(wide.highest)}
}

// bytes reads 8-bit codes.
type bytes struct {
	limits
	at func(i int) int32
}

// byteCodes returns the codes of input i.
func byteCodes(c *engine.Call, i int) (bytes, error) {
	switch t := c.In(i); t.DType() {
	case tensor.QUint8:
		v := tensor.Values[tensor.QU8](t)
		return bytes{limitsOf[tensor.QU8](), func(i int) int32 { return int32(v[i]) }}, nil
	case tensor.QInt8:
		v := tensor.Values[tensor.Q8](t)
		return bytes{limitsOf[tensor.Q8](), func(i int) int32 { return int32(v[i]) }}, nil
	default:
		return bytes{}, &engine.UnsupportedTypeError{Type: t.DType(), Known: []tensor.DType{tensor.QUint8, tensor.QInt8}}
	}
}

// operands are the two inputs of an op on codes, with their ranges and the codes of
// zero.
type operands struct {
	a, b   bytes
	sa, sb span
	za, zb int32
}

// operandsOf returns inputs 0 and 1, whose ranges are inputs 2 to 5.
func operandsOf(c *engine.Call) (o operands, err error) {
	if err = c.Need(6); err != nil {
		return
	}
	if o.a, err = byteCodes(c, 0); err != nil {
		return
	}
	if o.b, err = byteCodes(c, 1); err != nil {
		return
	}
	if o.sa, err = spanAt(c, 2); err != nil {
		return
	}
	if o.sb, err = spanAt(c, 4); err != nil {
		return
	}
	o.za, o.zb = int32(o.sa.code(o.a.limits, 0)), int32(o.sb.code(o.b.limits, 0))
	return o, nil
}

// ordered checks that both ranges have a width.
func (o *operands) ordered() error {
	if !(o.sa.most > o.sa.least) || !(o.sb.most > o.sb.least) {
		return fmt.Errorf("the ranges are %v and %v; their ends must be larger than their beginnings", o.sa, o.sb)
	}
	return nil
}

// broadcast calls visit for each element of the result of inputs 0 and 1.
func broadcast(c *engine.Call, visit func(i, a, b int), alloc func(s tensor.Shape) error) error {
	x, y := c.In(0).Shape(), c.In(1).Shape()
	s, err := shape.Broadcast(x, y)
	if err != nil {
		return err
	}
	if err := alloc(s); err != nil {
		return err
	}
	sa, sb := shapes.BroadcastStrides(x, s), shapes.BroadcastStrides(y, s)
	for i := range shapes.Count(s) {
		a, b, rest := 0, 0, i
		for d := len(s) - 1; d >= 0; d-- {
			k := rest % s[d]
			rest /= s[d]
			a, b = a+k*sa[d], b+k*sb[d]
		}
		visit(i, a, b)
	}
	return nil
}

// wideOut sets output 0 to codes of 32 bits.
func wideOut(c *engine.Call, out *[]tensor.Q32) func(tensor.Shape) error {
	return func(s tensor.Shape) error {
		t, err := c.Alloc(0, tensor.QInt32, s)
		if err == nil {
			*out = tensor.Values[tensor.Q32](t)
		}
		return err
	}
}

// quantizedMul multiplies codes minus the codes of zero. Its shapes broadcast.
func quantizedMul(c *engine.Call) error {
	o, err := operandsOf(c)
	if err != nil {
		return err
	}
	if err := o.ordered(); err != nil {
		return err
	}
	var z []tensor.Q32
	if err := broadcast(c, func(i, a, b int) { z[i] = tensor.Q32((o.a.at(a) - o.za) * (o.b.at(b) - o.zb)) }, wideOut(c, &z)); err != nil {
		return err
	}
	return setSpan(c, 1, product(o.sa, o.sb, o.a.limits, o.b.limits))
}

// linear converts 8-bit codes to 32-bit codes of a wider range: v becomes zero + v·by.
type linear struct{ zero, by int64 }

// linear returns the conversion of codes with limits l and range s to 32-bit
// codes of range to. It is TensorFlow's fixed-point form, so it isn't replaced
// by a conversion through floats.
func (s span) linear(l limits, to span) linear {
	wide := limitsOf[tensor.Q32]()
	zero := to.code(wide, s.float(l, 0))
	return linear{zero, int64(int32(to.code(wide, s.float(l, 1)) - zero))}
}

// of returns the 32-bit code of the 8-bit code v.
func (f linear) of(v int32) int32 {
	return int32(max(math.MinInt32, min(f.zero+int64(v)*f.by, math.MaxInt32)))
}

// quantizedAdd adds in a range that is wide enough for the sums.
func quantizedAdd(c *engine.Call) error {
	o, err := operandsOf(c)
	if err != nil {
		return err
	}
	if err := o.ordered(); err != nil {
		return err
	}
	widest := max(abs(min(o.sa.least, o.sb.least)), abs(max(o.sa.most, o.sb.most))) * (1 << 14)
	to := span{-widest, widest}
	fa, fb := o.sa.linear(o.a.limits, to), o.sb.linear(o.b.limits, to)
	addA, addB := func(i int) int32 { return fa.of(o.a.at(i)) }, func(i int) int32 { return fb.of(o.b.at(i)) }
	// A single code is converted to the other range by itself, which is more
	// exact.
	wide := limitsOf[tensor.Q32]()
	switch {
	case c.In(0).Len() == 1:
		v := int32(to.clamped(wide, o.sa.float(o.a.limits, int64(o.a.at(0)))))
		addA = func(int) int32 { return v }
	case c.In(1).Len() == 1:
		v := int32(to.clamped(wide, o.sb.float(o.b.limits, int64(o.b.at(0)))))
		addB = func(int) int32 { return v }
	}
	var z []tensor.Q32
	if err := broadcast(c, func(i, a, b int) { z[i] = tensor.Q32(addA(a) + addB(b)) }, wideOut(c, &z)); err != nil {
		return err
	}
	return setSpan(c, 1, to)
}

// abs returns v without its sign.
func abs(v float32) float32 { return max(v, -v) }

// quantizedBiasAdd adds a vector to the last dimension.
func quantizedBiasAdd(c *engine.Call) error {
	o, err := operandsOf(c)
	if err != nil {
		return err
	}
	s, b := c.In(0).Shape(), c.In(1).Shape()
	if len(s) < 2 || len(b) != 1 || s[len(s)-1] != b[0] {
		return fmt.Errorf("a bias of shape %v for an input of shape %v", b, s)
	}
	if c.In(0).DType() != c.In(1).DType() {
		return fmt.Errorf("a bias of %v for an input of %v", c.In(1).DType(), c.In(0).DType())
	}
	widest := max(o.sa.most, -o.sa.least, o.sb.most, -o.sb.least) * (1 << 17)
	to, wide := span{-widest, widest}, limitsOf[tensor.Q32]()
	var out []tensor.Q32
	if err := wideOut(c, &out)(s); err != nil {
		return err
	}
	n := b[0]
	zero := tensor.Q32(to.clamped(wide, 0)) // not always 0, because of rounding
	fa, fb, f := o.a.toFloat(o.sa.least, o.sa.most), o.b.toFloat(o.sb.least, o.sb.most), wide.toCode(to.least, to.most)
	for i := range out {
		c.Step(i)
		out[i] = tensor.Q32(f.of(fa.of(float32(o.a.at(i))))+f.of(fb.of(float32(o.b.at(i%n))))) + zero
	}
	return setSpan(c, 1, to)
}

// quantizedMatMul multiplies matrices of codes, from which it subtracts the
// codes of zero.
func quantizedMatMul(c *engine.Call) error {
	o, err := operandsOf(c)
	if err != nil {
		return err
	}
	if err := o.ordered(); err != nil {
		return err
	}
	s, t := c.In(0).Shape(), c.In(1).Shape()
	if len(s) != 2 || len(t) != 2 {
		return fmt.Errorf("matrices are needed, got shapes %v and %v", s, t)
	}
	m, k, ak, am := s[0], s[1], 1, s[1]
	if c.Attrs().Bool("transpose_a") {
		m, k, ak, am = s[1], s[0], s[1], 1
	}
	kb, n, bn, bk := t[0], t[1], 1, t[1]
	if c.Attrs().Bool("transpose_b") {
		kb, n, bn, bk = t[1], t[0], t[1], 1
	}
	if k != kb {
		return fmt.Errorf("matrices of shapes %v and %v can't be multiplied", s, t)
	}
	var out []tensor.Q32
	if err := wideOut(c, &out)(tensor.Shape{m, n}); err != nil {
		return err
	}
	c.Parallel(m, float64(n)*float64(k)*3, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := range n {
				var sum int32
				for p := range k {
					sum += (o.a.at(i*am+p*ak) - o.za) * (o.b.at(p*bk+j*bn) - o.zb)
				}
				out[i*n+j] = tensor.Q32(sum)
			}
		}
	})
	return setSpan(c, 1, product(o.sa, o.sb, o.a.limits, o.b.limits))
}
