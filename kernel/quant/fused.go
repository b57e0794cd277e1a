package quant

import (
	"fmt"
	"math"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// Steps after sums of products, for the fused ops of oneDNN (fusedconv.go and fusedmatmul.go). The
// order of the steps and their roundings to float32 are oneDNN's; they decide codes, so they must
// stay.

// fusion has the steps that an op of oneDNN applies to its sums of products.
// A code is a quantized number; a [span] is the range of floats that codes represent.
// Codes are symmetric there: the code of zero is zero, and only the larger end
// of a range counts.
type fusion struct {
	bias       bool // a bias follows the filter
	sum        bool // a summand, with a range if codes are the result
	signed     bool // the codes of the summand have a sign
	relu       bool
	requantize bool // codes of 8 bits of a given range are the result
	dequantize bool // floats are the result
	listed     bool // the attribute fused_ops lists the steps; the summand and its range come early
}

// fusionOf reads the steps from an op's name, such as QuantizedConv2DWithBiasAndRelu.
func fusionOf(op string) fusion {
	has := func(part string) bool { return strings.Contains(op, part) }
	return fusion{bias: has("WithBias"), sum: has("Sum"), signed: has("SignedSum"), relu: has("Relu"), requantize: has("AndRequantize"), dequantize: has("AndDequantize")}
}

// given reports whether the range of the result is an input.
func (f *fusion) given() bool { return f.requantize || f.dequantize }

// ranges returns the index of the first input that is an end of a range.
func (f *fusion) ranges() int {
	n := 2
	if f.bias {
		n++
	}
	if f.sum && f.listed {
		n++
	}
	return n
}

// result returns the index of the minimum of the result's range.
func (f *fusion) result() int {
	if f.sum && f.listed {
		return f.ranges() + 6
	}
	return f.ranges() + 4
}

// summand returns the index of the summand, and that of the minimum of its range.
func (f *fusion) summand() (i, least int) {
	switch {
	case f.listed:
		return f.ranges() - 1, f.ranges() + 4
	case f.requantize:
		return f.ranges() + 6, f.ranges() + 7
	}
	return f.ranges() + 4, 0
}

// inputs returns the number of the op's inputs.
func (f *fusion) inputs() int {
	n := f.ranges() + 4
	if f.given() {
		n += 2
	}
	if f.sum && !f.listed {
		n++
	}
	if f.sum && f.requantize {
		n += 2
	}
	return n
}

// widest returns the larger end of a range, without its sign.
func (s span) widest() float32 { return max(abs(s.least), abs(s.most)) }

// symmetric returns the largest code of a type: 255 for quint8, 127 for others.
func symmetric(d tensor.DType) float64 {
	if d == tensor.QUint8 {
		return math.MaxUint8
	}
	return math.MaxInt8
}

// scaled computes an op's result from sums of products, in float32; each
// operation is rounded.
type scaled struct {
	by       []float32 // the float that a sum of 1 stands for, for each channel or one for all
	bias     []float32 // nil, or a number for each channel
	summand  func(i int) float32
	relu     bool
	activate func(row []float32) // nil, or the activation
	inverse  float32             // the result for a float of 1
	offset   bool                // zero is added, in one operation with the product by inverse
	zero     float32             // the code of zero, which need not be an integer
	plane    int                 // the places of an image whose channels come first, or 0
}

// place returns the index in the output of channel k of a row of n. i is the index
// of its channel 0 if the channels come last.
func (s *scaled) place(i, k, n int) int {
	if s.plane == 0 {
		return i + k
	}
	p := i / n
	return (p/s.plane*n+k)*s.plane + p%s.plane
}

// row sets y to the results of a row of sums, one a channel, not yet rounded to
// integers.
func (s *scaled) row(y []float32, i int, sums []int32) {
	for k, sum := range sums {
		by := s.by[0]
		if len(s.by) > 1 {
			by = s.by[k]
		}
		v := float32(float32(sum) * by)
		if s.bias != nil {
			v += s.bias[k]
		}
		if s.summand != nil {
			v += s.summand(s.place(i, k, len(sums)))
		}
		if s.relu && !(v > 0) {
			v = 0
		}
		y[k] = v
	}
	if s.activate != nil {
		s.activate(y[:len(sums)])
	}
	for k, v := range y[:len(sums)] {
		if s.offset {
			y[k] = float32(math.FMA(float64(v), float64(s.inverse), float64(s.zero)))
		} else {
			y[k] = float32(v * s.inverse)
		}
	}
}

// put stores the results of a row of sums, one a channel. Element i of the
// output is the first of them if the channels come last. y is a row of memory.
type put func(i int, sums []int32, y []float32)

// write sets output 0 to a type and shape. The results are clamped to within.
func (s *scaled) write(c *engine.Call, d tensor.DType, shape tensor.Shape, within limits) (put, error) {
	out, err := c.Alloc(0, d, shape)
	if err != nil {
		return nil, err
	}
	var store func(i int, v float32)
	lowest, highest := float32(within.lowest), min(float32(within.highest), 2.147483520e+09) // the largest float32 below 1<<31
	code := func(v float32) int32 {
		v = float32(math.RoundToEven(float64(v)))
		if !(v > lowest) {
			v = lowest
		}
		return int32(min(v, highest))
	}
	switch d {
	case tensor.Float32:
		y := tensor.Values[float32](out)
		store = func(i int, v float32) { y[i] = v }
	case tensor.BFloat16:
		y := tensor.Values[tensor.BF16](out)
		store = func(i int, v float32) { y[i] = tensor.ToBF16(v) }
	case tensor.QInt32:
		y := tensor.Values[tensor.Q32](out)
		store = func(i int, v float32) { y[i] = tensor.Q32(code(v)) }
	default:
		y := out.Bytes()
		store = func(i int, v float32) { y[i] = byte(code(v)) }
	}
	return func(i int, sums []int32, y []float32) {
		s.row(y, i, sums)
		for k := range sums {
			store(s.place(i, k, len(sums)), y[k])
		}
	}, nil
}

// limitsFor returns the limits of a type of codes.
func limitsFor(d tensor.DType) limits {
	switch d {
	case tensor.QUint8:
		return limitsOf[tensor.QU8]()
	case tensor.QInt8:
		return limitsOf[tensor.Q8]()
	}
	return limitsOf[tensor.Q32]()
}

// biasOf returns input 2, the bias, as floats for n channels. dequantize converts a code of
// channel k.
func biasOf(c *engine.Call, n int, dequantize func(k int, v float32) float32) ([]float32, error) {
	t := c.In(2)
	if s := t.Shape(); len(s) != 1 || s[0] != n {
		return nil, fmt.Errorf("a bias of shape %v for %d channels", s, n)
	}
	switch t.DType() {
	case tensor.Float32:
		return tensor.Values[float32](t), nil
	case tensor.BFloat16:
		out := make([]float32, n)
		for k, v := range tensor.Values[tensor.BF16](t) {
			out[k] = v.Float()
		}
		return out, nil
	case tensor.QInt32:
		out := make([]float32, n)
		for k, v := range tensor.Values[tensor.Q32](t) {
			out[k] = dequantize(k, float32(v))
		}
		return out, nil
	}
	return nil, &engine.UnsupportedTypeError{Attr: "Tbias", Type: t.DType(), Known: []tensor.DType{tensor.Float32, tensor.QInt32}}
}

// signedCodes returns the codes of input i, which must be qint8.
func signedCodes(c *engine.Call, i int) ([]int8, error) {
	if d := c.In(i).DType(); d != tensor.QInt8 {
		return nil, &engine.UnsupportedTypeError{Type: d, Known: []tensor.DType{tensor.QInt8}}
	}
	v := c.In(i).Bytes()
	out := make([]int8, len(v))
	for k, b := range v {
		out[k] = int8(b)
	}
	return out, nil
}

// productSpan returns oneDNN's range for int32 sums of products of codes. a is the range of
// the input, whose codes have the limits la. b is that of the filter.
func productSpan(a, b span, la limits) span {
	by := (a.most - a.least) / float32(la.highest-max(la.lowest, -la.highest)) * ((b.most - b.least) / (2 * math.MaxInt8))
	return span{by * -(1 << 31), by * (1 << 31)}
}
