package quant

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of QuantizeV2 and Dequantize. A code is the integer that stands
// for a float. Every rounding to float32 is that of TensorFlow's quantize_op.cc
// and dequantize_op.cc: it decides codes, so it must stay.

// mode has the attributes that relate the codes of a range to floats.
type mode struct {
	name         string  // MIN_COMBINED, MIN_FIRST or SCALED
	even, narrow bool    // halves are rounded to even; the least code isn't used
	axis         int64   // of the dimension with a range for each index; -1: one range for all
	ensure       float32 // least width of a range, as a fraction of its largest end, or of 1 if that is smaller
}

// modeOf reads and checks the attributes; the defaults are TensorFlow's.
func modeOf(n *engine.Node) (mode, error) {
	a := n.Attrs
	m := mode{a.String("mode", "MIN_COMBINED"), a.String("round_mode", "") == "HALF_TO_EVEN", a.Bool("narrow_range"), a.Int("axis", -1), float32(a.Float("ensure_minimum_range", 0.01))}
	switch m.name {
	case "MIN_COMBINED", "MIN_FIRST", "SCALED":
	default:
		return m, fmt.Errorf("mode string must be 'MIN_COMBINED', 'MIN_FIRST', or 'SCALED', is %q", m.name)
	}
	switch r := a.String("round_mode", "HALF_AWAY_FROM_ZERO"); {
	case r != "HALF_AWAY_FROM_ZERO" && r != "HALF_TO_EVEN":
		return m, fmt.Errorf("round mode must be 'HALF_AWAY_FROM_ZERO' or 'HALF_TO_EVEN', is %q", r)
	case m.even && m.name != "SCALED":
		return m, fmt.Errorf("round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is %q", m.name)
	}
	if m.axis < -1 {
		return m, fmt.Errorf("axis must be at least -1, is %d", m.axis)
	}
	return m, nil
}

// ends returns the parts of input 0 along the axis, and the least and the largest float of each
// part's range.
func (m *mode) ends(c *engine.Call) (s slices, least, most []float32, err error) {
	if err = c.Need(3); err != nil {
		return
	}
	if s, err = alongAxis(c.In(0).Shape(), m.axis); err != nil {
		return
	}
	for i := 1; i < 3; i++ {
		if t := c.In(i); t.DType() != tensor.Float32 || t.Len() != s.n || m.axis == -1 && len(t.Shape()) > 1 || m.axis != -1 && len(t.Shape()) != 1 {
			return s, nil, nil, fmt.Errorf("input %d is %v%v, where %d ends of ranges belong, float32", i, t.DType(), t.Shape(), s.n)
		}
	}
	return s, tensor.Values[float32](c.In(1)), tensor.Values[float32](c.In(2)), nil
}

// codes returns the least and the largest code in use, of a type with limits l.
// A narrow range leaves out the least one.
func (m *mode) codes(l limits) (lowest, highest float64) {
	if m.narrow {
		return l.lowest + 1, l.highest
	}
	return l.lowest, l.highest
}

// quantizers has quantize by the type of the codes.
var quantizers = engine.ByType[func(*engine.Call, *mode) error]{
	tensor.QInt8: quantize[tensor.Q8], tensor.QUint8: quantize[tensor.QU8], tensor.QInt16: quantize[tensor.Q16],
	tensor.QUint16: quantize[tensor.QU16], tensor.QInt32: quantize[tensor.Q32],
}

// prepareQuantize prepares QuantizeV2.
func prepareQuantize(n *engine.Node) (func(*engine.Call) error, error) {
	m, err := modeOf(n)
	if err != nil {
		return nil, err
	}
	f, err := quantizers.Of(n.Attrs.Type("T", tensor.QUint8))
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error { return f(c, &m) }, nil
}

// quantize converts the floats of input 0 to codes, and sets outputs 1 and 2 to
// the ends of the ranges that the codes have.
func quantize[T code](c *engine.Call, m *mode) error {
	s, least, most, err := m.ends(c)
	if err != nil {
		return err
	}
	if c.In(0).DType() != tensor.Float32 {
		return fmt.Errorf("the input is %v, not float32", c.In(0).DType())
	}
	out, err := c.Alloc(0, tensor.TypeOf[T](), c.In(0).Shape())
	if err != nil {
		return err
	}
	ends := tensor.Shape{}
	if m.axis != -1 {
		ends = tensor.Shape{s.n}
	}
	from, err := c.Alloc(1, tensor.Float32, ends)
	if err != nil {
		return err
	}
	to, err := c.Alloc(2, tensor.Float32, ends)
	if err != nil {
		return err
	}
	l := limitsOf[T]()
	x, y := tensor.Values[float32](c.In(0)), tensor.Values[T](out)
	for k := range s.n {
		if most[k] < least[k] {
			return fmt.Errorf("input_max_range must be larger than input_min_range, they are %v and %v", most[k], least[k])
		}
		f, a, b := m.quantizer(l, least[k], most[k])
		tensor.Values[float32](from)[k], tensor.Values[float32](to)[k] = a, b
		s.each(c, k, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				y[i] = T(f(x[i]))
			}
		})
	}
	return nil
}

