//go:build !noasm

package simd

import (
	"math"
	"testing"
)

// TestFastFunctionsOfBothWidths holds their AVX2 form to their AVX-512 form.
func TestFastFunctionsOfBothWidths(t *testing.T) {
	if !wide {
		t.Skip("this CPU has no AVX-512: package vec's test covers what there is")
	}
	defer func() { wide = true }()
	var x []float32
	for b := uint64(0); b < 1<<32; b += 20_011 {
		x = append(x, math.Float32frombits(uint32(b)))
	}
	both := [2][]float32{make([]float32, len(x)), make([]float32, len(x))}
	for name, f := range map[string]func(dst, a []float32) bool{
		"FastExp": FastExp, "FastSigmoid": FastSigmoid, "FastSwish": FastSwish, "FastTanh": FastTanh, "FastErf": FastErf, "Gelu": Gelu, "GeluTanh": GeluTanh,
		"Moments": func(dst, a []float32) bool {
			var sums [16]float32
			n := Moments(a, 0.5, true, &sums)
			copy(dst[copy(dst, sums[:]):], a)
			return n == len(a)&^15 && Moments(a, 0, false, &sums) == n
		},
		"Normalize": func(dst, a []float32) bool {
			n := Normalize(dst, a, a[:len(a):len(a)], a, 0.5, 3)
			copy(dst[n:], a[n:])
			return n == len(a)&^15
		},
		"LayerNorm": func(dst, a []float32) bool {
			done := len(a) >= 1024
			for n := 16; n <= len(a) && n <= 1024; n += 16 {
				done = done && LayerNorm(dst[:n], a[len(a)-n:], a, dst[n:], 0.5)
				dst, a = dst[n:], a[:len(a)-n]
			}
			return done
		},
		"FastSoftmax": func(dst, a []float32) bool {
			done := len(a) >= 1024
			for n := 16; n <= len(a) && n <= 1024; n += 16 {
				done = done && FastSoftmax(dst[:n], a[len(a)-n:])
				dst, a = dst[n:], a[:len(a)-n]
			}
			return done
		},
		"FastExpSum": func(dst, a []float32) bool {
			var sums [16]float32
			done := FastExpSum(dst, a, 0.5, &sums)
			copy(dst, sums[:])
			return done
		},
	} {
		for i := range both {
			wide = i == 1
			if !f(both[i], x) {
				t.Fatalf("%s did nothing", name)
			}
		}
		for i, a := range both[0] {
			if b := both[1][i]; math.Float32bits(a) != math.Float32bits(b) && (a == a || b == b) {
				t.Fatalf("%s(%g) is %g by AVX2, %g by AVX-512", name, x[i], a, b)
			}
		}
	}
}

func TestWithoutFMANothingIsFast(t *testing.T) {
	defer func(old bool) { fused = old }(fused)
	fused = false
	if a := []float32{1}; FastExp(a, a) || a[0] != 1 {
		t.Error("did something")
	}
}
