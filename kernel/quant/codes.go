package quant

import (
	"math"

	"github.com/cairnml/cairn/tensor"
)

// code has the integers that represent floats.
type code interface {
	tensor.Q8 | tensor.QU8 | tensor.Q16 | tensor.QU16 | tensor.Q32
}

// limits are the least and the largest code of a type.
type limits struct{ lowest, highest float64 }

// limitsOf returns the limits of type T.
func limitsOf[T code]() limits {
	switch tensor.TypeOf[T]() {
	case tensor.QInt8:
		return limits{math.MinInt8, math.MaxInt8}
	case tensor.QUint8:
		return limits{0, math.MaxUint8}
	case tensor.QInt16:
		return limits{math.MinInt16, math.MaxInt16}
	case tensor.QUint16:
		return limits{0, math.MaxUint16}
	}
	return limits{math.MinInt32, math.MaxInt32}
}

// signed reports whether half of the codes are negative.
func (l limits) signed() bool { return l.lowest < 0 }

// steps returns the number of codes.
func (l limits) steps() float64 { return l.highest - l.lowest + 1 }

// toFloat converts codes to floats in the mode MIN_FIRST.
type toFloat struct{ offset, scale float32 }

// toFloat returns the conversion from codes of the range [least, most].
func (l limits) toFloat(least, most float32) toFloat {
	scale := float32(float64(most-least) / (l.steps() - 1))
	first := least
	if least != most {
		first = float32(math.Round(float64(least/scale))) * scale
	}
	return toFloat{first - float32(float32(l.lowest)*scale), scale}
}

// of returns the float of code v. Its roundings are those of
// QuantizedToFloatStruct in TensorFlow's quantization_utils.h.
func (f toFloat) of(v float32) float32 { return f.offset + float32(v*f.scale) }

// toCode converts floats to codes in the mode MIN_FIRST.
type toCode struct{ scale, offset, lowest, highest float32 }

// toCode returns the conversion to codes of the range [least, most].
func (l limits) toCode(least, most float32) toCode {
	var scale float32
	if least != most {
		scale = float32((l.steps() - 1) / float64(most-least))
	}
	return toCode{scale, float32(math.Round(float64(least*scale))) - float32(l.lowest),
		max(float32(l.lowest), -2.147483648e+09), min(float32(l.highest), 2.147483520e+09)}
}

// of returns the code of v. Its roundings are those of FloatToQuantizedStruct
// in TensorFlow's quantization_utils.h.
func (f toCode) of(v float32) int32 {
	return truncated(min(max(float32(math.Round(float64(v*f.scale)))-f.offset, f.lowest), f.highest))
}

// truncated returns the integer part. For numbers outside of int32 it is the
// least int32, as on x86.
func truncated(v float32) int32 {
	if !(v >= math.MinInt32 && v < -math.MinInt32) {
		return math.MinInt32
	}
	return int32(v)
}
