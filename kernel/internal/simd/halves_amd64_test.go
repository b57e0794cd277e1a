//go:build !noasm

package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

// TestProductsRoundEveryStep holds the assembly to the definition, over all kinds of numbers:
// most sums of the plain bits overflow, those of small exponents fall below the least normal
// number.
func TestProductsRoundEveryStep(t *testing.T) {
	types := map[Rounding]func(float32) float32{
		ToFloat16:  func(v float32) float32 { return tensor.ToF16(v).Float() },
		ToBFloat16: func(v float32) float32 { return tensor.ToBF16(v).Float() },
	}
	kinds := map[string]func(r *rand.Rand) float32{
		"normal": func(r *rand.Rand) float32 { return float32(r.NormFloat64()) },
		"small":  func(r *rand.Rand) float32 { return float32(r.NormFloat64()) * 0x1p-10 },
		"least":  func(r *rand.Rand) float32 { return float32(r.NormFloat64()) * 0x1p-70 },
		"bits":   func(r *rand.Rand) float32 { return tensor.F16(r.Uint32()).Float() },
		"bits8":  func(r *rand.Rand) float32 { return tensor.BF16(r.Uint32()).Float() },
	}
	r := rand.New(rand.NewPCG(1, 2))
	for to, round := range types {
		for kind, number := range kinds {
			numbers := func(n int) []float32 {
				v := make([]float32, n)
				for i := range v {
					v[i] = round(number(r))
				}
				return v
			}
			for _, columns := range []int{1, 3, 7, 8, 9, 15, 16, 31, 64, 65, 127} {
				for _, s := range []Steps{{to, true, 1, columns}, {to, false, 1, columns + 5}, {to, true, 2, 3}, {to, false, 3, columns}} {
					depth := 1 + r.IntN(40)
					if columns == 64 {
						depth = 600 // more than one call of assembly takes
					}
					sums, x := numbers(columns), numbers((depth-1)*s.Step+1)
					right := numbers((depth-1)*s.Stride + columns)
					want := append([]float32(nil), sums...)
					for k := range depth {
						for j := range want {
							p := float32(x[k*s.Step] * right[k*s.Stride+j])
							if s.Products {
								p = round(p)
							}
							want[j] = round(want[j] + p)
						}
					}
					if !Products(sums, x, right, s) {
						t.Skip("this CPU has no assembly for them")
					}
					for j := range want {
						if fmt.Sprint(sums[j]) != fmt.Sprint(want[j]) {
							t.Fatalf("%v of %s numbers, %+v, depth %d: column %d of %d is %v, want %v", to, kind, s, depth, j, columns, sums[j], want[j])
						}
					}
				}
			}
		}
	}
	if Products(make([]float32, 8), nil, nil, Steps{Step: 1}) != Products(nil, make([]float32, 3), nil, Steps{Step: 1}) {
		t.Error("of no steps and of no columns, one is left to others")
	}
}
