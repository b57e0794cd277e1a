//go:build !noasm

package simd

import (
	"math"
	"testing"
)

// TestBothWidthsGiveTheSameBits holds the functions' AVX2 form to their AVX-512 form,
// which package vec holds to plain Go.
func TestBothWidthsGiveTheSameBits(t *testing.T) {
	if !wide {
		t.Skip("this CPU has no AVX-512: package vec's test covers what there is")
	}
	defer func() { wide = true }()
	var x []float32
	for b := uint64(0); b < 1<<32; b += 10_007 {
		x = append(x, math.Float32frombits(uint32(b)))
	}
	x = append(x, 0, float32(math.Copysign(0, -1)), 1, -1, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()))
	x = x[len(x)%8:]
	both := [2][]float32{make([]float32, len(x)), make([]float32, len(x))}
	for name, f := range map[string]func(dst, a []float32) int{
		"Exp": Exp[float32], "Expm1": Expm1[float32], "Tanh": Tanh[float32], "Sigmoid": Sigmoid[float32], "Log": Log[float32],
		"Log1p": Log1p[float32], "Softplus": Softplus[float32], "Erf": Erf[float32], "Erfc": Erfc[float32],
		"Elu": Elu[float32], "Swish": Swish[float32], "Selu": Selu[float32], "Rsqrt": Rsqrt[float32],
		"ExpSum": func(dst, a []float32) int {
			var sums [8]float64
			n := ExpSum(dst, a, 0.5, &sums)
			for i, s := range sums {
				dst[n-1-i] = float32(s)
			}
			return n
		},
	} {
		var n int
		for i := range both {
			wide = i == 1
			n = f(both[i], x)
		}
		for i := range n {
			a, b := both[0][i], both[1][i]
			if math.Float32bits(a) != math.Float32bits(b) && (a == a || b == b) {
				t.Fatalf("%s(%g) is %g by AVX2, %g by AVX-512", name, x[i], a, b)
			}
		}
	}
}
