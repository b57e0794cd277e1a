package fft

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// naive computes a transform by its definition.
func naive(x []complex128) []complex128 {
	n := len(x)
	out := make([]complex128, n)
	for k := range out {
		for j, z := range x {
			out[k] += z * root(j*k%n, n)
		}
	}
	return out
}

func far(a, b []complex128) float64 {
	most := 0.0
	for i := range a {
		most = max(most, cmplx.Abs(a[i]-b[i]))
	}
	return most
}

// TestTransformsOfAllLengths: of every radix, of products of them, with large prime factors.
func TestTransformsOfAllLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lengths := []int{125, 128, 210, 243, 256, 360, 512, 1000, 1024, 37 * 4, 997}
	for n := 1; n <= 64; n++ {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		p := New(n, nil)
		z, x := make([]complex128, n), make([]float64, n)
		reals := make([]complex128, n)
		for i := range z {
			z[i] = complex(r.NormFloat64(), r.NormFloat64())
			x[i] = r.NormFloat64()
			reals[i] = complex(x[i], 0)
		}
		tolerance := 1e-12 * math.Sqrt(float64(n))
		got := append([]complex128(nil), z...)
		p.Forward(got)
		if d := far(got, naive(z)); d > tolerance {
			t.Errorf("%d numbers: %g off", n, d)
		}
		p.Inverse(got)
		if d := far(got, z); d > tolerance {
			t.Errorf("%d numbers and back: %g off", n, d)
		}
		half := make([]complex128, n/2+1)
		p.Real(half, x)
		if d := far(half, naive(reals)[:n/2+1]); d > tolerance {
			t.Errorf("%d real numbers: %g off", n, d)
		}
		back := make([]float64, n)
		p.RealInverse(back, half)
		for i, v := range back {
			if math.Abs(v-x[i]) > tolerance {
				t.Errorf("%d real numbers and back: %g off", n, math.Abs(v-x[i]))
				break
			}
		}
	}
}
