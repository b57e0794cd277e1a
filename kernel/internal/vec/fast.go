package vec

import (
	"math"

	"github.com/cairnml/cairn/kernel/internal/simd"
)

// Loops over float32 for graphs that allow fast arithmetic (passes.FastAttr).

// If package simd has no such functions, those of this file are those of the
// same names without Fast. Otherwise they differ from these by a few units in
// the last place. An element's result doesn't depend on its position in the
// slice.

// FastExp sets dst to exp(x). It may be x.
func FastExp(dst, x []float32) {
	if !simd.FastExp(dst, x) {
		Exp(dst, x)
	}
}

// FastSigmoid sets dst to 1 / (1 + exp(-x)). It may be x.
func FastSigmoid(dst, x []float32) {
	if !simd.FastSigmoid(dst, x) {
		Sigmoid(dst, x)
	}
}

// FastSwish sets dst to x / (1 + exp(-x)). It may be x.
func FastSwish(dst, x []float32) {
	if !simd.FastSwish(dst, x) {
		Swish(dst, x)
	}
}

// FastTanh sets dst to tanh(x). It may be x.
func FastTanh(dst, x []float32) {
	if !simd.FastTanh(dst, x) {
		Tanh(dst, x)
	}
}

// FastErf sets dst to erf(x). It may be x.
func FastErf(dst, x []float32) {
	if !simd.FastErf(dst, x) {
		Erf(dst, x)
	}
}

// Gelu sets dst to x/2 · (1 + erf(x/√2)). It may be x.
func Gelu(dst, x []float32) {
	if simd.Gelu(dst, x) {
		return
	}
	for i, v := range x[:len(dst)] {
		dst[i] = v / 2 * erfc32(-v*float32(math.Sqrt2/2))
	}
}

// GeluTanh sets dst to x/2 · (1 + tanh(√(2/π)·(x + 0.044715·x³))). It may be x.
func GeluTanh(dst, x []float32) {
	if simd.GeluTanh(dst, x) {
		return
	}
	for i, v := range x[:len(dst)] {
		w := float64(v)
		dst[i] = v / 2 * (1 + tanh32(float32(math.Sqrt(2/math.Pi)*(w+float64(0.044715*w*w*w)))))
	}
}

// FastSoftmax sets dst to exp(x) over the sum of exp(x). It may be x.
func FastSoftmax(dst, x []float32) {
	if len(dst) == 0 || simd.FastSoftmax(dst, x) {
		return
	}
	var s [16]float32
	if !simd.FastExpSum(dst, x, MaxOf(x), &s) {
		Softmax(dst, x)
		return
	}
	for n := len(s) / 2; n > 0; n /= 2 {
		for i := range n {
			s[i] += s[i+n]
		}
	}
	MulVS(dst, dst, 1/s[0])
}
