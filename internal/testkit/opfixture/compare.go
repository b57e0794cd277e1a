package opfixture

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// epsilons are the distances of 1 to the next larger number.
var epsilons = map[tensor.DType]float64{
	tensor.Float32: 0x1p-23, tensor.Float64: 0x1p-52, tensor.Float16: 0x1p-10, tensor.BFloat16: 0x1p-7,
	tensor.Complex64: 0x1p-23, tensor.Complex128: 0x1p-52,
}

// Numbers returns a tensor's elements as float64s, two for a complex one.
func Numbers(t *tensor.Tensor) []float64 {
	switch t.DType() {
	case tensor.Complex64:
		var out []float64
		for _, z := range tensor.Values[complex64](t) {
			out = append(out, float64(real(z)), float64(imag(z)))
		}
		return out
	case tensor.Complex128:
		var out []float64
		for _, z := range tensor.Values[complex128](t) {
			out = append(out, real(z), imag(z))
		}
		return out
	}
	v, _ := t.Float64s()
	return v
}

// largest returns the largest finite magnitude of an element in ts, 0 if there is none.
func largest(ts []*tensor.Tensor) float64 {
	m := 0.0
	for _, t := range ts {
		if !t.DType().Fixed() {
			continue
		}
		for _, v := range Numbers(t) {
			if a := math.Abs(v); a > m && !math.IsInf(a, 0) {
				m = a
			}
		}
	}
	return m
}

// Differ describes the place at which two tensors differ by more than the class of
// precision allows; "" if there is none. The scale is that of [Scale].
func Differ(p engine.Precision, got, want *tensor.Tensor, scale float64) string {
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
		return fmt.Sprintf("%v%v, want %v%v", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	if got.Equal(want) {
		return ""
	}
	eps, inexact := epsilons[want.DType()]
	if !inexact {
		return fmt.Sprintf("%v, want %v", got, want)
	}
	g, w := Numbers(got), Numbers(want)
	for i := range g {
		reference := w[i]
		if want.DType().IsComplex() {
			reference = math.Hypot(w[i&^1], w[i|1]) // a complex number's error counts as a whole
		}
		tol := p.Tolerance(reference, scale, eps)
		switch {
		case math.IsNaN(g[i]) && math.IsNaN(w[i]), g[i] == w[i]:
		case !(math.Abs(g[i]-w[i]) <= tol):
			return fmt.Sprintf("element %d: %v, want %v (off by %.3g, %v allows %.3g)", i, g[i], w[i], math.Abs(g[i]-w[i]), p, tol)
		}
	}
	return ""
}

// Scale returns the magnitude against which rounding in a call counts: the
// largest element among inputs and outputs, times the square root of the number
// of elements that make one output. engine.Precision counts its tolerances in it.
func Scale(in, out []*tensor.Tensor) float64 {
	return largest(append(append([]*tensor.Tensor{}, out...), in...)) * math.Sqrt(terms(in, out))
}

// terms returns about how many elements of inputs make one element of an output.
func terms(in, out []*tensor.Tensor) float64 {
	n, m := 1, 1
	for _, t := range in {
		n = max(n, t.Len())
	}
	for _, t := range out {
		m = max(m, t.Len())
	}
	return max(1, float64(n)/float64(m))
}