// quantizer returns a function from the floats of a range to codes, and the
// range of the codes. That is the range of the floats, widened so that it
// includes zero and is as wide as ensure asks. SCALED widens it to all codes.
func (m *mode) quantizer(l limits, least, most float32) (f func(float32) int32, a, b float32) {
	a = min(0, least)
	width := max(1, max(float32(math.Abs(float64(least))), float32(math.Abs(float64(most))))) * m.ensure
	b = max(0, max(most, a+width))
	round := func(v float32) float32 { return float32(math.Round(float64(v))) }
	switch m.name {
	case "MIN_FIRST":
		f := l.toCode(a, b)
		return f.of, a, b
	case "SCALED":
		lowest, highest := m.codes(l)
		by := float32(math.MaxFloat32)
		if v := float32(lowest) * a; v > 0 {
			by = float32(lowest) / a
		}
		if v := float32(highest) * b; v > 0 {
			by = min(by, float32(highest)/b)
		}
		if m.even {
			round = func(v float32) float32 { return float32(math.RoundToEven(float64(v))) }
		}
		a, b = normal(float32(lowest)/by), normal(float32(highest)/by)
		return func(v float32) int32 { return truncated(round(max(min(v, b), a) * by)) }, a, b
	}
	by := float32(l.highest-l.lowest) / (b - a)
	if l.signed() {
		half := float32(l.steps() / 2)
		return func(v float32) int32 { return truncated(round(float32((max(min(v, b), a)-a)*by) - half)) }, a, b
	}
	return func(v float32) int32 { return truncated(float32((max(min(v, b), a)-a)*by) + 0.5) }, a, b
}

// normal returns v, or zero for a subnormal number, because TensorFlow's
// kernels flush these to zero.
func normal(v float32) float32 {
	if v > -0x1p-126 && v < 0x1p-126 {
		return 0
	}
	return v
}

// dequantizers has dequantize by the type of the codes.
var dequantizers = engine.ByType[func(*engine.Call, *mode) error]{
	tensor.QInt8: dequantize[tensor.Q8], tensor.QUint8: dequantize[tensor.QU8], tensor.QInt16: dequantize[tensor.Q16],
	tensor.QUint16: dequantize[tensor.QU16], tensor.QInt32: dequantize[tensor.Q32],
}

// prepareDequantize prepares Dequantize.
func prepareDequantize(n *engine.Node) (func(*engine.Call) error, error) {
	m, err := modeOf(n)
	if err != nil {
		return nil, err
	}
	if d := n.Attrs.Type("dtype", tensor.Float32); d == tensor.BFloat16 && m.name == "MIN_FIRST" {
		return nil, fmt.Errorf("when output type is bfloat16, mode string must be 'MIN_COMBINED' or 'SCALED', is %q", m.name)
	}
	return func(c *engine.Call) error {
		if err := c.Need(3); err != nil {
			return err
		}
		f, err := dequantizers.Of(c.In(0).DType())
		if err != nil {
			return err
		}
		return f(c, &m)
	}, nil
}

// dequantize converts the codes of input 0 to float32 or bfloat16.
func dequantize[T code](c *engine.Call, m *mode) error {
	s, least, most, err := m.ends(c)
	if err != nil {
		return err
	}
	if m.name == "MIN_FIRST" && s.n != 1 {
		return fmt.Errorf("the mode MIN_FIRST takes no axis, as in TensorFlow: it has one range for the whole tensor")
	}
	d := c.Attrs().Type("dtype", tensor.Float32)
	if d != tensor.Float32 && d != tensor.BFloat16 {
		return &engine.UnsupportedTypeError{Attr: "dtype", Type: d, Known: []tensor.DType{tensor.Float32, tensor.BFloat16}}
	}
	out, err := c.Alloc(0, d, c.In(0).Shape())
	if err != nil {
		return err
	}
	x := tensor.Values[T](c.In(0))
	var y []float32
	if d == tensor.Float32 {
		y = tensor.Values[float32](out)
	} else {
		y = elementwise.Wide(c, out.Len())
	}
	l := limitsOf[T]()
	for k := range s.n {
		f := m.dequantizer(l, least[k], most[k])
		s.each(c, k, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				y[i] = f(float32(x[i]))
			}
		})
	}
	if d == tensor.BFloat16 {
		elementwise.Narrow(tensor.Values[tensor.BF16](out), y)
	}
	return nil
}

// dequantizer returns a function from codes to floats.
func (m *mode) dequantizer(l limits, least, most float32) func(float32) float32 {
	switch m.name {
	case "MIN_FIRST":
		f := l.toFloat(least, most)
		return f.of
	case "SCALED":
		lowest, highest := m.codes(l)
		by := most / float32(highest)
		if l.signed() {
			by = max(least/float32(lowest), by)
		}
		return func(v float32) float32 { return v * by }
	}
	var half float32
	if l.signed() {
		half = float32((float32(l.highest) - float32(l.lowest) + 1) / 2)
	}
	by := (most - least) / (float32(l.highest) - float32(l.lowest))
	return func(v float32) float32 { return float32((v+half)*by) + least }
}
